"""The combined algorithm's threshold: precision and R for each (Figures 6 and 7, Table 11).

As in the paper: half of the B-similar pairs, drawn at random, choose the threshold (S₁); the
other half tests it (S₂). R is the share of B's correct pairs that the threshold keeps.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.experiments.near_found import BITS, Mask, Pairs, pairs
from tests.experiments.near_pairs import weights
from tests.experiments.near_world import world
from tests.experiments.report import Experiment, Panel, Row, Series, plot, write_table

TABLE_11 = {
    351: (0.754, 0.869), 352: (0.763, 0.858), 353: (0.768, 0.836), 354: (0.771, 0.825),
    355: (0.770, 0.808), 356: (0.776, 0.789), 357: (0.784, 0.775), 358: (0.784, 0.747),
    359: (0.789, 0.736),
}  # fmt: skip
"""The paper's precision and R."""
CHOSEN, TESTED = 355, (0.79, 0.79)
_SEED = 2006
Weights = np.ndarray[tuple[int], np.dtype[np.float64]]


def run(output: Path, quick: bool) -> list[Row]:
    """Table 11 and the test on S₂; the whole sweep as `near-sweep-all`, and the figures."""
    found = pairs(world(output / "packages", quick))
    by_b = found.b >= 2
    first = by_b & (np.random.default_rng(_SEED).random(len(found)) < 0.5)
    weight = weights(found, by_b)
    swept = [_at(t, first, found, weight) for t in range(BITS + 1)]
    write_table(swept, output / "near-sweep-all")
    plot(_panels(swept), output / "near-sweep")
    rows = [_beside(swept[t], "S₁", *TABLE_11[t]) for t in TABLE_11]
    return [*rows, _beside(_at(CHOSEN, by_b & ~first, found, weight), "S₂", *TESTED)]


def _at(t: int, sample: Mask, found: Pairs, weight: Weights) -> Row:
    kept = sample & (found.c >= t)
    right = kept & found.correct
    whole, correct = weight[kept].sum(), weight[sample & found.correct].sum()
    return {
        "threshold": t,
        "returned": int(kept.sum()),
        "precision": float(right.sum() / kept.sum()) if kept.any() else None,
        "precision, paper's mix": float(weight[right].sum() / whole) if whole else None,
        "R": float(weight[right].sum() / correct) if correct else None,
    }


def _beside(row: Row, sample: str, precision: float, r: float) -> Row:
    return {"sample": sample, **row, "paper's precision": precision, "paper's R": r}


def _panels(swept: list[Row]) -> list[Panel]:
    some = [row for row in swept if row["precision"] is not None]
    t = [float(row["threshold"]) for row in some]
    figures = {name: [row[name] for row in some]
               for name in ("precision", "precision, paper's mix", "R")}  # fmt: skip
    paper = sorted(TABLE_11.items())
    return [
        Panel("Figure 6", "C-similarity threshold", "precision",
              [Series(name, t, figures[name]) for name in ("precision", "precision, paper's mix")]
              + [Series("paper, Table 11", [float(at) for at, _ in paper],
                        [precision for _, (precision, _) in paper], marks="o")],
              places={"355": float(CHOSEN)}),
        Panel("Figure 7", "R", "precision",
              [Series(name, figures["R"], figures[name])
               for name in ("precision", "precision, paper's mix")]
              + [Series("paper, Table 11", [r for _, (_, r) in paper],
                        [precision for _, (precision, _) in paper], marks="o")]),
    ]  # fmt: skip


EXPERIMENT = Experiment("near-sweep", run)
