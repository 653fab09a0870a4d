"""The combined algorithm's threshold: precision and R for each (Figures 6 and 7, Table 11).

As in the paper: half of the B-similar pairs, drawn at random, choose the threshold (S₁); the
other half tests it (S₂). R is the share of B's correct pairs that the threshold keeps.

C weighs a word by how often it stands in a page. The more words repeat, the less of a page are
twenty others, and the higher is the threshold that tells them. That of the sets of words, swept
beside, shows how much of the difference to the paper this is.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.experiments.near_found import BITS, Mask, Pairs, halves, pairs, thresholds
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
HIGHER = (365, 370, 372, 374, 376, 378, 380)
Weights = np.ndarray[tuple[int], np.dtype[np.float64]]


def run(output: Path, quick: bool) -> list[Row]:
    """Table 11 and the test on S₂; the whole sweep as `near-sweep-all`, and the figures."""
    found = pairs(world(quick))
    by_b = found.b >= 2
    first, second = halves(found)
    weight = weights(found, by_b)
    swept = [_at(t, first, found, found.c, weight) for t in range(BITS + 1)]
    once = [_at(t, first, found, found.once, weight) for t in range(BITS + 1)]
    write_table(swept, output / "near-sweep-all")
    write_table(once, output / "near-sweep-each-word-once")
    plot(_panels(swept, once), output / "near-sweep")
    rows = [_beside(swept[t], "S₁", *TABLE_11[t]) for t in TABLE_11]
    rows += [_beside(swept[t], "S₁") for t in HIGHER]
    rows += [_beside(once[t], "S₁, each word once", *TABLE_11[t]) for t in (351, 355, 359)]
    _, chosen = thresholds(found)
    tested = [_at(t, second, found, found.c, weight) for t in (CHOSEN, chosen)]
    return [*rows, *(_beside(row, "S₂", *TESTED) for row in tested)]


def _at(t: int, sample: Mask, found: Pairs, similarity: NDArray[np.int64], weight: Weights) -> Row:
    kept = sample & (similarity >= t)
    right = kept & found.correct
    whole, correct = weight[kept].sum(), weight[sample & found.correct].sum()
    return {
        "threshold": t,
        "returned": int(kept.sum()),
        "precision": float(right.sum() / kept.sum()) if kept.any() else None,
        "precision, paper's mix": float(weight[right].sum() / whole) if whole else None,
        "R": float(weight[right].sum() / correct) if correct else None,
    }


def _beside(row: Row, sample: str, precision: float | None = None, r: float | None = None) -> Row:
    return {"sample": sample, **row, "paper's precision": precision, "paper's R": r}


def _panels(swept: list[Row], once: list[Row]) -> list[Panel]:
    sixth, seventh = [], []
    for name, rows in (("", swept), (", each word once", once)):
        some = [row for row in rows if row["precision"] is not None]
        for column in ("precision", "precision, paper's mix"):
            y = [row[column] for row in some]
            sixth.append(Series(f"{column}{name}", [float(row["threshold"]) for row in some], y))
            seventh.append(Series(f"{column}{name}", [row["R"] for row in some], y))
    precisions, kept = zip(*TABLE_11.values(), strict=True)
    sixth.append(Series("paper, Table 11", [float(t) for t in TABLE_11], precisions, marks="o"))
    seventh.append(Series("paper, Table 11", kept, precisions, marks="o"))
    return [
        Panel("Figure 6", "C-similarity threshold", "precision", sixth,
              places={"355": float(CHOSEN)}),
        Panel("Figure 7", "R", "precision", seventh),
    ]  # fmt: skip


EXPERIMENT = Experiment("near-sweep", run)
