"""Precision and recall of Algorithms B and C, both, and the policy, as in Tables 2, 5 and 12.

How many wrong pairs stand beside a right one is a fact of a crawl, not of an algorithm. A table
therefore gives precision twice: as in this small web, and as it would be if wrong pairs of each
relation were as many as makes Algorithm B as precise as the paper measured, 0.34 on one site and
0.86 on two. Thresholds are the paper's, and then such as its procedure chooses on these pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.window.near_rules import Policy
from tests.experiments.near_found import Mask, Pairs, pairs, thresholds
from tests.experiments.near_world import CHANGES, World, world
from tests.experiments.report import Experiment, Row, write_table


def policies(found: Pairs) -> dict[str, Policy]:
    """The paper's with its thresholds, then with those chosen on these pages as it chose its own.

    Algorithm C alone is near there, whatever phrases are shared: `least_shared` is ours.
    """
    t, combined_t = thresholds(found)
    return {
        "B": Policy("b"),
        "C": Policy("c", least_shared=0),
        "combined": Policy("combined"),
        "henzinger": Policy("henzinger", least_shared=0),
        "henzinger, and shared phrases": Policy("henzinger"),
        f"C, t = {t}": Policy("c", t=t, least_shared=0),
        f"combined, t = {combined_t}": Policy("combined", combined_t=combined_t),
        f"henzinger, t = {t} and {combined_t}": Policy(
            "henzinger", t=t, combined_t=combined_t, least_shared=0
        ),
    }


PAPER = {
    ("B", "all"): 0.38, ("B", "same site"): 0.34, ("B", "different sites"): 0.86,
    ("B", "B-sim 2"): 0.24, ("B", "B-sim 3"): 0.42, ("B", "B-sim 4"): 0.55,
    ("B", "B-sim 5"): 0.71, ("B", "B-sim 6"): 0.85,
    ("C", "all"): 0.50, ("C", "same site"): 0.36, ("C", "different sites"): 0.90,
    ("C", "C-sim ≥ 382"): 0.47, ("C", "C-sim 379–381"): 0.40, ("C", "C-sim 376–378"): 0.37,
    ("C", "C-sim < 376"): 0.62,
    ("combined", "all"): 0.79, ("combined", "same site"): 0.74,
    ("combined", "different sites"): 0.99,
    ("henzinger", "all"): 0.85,
}  # fmt: skip
TABLE_9 = {2: 331.5, 3: 342.4, 4: 352.4, 5: 358.9, 6: 370.9}
_B_PRECISION = {"same site": 0.34, "different sites": 0.86}
_SHARE_OF_SAME = 0.92  # of B's pairs


def run(output: Path, quick: bool) -> list[Row]:
    """Tables 2, 5 and 12; and, as `near-kinds`, 3 and 6, as `near-correlation`, 9."""
    made = world(quick)
    found = pairs(made)
    answers = {name: found.returned(policy) for name, policy in policies(found).items()}
    write_table(kinds(made, found, answers), output / "near-kinds")
    write_table(correlation(found), output / "near-correlation")
    return [row for name in answers for row in table(name, found, answers)]


def weights(found: Pairs, by_b: Mask) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Of each pair, so that B's answers are as right, and as often on one site, as in the paper."""
    weight = np.ones(len(found))
    for same, share in ((True, _SHARE_OF_SAME), (False, 1 - _SHARE_OF_SAME)):
        relation = found.same_site == same
        precise = _B_PRECISION["same site" if same else "different sites"]
        for correct, part in ((True, precise), (False, 1 - precise)):
            kind = relation & (found.correct == correct)
            if count := int((kind & by_b).sum()):
                weight[kind] = share * part / count
    return weight


def table(name: str, found: Pairs, answers: Mapping[str, Mask]) -> list[Row]:
    """An algorithm's rows: all, by relation, by similarity."""
    returned, weight = answers[name], weights(found, answers["B"])
    rows = []
    base = name.partition(",")[0]
    for label, chosen in _rows(name, found).items():
        mine = returned & chosen
        right = mine & found.correct
        possible = int((chosen & found.correct).sum())
        by_value = "sim" in label
        rows.append({
            "algorithm": name, "pairs": label, "number": int(mine.sum()),
            "correct": int(right.sum()), "incorrect": int((mine & ~found.correct).sum()),
            "precision": _ratio(right.sum(), mine.sum()),
            "precision, paper's mix": _ratio(weight[right].sum(), weight[mine].sum()),
            "paper": PAPER.get((base, label)),
            "recall": None if by_value else _ratio(right.sum(), possible),
            "R": _ratio((right & answers["B"]).sum(), (answers["B"] & chosen & found.correct).sum())
            if base == "combined" else None,
        })  # fmt: skip
    return rows


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole else None


def _rows(name: str, found: Pairs) -> dict[str, Mask]:
    chosen = {
        "all": np.ones(len(found), np.bool_),
        "same site": found.same_site,
        "different sites": ~found.same_site,
    }
    if name == "B":
        chosen |= {f"B-sim {value}": found.b == value for value in range(2, 7)}
    if name == "C":
        chosen["C-sim ≥ 382"] = found.c >= 382
        chosen["C-sim 379–381"] = (found.c >= 379) & (found.c < 382)
        chosen["C-sim 376–378"] = (found.c >= 376) & (found.c < 379)
        chosen["C-sim < 376"] = found.c < 376
    return chosen


def kinds(made: World, found: Pairs, answers: Mapping[str, Mask]) -> list[Row]:
    """Recall of each by what differs, and its share of the correct pairs it returns."""
    changes = np.array([CHANGES.index(page.change) for page in made.pages])[found.one]
    words = made.words[found.one]
    rows = []
    for number, change in enumerate(CHANGES):
        mine = found.correct & (changes == number)
        row: Row = {
            "difference": change,
            "correct pairs": int(mine.sum()),
            "median words": float(np.median(words[mine])) if mine.any() else None,
        }
        for name, returned in answers.items():
            row[f"recall {name}"] = _ratio((mine & returned).sum(), mine.sum())
        rows.append(row)
    return rows


def correlation(found: Pairs) -> list[Row]:
    """The average C-similarity for each B-similarity (Table 9), and that of wrong and right."""

    def mean(chosen: Mask, similarity: NDArray[np.int64] = found.c) -> float | None:
        return float(similarity[chosen].mean()) if chosen.any() else None

    return [
        {
            "B-similarity": b,
            "C-similarity": mean(found.b == b),
            "paper": paper,
            "of correct pairs": mean((found.b == b) & found.correct),
            "of incorrect pairs": mean((found.b == b) & ~found.correct),
            "each word once, correct": mean((found.b == b) & found.correct, found.once),
            "each word once, incorrect": mean((found.b == b) & ~found.correct, found.once),
        }
        for b, paper in TABLE_9.items()
    ]


EXPERIMENT = Experiment("near-pairs", run)
