"""Revisits: a record that says "the same payload as that page then", before that is known.

Archives are replayed in any order; a revisit that comes first waits here, a bounded number of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

# All that wait for one page are looked at whenever it is seen.
_A_PAGE = 1_000


class Revisit(NamedTuple):
    """The page that was revisited, when, and where it stands; `of` is the time it refers to."""

    page: int
    url: str
    at: int
    of: int | None = None


class Waiting:
    """Revisits by the page that they refer to; the longest waiting leave first."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._by_page: OrderedDict[int, list[Revisit]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, refers_to: int, revisit: Revisit) -> int:
        """Wait for a page. Returns how many had to leave for it."""
        waiting = self._by_page.setdefault(refers_to, [])
        if revisit in waiting:
            return 0
        waiting.append(revisit)
        self._count += 1
        left = 0
        if len(waiting) > _A_PAGE:
            del waiting[0]
            left += 1
            self._count -= 1
        while self._count > self._limit:
            _, gone = self._by_page.popitem(last=False)
            self._count -= len(gone)
            left += len(gone)
        return left

    def among(self, pages: Iterable[int]) -> list[int]:
        """Those of the pages that revisits wait for."""
        return [page for page in pages if page in self._by_page] if self._by_page else []

    def take(self, page: int, find: Callable[[int | None], object | None]) -> list[Revisit]:
        """The revisits of this page for whose time something is found now."""
        known: list[Revisit] = []
        rest: list[Revisit] = []
        for revisit in self._by_page.pop(page, []):
            (rest if find(revisit.of) is None else known).append(revisit)
        if rest:
            self._by_page[page] = rest
        self._count -= len(known)
        return known

    def __iter__(self) -> Iterator[tuple[int, Revisit]]:
        return ((page, revisit) for page, found in self._by_page.items() for revisit in found)
