"""What each page last added to figures, so that a page seen again replaces it (at-least-once).

A delivery that comes twice changes nothing; a later fetch takes the place of an earlier one,
whichever arrives first. Bounded: the pages added longest ago are forgotten, with what they added,
so that it can be taken out of the figures. Knows nothing of what is counted.

Rows are records, and sorted numbers lead to them (`page_rows`): as objects of Python a page would
take three times as much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.large_arrays import longer, zeros
from reusewatch.detector.page_rows import ABSENT, PageRows
from reusewatch.detector.text_column import packed, unpacked

_FIRST = 1024
# Twice as many while small; later a quarter more, as room without use is memory too.
_SMALL = 1 << 16
_COLUMNS = ("page", "at", "labeled", "total", "turn", "homed")
_ROW = np.dtype([(name, "u8" if name == "page" else "i8") for name in _COLUMNS])


class Contribution(NamedTuple):
    """A page's chunks in L and at all, as of a fetch; `turn` is when they were counted; `homed` are
    the chunks in L whose label has a home."""

    at: int
    labeled: int
    total: int
    turn: int
    homed: int = 0

    def newer_than(self, other: Contribution) -> bool:
        """By fetch; of two contents at one time, the same one always wins."""
        return self[:3] > other[:3]


class Forgotten(NamedTuple):
    """A page that left, what it had added, and where it stood."""

    page: int
    added: Contribution
    directory: str


class SeenPages:
    """A ring of rows, and where each page stands in it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: NDArray[Any] = zeros(min(_FIRST, limit), _ROW)
        self._row_of = PageRows()
        # Texts that the caller holds as well: a directory of a thousand pages is kept once.
        self._directories: list[str] = []
        self._next = 0
        self.forgotten = 0

    def __len__(self) -> int:
        return len(self._directories)

    def get(self, page: int) -> Contribution | None:
        """What a page last added."""
        row = self._row_of.get(page)
        return None if row == ABSENT else self._added(row)

    def put(self, page: int, added: Contribution, directory: str) -> Forgotten | None:
        """Note what a page adds now; the page that is forgotten for it, if one is."""
        row, gone = self._row_of.get(page), None
        if row == ABSENT:
            row, gone = self._claim()
            self._row_of.put(page, row)
        self._rows[row] = (page, *added)
        self._directories[row] = directory
        return gone

    def __contains__(self, page: object) -> bool:
        return isinstance(page, int) and self._row_of.get(page) != ABSENT

    def among(self, pages: Sequence[int]) -> set[int]:
        """Those of these pages that were seen."""
        return self._row_of.among(pages)

    @property
    def room(self) -> int:
        """How many more pages there is room for, before one is forgotten."""
        return self._limit - len(self)

    def put_new(
        self, pages: Sequence[int], at: Sequence[int], totals: Sequence[int], turn: int,
        directories: Sequence[str],
    ) -> None:  # fmt: skip
        """Note pages that are new, for which there is room, and of which nothing is labeled; the
        first was counted at this turn."""
        begin, end = len(self), len(self) + len(pages)
        self._make_room(end)
        rows = self._rows[begin:end]
        rows["page"], rows["at"], rows["total"] = pages, at, totals
        rows["turn"] = np.arange(turn, turn + len(pages))
        self._row_of.put_all(pages, begin)
        self._directories.extend(directories)

    def _added(self, row: int) -> Contribution:
        return Contribution(*self._rows[row].item()[1:])

    def _make_room(self, size: int) -> None:
        if size <= (have := len(self._rows)):
            return
        more = 2 * have if have < _SMALL else have + have // 4
        self._rows = longer(self._rows, min(max(size, more), self._limit))

    def _claim(self) -> tuple[int, Forgotten | None]:
        """A row for a page: a new one, or that of the page added longest ago."""
        if self.room:
            self._make_room(len(self) + 1)
            self._directories.append("")
            return len(self) - 1, None
        row, self._next = self._next, (self._next + 1) % self._limit
        gone = Forgotten(int(self._rows["page"][row]), self._added(row), self._directories[row])
        self._row_of.drop(gone.page)
        self.forgotten += 1
        return row, gone

    def save(self) -> dict[str, NDArray[Any]]:
        """The ring, oldest row first."""
        rows = self._rows[: len(self)]
        saved = {name: np.roll(rows[name], -self._next) for name in _COLUMNS}
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(text, len(numbers)) for text in self._directories]
        saved["directory"] = np.roll(np.array(places, np.int64), -self._next)
        saved["directories"] = packed(numbers)
        return saved

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take a ring back; of a larger one, the newest rows."""
        directories = unpacked(saved["directories"])
        kept = {n: column[-self._limit :] for n, column in saved.items() if n != "directories"}
        self._directories = [directories[number] for number in kept["directory"].tolist()]
        self._rows = zeros(max(1, len(self)), _ROW)
        for name in _COLUMNS:
            self._rows[name][: len(self)] = kept[name]
        self._row_of, self._next = PageRows(kept["page"]), 0
