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
_NONE = np.empty(0, np.uint64)
_NEW_BYTES = 120


class PageRows:
    """A row for each page; rows are numbers below the greatest of their type."""

    def __init__(
        self, pages: NDArray[np.uint64] = _NONE, rows: NDArray[Any] | None = None
    ) -> None:  # fmt: skip
        """The n-th of these has the n-th of the rows, or row n."""
        self._new: dict[int, int] = {}
        of_pages = np.arange(len(pages), dtype=np.uint32) if rows is None else rows
        self._gone = int(np.iinfo(of_pages.dtype).max)
        self._order(pages, of_pages)

    @property
    def nbytes(self) -> int:
        """Bytes in memory, about."""
        return self._pages.nbytes + self._rows.nbytes + len(self._new) * _NEW_BYTES

    def get(self, page: int) -> int:
        """The row of a page; −1 without one."""
        row = self._new.get(page, ABSENT)
        if row == ABSENT and (at := self._place(page)) != ABSENT:
            row = int(self._rows[at])
        return row

    def among(self, pages: Sequence[int]) -> set[int]:
        """Those of these pages that have a row."""
        found = {page for page in pages if page in self._new}
        found.update(self._pages[self._places(np.array(pages, np.uint64))].tolist())
        return found

    def put(self, page: int, row: int) -> None:
        """A page without a row has this one."""
        self._new[page] = row
        self._sort()

    def put_all(self, pages: Iterable[int], first: int) -> None:
        """Pages without a row have these, from the first one on."""
        self._new.update((page, first + at) for at, page in enumerate(pages))
        self._sort()

    def replace(self, page: int, row: int) -> None:
        """A page with a row has another one."""
        if page in self._new:
            self._new[page] = row
        else:
            self._rows[self._place(page)] = row

    def drop(self, page: int) -> None:
        """A page has its row no more."""
        if self._new.pop(page, ABSENT) == ABSENT:
            self._rows[self._place(page)] = self._gone

    def drop_below(self, pages: NDArray[np.uint64], bound: int) -> None:
        """Those of these pages that have a row below this one have it no more."""
        for page in pages.tolist():
            if self._new.get(page, bound) < bound:
                del self._new[page]
        at = self._places(pages)
        self._rows[at[self._rows[at] < bound]] = self._gone

    def columns(self) -> tuple[NDArray[np.uint64], NDArray[Any]]:
        """All pages that have a row, and their rows."""
        stay, count = self._rows != self._gone, len(self._new)
        pages = np.fromiter(self._new, np.uint64, count)
        rows = np.fromiter(self._new.values(), self._rows.dtype, count)
        return np.concatenate((self._pages[stay], pages)), np.concatenate((self._rows[stay], rows))

    def _place(self, page: int) -> int:
        at = bisect_left(self._sorted, page)
        here = at < len(self._sorted) and self._sorted[at] == page
        return at if here and self._rows[at] != self._gone else ABSENT

    def _places(self, wanted: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Of these pages, of those among the sorted ones, where they stand."""
        if not self._pages.size:
            return np.empty(0, np.intp)
        at = np.minimum(np.searchsorted(self._pages, wanted), self._pages.size - 1)
        found: NDArray[np.intp] = at[(self._pages[at] == wanted) & (self._rows[at] != self._gone)]
        return found

    def _sort(self) -> None:
        if len(self._new) <= max(_LEAST, len(self._pages) // _SHARE):
            return
        self._order(*self.columns())
        self._new = {}

    def _order(self, pages: NDArray[np.uint64], rows: NDArray[Any]) -> None:
        order = np.argsort(pages, kind="stable")  # linear, as the first of them are in order
        self._pages, self._rows = pages[order], rows[order]
        self._sorted: Any = self._pages.data
