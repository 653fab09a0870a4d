"""Hosts whose pages consist of popular phrases (Fetterly et al. 2005, §3.5, Figures 8 and 9).

Of each host with at least ten documents, the mean and the deviation of their popular shingles.
From a mean of 30 on it is told; where the deviation is small besides, all of its pages are alike
in this: so are machines that slice and dice, and so are templates. The paper looks at the largest
of these first, and so does this list; that a host is on it is no verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_PAGES = 10
LEAST_MEAN = 30
ALIKE = 15
"""A deviation below this is small."""


@dataclass(frozen=True, slots=True)
class PhraseHost:
    """A host by its number, its documents, mean and deviation of their popular shingles."""

    host: int
    pages: int
    mean: float
    deviation: float
    alike: bool


def phrase_hosts(
    host: NDArray[np.int64],
    popular: NDArray[np.int64],
    *,
    least_pages: int = LEAST_PAGES,
    least_mean: float = LEAST_MEAN,
    alike: float = ALIKE,
) -> list[PhraseHost]:
    """The hosts of many pages with many popular shingles, those of most pages first."""
    pages = np.bincount(host)
    # Sums of whole numbers, exact below 2^53.
    total, squares = (np.bincount(host, popular.astype(np.float64) ** power) for power in (1, 2))
    divided = np.maximum(pages, 1)
    mean = total / divided
    deviation = np.sqrt(np.maximum(squares * pages - total * total, 0)) / divided
    told = np.flatnonzero((pages >= max(least_pages, 1)) & (mean >= least_mean))
    ranked = told[np.lexsort((told, -mean[told], -pages[told]))]
    return [
        PhraseHost(
            int(one), int(pages[one]), float(mean[one]), float(deviation[one]),
            bool(deviation[one] < alike),
        )
        for one in ranked
    ]  # fmt: skip
