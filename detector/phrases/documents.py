"""The pages among which phrases are counted, as columns (Fetterly et al. 2005, §3.2).

Of every URL the version that stands now: a fetch again is no further document. Hashes and numbers
only; what a page's words are is known by whoever can read it again.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
"""The number of an address that nobody noted."""


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """One entry a page. `site`, `host` and `ip` are numbers that stand for names.

    A row of `shingles` has the min-values of one function, of all pages: each function is looked
    at by itself, and 84 times the pages are much to stride through. `seen` is when the words of the
    page were first there, in whatever unit.
    """

    page: NDArray[np.uint64]
    seen: NDArray[np.int64]
    identity: NDArray[np.uint64]
    supershingles: NDArray[np.uint64]
    shingles: NDArray[np.uint64]
    site: NDArray[np.int64]
    host: NDArray[np.int64]
    ip: NDArray[np.int64]

    def __post_init__(self) -> None:
        for column in fields(self):
            shape: tuple[int, ...] = getattr(self, column.name).shape
            size = shape[-1] if column.name == "shingles" else shape[0]
            if size != len(self):
                raise ValueError(f"{size} of {column.name} for {len(self)} pages")

    def __len__(self) -> int:
        return self.page.size


def by_age(page: NDArray[np.uint64], seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows, the page that was there first ahead; ties go by page id, so there is one order."""
    return np.lexsort((page, seen))


def current_versions(
    page: NDArray[np.uint64], identity: NDArray[np.uint64], fetched: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of fetches in any order, those that stand now, and when their words were first seen there.

    A page fetched again without a change keeps its time: else it would be younger than its copies.
    Of two versions of one moment it is that of the greater identity, whichever came first.
    """
    order = np.lexsort((fetched, identity, page))
    starts = run_begins(page[order]) | run_begins(identity[order])
    first, last = order[starts], order[np.append(starts[1:], True)[: order.size]]
    versions = np.lexsort((identity[last], fetched[last], page[last]))
    ends = np.append(run_begins(page[last][versions])[1:], True)[: versions.size]
    newest = versions[ends]
    return last[newest], fetched[first][newest]


def run_begins(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a sorted column has another value than just before; also at its beginning.

    >>> run_begins(np.array([3, 3, 5])).tolist(), run_begins(np.array([])).tolist()
    ([True, False, True], [])
    """
    begins = np.ones(column.size, np.bool_)
    begins[1:] = column[1:] != column[:-1]
    return begins
