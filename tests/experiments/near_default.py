"""Which rule between sites: precision and recall of each, with exact Jaccard as truth.

A pair is wrong where less than half of its phrases are common, and of the template where its own
are not; recall is of the pairs at Jaccard 0.9 and above. The paper's policy beside others, and both
algorithms alone.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.window.near_rules import Policy
from tests.experiments.near_sites import Strewn, corpora
from tests.experiments.report import Experiment, Row

PAPER_T = 372
RULES = {
    "henzinger, the paper's": (Policy("henzinger", t=PAPER_T, least_shared=0), "paper"),
    "henzinger, 3 of 16 shared": (Policy("henzinger", t=PAPER_T, least_shared=3), "paper"),
    "either, all counts": (Policy("either", t=PAPER_T, least_shared=3), "paper"),
    "b": (Policy("b"), "paper"),
    "c, damped": (Policy("c"), "damped"),
    "across, 8 shared": (Policy("across", least_shared=8), "damped"),
    "across, 368": (Policy("across", t=368), "damped"),
    "across, 364": (Policy("across", t=364), "damped"),
}
"""A policy, and how often words count in its simhashes."""


def run(output: Path, quick: bool) -> list[Row]:
    """A row for each corpus and rule."""
    return [
        _row(pairs, name, _near(pairs, policy, counts))
        for pairs in corpora(quick)
        for name, (policy, counts) in RULES.items()
    ]


def _near(pairs: Strewn, policy: Policy, counts: str) -> NDArray[np.bool_]:
    c = pairs.c if counts == "damped" else pairs.c_paper
    facts = zip(pairs.b.tolist(), c.tolist(), pairs.shared.tolist(), strict=True)
    return np.array([policy.near(*each, same_site=False) for each in facts], np.bool_)


def _row(pairs: Strewn, name: str, near: NDArray[np.bool_]) -> Row:
    def recall(least: float) -> float | None:
        wanted = pairs.jaccard >= least
        return float(near[wanted].mean()) if wanted.any() else None

    return {
        "corpus": pairs.name,
        "rule": name,
        "near": int(near.sum()),
        "Jaccard under 0.5": int((near & (pairs.jaccard < 0.5)).sum()),
        "under 0.7": int((near & (pairs.jaccard < 0.7)).sum()),
        "template alone": int((near & (pairs.own < 0.1)).sum()),
        "recall from 0.9": recall(0.9),
        "recall from 0.8": recall(0.8),
    }


EXPERIMENT = Experiment("near-default", run)
