"""How many popular shingles each page has that was judged: as numbers in columns, since nearly all
pages of the stream are among them, and a dictionary of as many takes six times the memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.saved import Kept, array_of, check

_NONE = -1


class PopularCounts:
    """What was said of the pages that were judged last, as many as there is room for."""

    def __init__(self, most: int, saved: Mapping[str, NDArray[Any]] | None = None) -> None:
        """With what was saved, or none."""
        self._most = most
        # Copies, or the snapshot would stay mapped for these.
        if saved is not None:
            count = len(array_of(saved, "judged", np.uint64, (None,)))
            check(saved, {"popular": Kept(np.int16, (count,))})
        self._by_age = (
            np.array(() if saved is None else saved["judged"], np.uint64),
            np.array(() if saved is None else saved["popular"], np.int16),
        )
        self._sort()

    def put(self, pages: NDArray[np.uint64], counts: NDArray[Any]) -> None:
        """So many have these pages, each of them once here; those that were put first leave."""
        before, said = self._by_age
        stay = ~np.isin(before, pages, assume_unique=True)
        pages = np.concatenate((before[stay], pages))
        counts = np.concatenate((said[stay], counts.astype(np.int16)))
        self._by_age = pages[-self._most :].copy(), counts[-self._most :].copy()
        self._sort()

    def get(self, page: int) -> int | None:
        """How many a page has; None of one that is not here."""
        at = bisect_left(self._looked_up, page)
        here = at < len(self._looked_up) and self._looked_up[at] == page
        return int(self._counts[at]) if here else None

    def of(self, pages: Sequence[int]) -> list[int | None]:
        """The same of several."""
        if not self._pages.size:
            return [None] * len(pages)
        wanted = np.array(pages, np.uint64)
        at = np.minimum(self._pages.searchsorted(wanted), self._pages.size - 1)
        found = np.where(self._pages[at] == wanted, self._counts[at], _NONE).tolist()
        return [None if count == _NONE else count for count in found]

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self._pages.nbytes + sum(column.nbytes for column in (*self._by_age, self._counts))

    def save(self) -> Mapping[str, NDArray[Any]]:
        """All pages and counts, in the order in which they were judged."""
        pages, counts = self._by_age
        return {"judged": pages, "popular": counts}

    def _sort(self) -> None:
        pages, counts = self._by_age
        order = np.argsort(pages)
        self._pages, self._counts = pages[order], counts[order]
        # Numbers of an array are looked at several times faster so.
        self._looked_up: Any = self._pages.data
