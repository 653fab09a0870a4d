"""The sliding window: versions of pages, bounded by count and by age, the oldest leaving first.

A version is one URL with one content; a later fetch that finds the same content is a sighting of
it, which moves `last` forward and `first` back. Age is event time: the fetch, against the highest
fetch seen, so that an old archive, replayed, leaves before it can displace anything newer.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

NO_ROW = -1


@dataclass(frozen=True, slots=True)
class Sighting:
    """A page as it was seen once: `text` is its identity hash, `file` that of its bytes."""

    page: int
    url: str
    site: int
    at: int
    text: int
    file: int
    start: int = 0
    end: int = 0


class Window:
    """Rows of page versions as columns; a row number is valid until the row is evicted."""

    def __init__(
        self, *, max_pages: int, max_age_us: int | None = None, max_versions: int = 64
    ) -> None:
        self.max_pages = max_pages
        self.max_versions = max_versions
        self.max_age_us = max_age_us
        self.newest = -(1 << 62)
        self.page = array("Q")
        self.text = array("Q")
        self.file = array("Q")
        self.site = array("Q")
        self.first = array("q")
        self.last = array("q")
        self.start = array("q")
        self.end = array("q")
        self.alerted = array("b")
        self.older = array("q")
        self.url: list[str] = []
        self._latest: dict[int, int] = {}
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self.url) - len(self._free)

    def order(self, row: int) -> tuple[int, int]:
        """By whom of two pages the other was copied: the time first seen, ties by page id."""
        return self.first[row], self.page[row]

    def versions(self, page: int) -> Iterator[int]:
        """The rows of a page, the one added last first."""
        row = self._latest.get(page, NO_ROW)
        while row != NO_ROW:
            yield row
            row = self.older[row]

    def version(self, page: int, text: int, file: int) -> int | None:
        """The row of a page with this content: the same words, or, without words, the same file."""
        for row in self.versions(page):
            if self.text[row] == text and (text or self.file[row] == file):
                return row
        return None

    def version_at(self, page: int, at: int | None) -> int | None:
        """The row of a page as it was at a time when it was seen; without a time, as it is now.

        None where it was not seen with one content both before and after: what else is known of
        the page says nothing about that time.
        """
        rows = self.versions(page)
        if at is None:
            return max(rows, key=lambda row: (self.last[row], self.text[row]), default=None)
        covering = (row for row in rows if self.first[row] <= at <= self.last[row])
        return max(covering, key=self.order, default=None)

    def superseded(self, row: int) -> bool:
        """Whether a later fetch found other content at the row's URL."""
        return any(self.last[other] > self.last[row] for other in self.versions(self.page[row]))

    def add(self, seen: Sighting) -> int:
        """A new row for a version that the window does not hold yet."""
        row = self._free.pop() if self._free else self._grow()
        for column, value in (
            (self.page, seen.page), (self.text, seen.text), (self.file, seen.file),
            (self.site, seen.site), (self.first, seen.at), (self.last, seen.at),
            (self.start, seen.start), (self.end, seen.end), (self.alerted, 0),
            (self.older, self._latest.get(seen.page, NO_ROW)),
        ):  # fmt: skip
            column[row] = value
        self.url[row] = seen.url
        self._latest[seen.page] = row
        return row

    def _turn(self, row: int) -> tuple[int, int]:
        """A row's place in the queue: by its last sighting, ties by page, never by row number."""
        return self.last[row], self.page[row]

    def surplus(self, page: int) -> int | None:
        """A version that is neither the one seen first nor among so many that were seen last."""
        rows = sorted(self.versions(page), key=lambda row: (self.last[row], *self._content(row)))
        first = min(rows, key=lambda row: (self.first[row], *self._content(row)), default=None)
        return next((row for row in rows[: -self.max_versions] if row != first), None)

    def _content(self, row: int) -> tuple[int, int]:
        return self.text[row], self.file[row]

    def dismiss(self, row: int) -> None:
        """Forget a row before its turn."""
        self._forget(row)

    def _grow(self) -> int:
        for column in self.columns():
            column.append(0)
        self.url.append("")
        return len(self.url) - 1

    def columns(self) -> tuple[array[int], ...]:
        """All columns but the URLs."""
        return (self.page, self.text, self.file, self.site, self.first, self.last, self.start,
                self.end, self.alerted, self.older)  # fmt: skip

    def reach(self, newest: int) -> None:
        """Time went on: rows older than the window's age leave at the next `expired`."""
        self.newest = max(self.newest, newest)

    def expired(self) -> int | None:
        """A row that must leave: the one last seen longest ago. The caller drops it.

        Pages without words are bounded by themselves, and the others as if they were not there.
        """
        for blank in (False, True):
            rows = [row for row in self.live() if (not self.text[row]) == blank]
            first = min(rows, key=self._turn, default=None)
            most = max(1, self.max_pages // 32) if blank else self.max_pages
            if first is not None and (len(rows) > most or self._too_old(self.last[first])):
                return first
        return None

    def _too_old(self, last: int) -> bool:
        return self.max_age_us is not None and last < self.newest - self.max_age_us

    def drop(self, row: int) -> None:
        """Forget the row that `expired` named."""
        self._forget(row)

    def _forget(self, row: int) -> None:
        self._unlink(row)
        self.url[row] = ""
        self._free.append(row)

    def _unlink(self, row: int) -> None:
        page = self.page[row]
        if self._latest[page] == row:
            if self.older[row] == NO_ROW:
                del self._latest[page]
            else:
                self._latest[page] = self.older[row]
            return
        for other in self.versions(page):
            if self.older[other] == row:
                self.older[other] = self.older[row]
                return

    def live(self) -> list[int]:
        """The rows in use."""
        free = set(self._free)
        return [row for row in range(len(self.url)) if row not in free]
