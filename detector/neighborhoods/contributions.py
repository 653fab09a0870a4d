"""What each page last added to figures, so that a page seen again replaces it (at-least-once).

A delivery that comes twice changes nothing; a later fetch takes the place of an earlier one,
whichever arrives first. Bounded: the pages added longest ago are forgotten, with what they added,
so that it can be taken out of the figures. Knows nothing of what is counted.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.text_column import packed, unpacked

_ABSENT = -1


class Contribution(NamedTuple):
    """A page's chunks in L and at all, as of a fetch; `turn` is when they were counted."""

    at: int
    labeled: int
    total: int
    turn: int

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
        self._rows: dict[int, int] = {}
        self._pages = array("Q")
        self._columns = (array("q"), array("q"), array("q"), array("q"))
        # Texts that the caller holds as well: a directory of a thousand pages is kept once.
        self._directories: list[str] = []
        self._next = 0
        self.forgotten = 0

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, page: int) -> Contribution | None:
        """What a page last added."""
        row = self._rows.get(page, _ABSENT)
        return None if row == _ABSENT else Contribution(*(column[row] for column in self._columns))

    def put(self, page: int, added: Contribution, directory: str) -> Forgotten | None:
        """Note what a page adds now; the page that is forgotten for it, if one is."""
        row, gone = self._rows.get(page, _ABSENT), None
        if row == _ABSENT:
            row, gone = self._claim()
            self._rows[page] = row
            self._pages[row] = page
        at, labeled, total, turn = self._columns
        at[row], labeled[row], total[row], turn[row] = added
        self._directories[row] = directory
        return gone

    def __contains__(self, page: object) -> bool:
        return page in self._rows

    @property
    def room(self) -> int:
        """How many more pages there is room for, before one is forgotten."""
        return self._limit - len(self._pages)

    def put_new(
        self, pages: Sequence[int], at: Sequence[int], totals: Sequence[int], turn: int,
        directories: Sequence[str],
    ) -> None:  # fmt: skip
        """Note pages that are new, for which there is room, and of which nothing is labeled; the
        first was counted at this turn."""
        self._rows.update(zip(pages, count(len(self._pages))))
        self._pages.extend(pages)
        turns = range(turn, turn + len(pages))
        for column, values in zip(
            self._columns, (at, (0,) * len(pages), totals, turns), strict=True
        ):
            column.extend(values)
        self._directories.extend(directories)

    def _claim(self) -> tuple[int, Forgotten | None]:
        """A row for a page: a new one, or that of the page added longest ago."""
        if len(self._pages) < self._limit:
            self._pages.append(0)
            self._directories.append("")
            for column in self._columns:
                column.append(0)
            return len(self._pages) - 1, None
        row, self._next = self._next, (self._next + 1) % self._limit
        added = Contribution(*(column[row] for column in self._columns))
        gone = Forgotten(self._pages[row], added, self._directories[row])
        del self._rows[gone.page]
        self.forgotten += 1
        return row, gone

    def save(self) -> dict[str, NDArray[Any]]:
        """The ring, oldest row first."""
        turned = [np.roll(np.array(c), -self._next) for c in (self._pages, *self._columns)]
        saved = dict(zip(("page", "at", "labeled", "total", "turn"), turned, strict=True))
        numbers: dict[str, int] = {}
        rows = [numbers.setdefault(text, len(numbers)) for text in self._directories]
        saved["directory"] = np.roll(np.array(rows, np.int64), -self._next)
        saved["directories"] = packed(numbers)
        return saved

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take a ring back; of a larger one, the newest rows."""
        directories = unpacked(saved["directories"])
        kept = {n: column[-self._limit :] for n, column in saved.items() if n != "directories"}
        self._pages = array("Q", kept["page"].tolist())
        self._columns = tuple(  # type: ignore[assignment]
            array("q", kept[name].tolist()) for name in ("at", "labeled", "total", "turn")
        )
        self._directories = [directories[number] for number in kept["directory"].tolist()]
        self._rows = {page: row for row, page in enumerate(self._pages)}
        self._next = 0
