"""The row of each page, by its number: a dictionary of few, and sorted numbers of all others.

A dictionary of a million pages takes 150 MB, the same as sorted numbers 12. Those that came last
are in a dictionary, and go among the sorted ones when they are a sixteenth of these: so each is
moved a few times, however many there are. Nothing here is compiled: who judges neighborhoods alone
loads no compiler.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

ABSENT = -1
_LEAST = 4096
_SHARE = 16
_GONE = (1 << 32) - 1
_NONE = np.empty(0, np.uint64)


class PageRows:
    """A row for each page; rows are numbers below 2^32 − 1."""

    def __init__(self, pages: NDArray[np.uint64] = _NONE) -> None:
        """The n-th of these has row n."""
        self._new: dict[int, int] = {}
        self._order(pages, np.arange(len(pages), dtype=np.uint32))

    def get(self, page: int) -> int:
        """The row of a page; −1 without one."""
        row = self._new.get(page, ABSENT)
        if row == ABSENT and (at := self._place(page)) != ABSENT:
            row = int(self._rows[at])
        return row

    def among(self, pages: Sequence[int]) -> set[int]:
        """Those of these pages that have a row."""
        found = {page for page in pages if page in self._new}
        if self._pages.size:
            wanted = np.array(pages, np.uint64)
            at = np.minimum(np.searchsorted(self._pages, wanted), self._pages.size - 1)
            known = (self._pages[at] == wanted) & (self._rows[at] != _GONE)
            found.update(wanted[known].tolist())
        return found

    def put(self, page: int, row: int) -> None:
        """A page without a row has this one."""
        self._new[page] = row
        self._sort()

    def put_all(self, pages: Iterable[int], first: int) -> None:
        """Pages without a row have these, from the first one on."""
        self._new.update((page, first + at) for at, page in enumerate(pages))
        self._sort()

    def drop(self, page: int) -> None:
        """A page has its row no more."""
        if self._new.pop(page, ABSENT) == ABSENT:
            self._rows[self._place(page)] = _GONE

    def _place(self, page: int) -> int:
        at = bisect_left(self._sorted, page)
        here = at < len(self._sorted) and self._sorted[at] == page and self._rows[at] != _GONE
        return at if here else ABSENT

    def _sort(self) -> None:
        if len(self._new) <= max(_LEAST, len(self._pages) // _SHARE):
            return
        stay = self._rows != _GONE
        count = len(self._new)
        pages = np.concatenate((self._pages[stay], np.fromiter(self._new, np.uint64, count)))
        rows = np.concatenate((
            self._rows[stay], np.fromiter(self._new.values(), np.uint32, count)
        ))  # fmt: skip
        self._order(pages, rows)
        self._new = {}

    def _order(self, pages: NDArray[np.uint64], rows: NDArray[np.uint32]) -> None:
        order = np.argsort(pages, kind="stable")  # linear, as the first of them are in order
        self._pages, self._rows = pages[order], rows[order]
        self._sorted: Any = self._pages.data
