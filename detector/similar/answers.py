"""What a question for pages like a given one comes to, however it was answered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class SharedTerm:
    """A term that two pages have, and what it weighs in the asked one and in the other."""

    term: int
    weight: float
    other: float


@dataclass(frozen=True, slots=True)
class Similar:
    """A page of the window that is like the asked one; what decided comes first in `terms`."""

    page: int
    url: str
    mwo: float
    terms: tuple[SharedTerm, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """The answers, best first, and how they were come by.

    `pages` are the window's; then the candidate set after the prefix filter, the mezzanine set
    after the positional filter, and how many pages were `found` to be similar, of which `answers`
    are the best. `unseen` counts entries of lists that were not looked at, `cut` pages of the
    mezzanine set that were not checked: both 0 unless a bound was hit.
    """

    answers: tuple[Similar, ...]
    pages: int
    candidates: int
    mezzanine: int
    found: int
    unseen: int
    cut: int


Weighted = tuple[NDArray[np.uint64], NDArray[np.float32]]
"""The terms of a page, and their weights."""


def shared_terms(asked: Weighted, other: Weighted) -> tuple[SharedTerm, ...]:
    """The terms of the overlap, those that decided first."""
    shared, here, there = np.intersect1d(asked[0], other[0], return_indices=True)
    ones, others = asked[1][here], other[1][there]
    order = np.lexsort((shared, -np.minimum(ones, others)))
    return tuple(SharedTerm(int(shared[i]), float(ones[i]), float(others[i])) for i in order)
