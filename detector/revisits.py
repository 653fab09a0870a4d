"""Revisits: a record that says "the same payload as that page", before that page is known.

Archives are replayed in any order; a revisit that comes first waits here, a bounded number of them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple


class Revisit(NamedTuple):
    """The page that was revisited, when, and where it stands."""

    page: int
    url: str
    at: int


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
        while self._count > self._limit:
            _, gone = self._by_page.popitem(last=False)
            self._count -= len(gone)
            left += len(gone)
        return left

    def take(self, page: int) -> list[Revisit]:
        """The revisits that waited for this page."""
        found = self._by_page.pop(page, [])
        self._count -= len(found)
        return found

    def __iter__(self) -> Iterator[tuple[int, Revisit]]:
        return ((page, revisit) for page, found in self._by_page.items() for revisit in found)
