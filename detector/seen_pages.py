"""What each page last added to figures, so that a page seen again replaces it (at-least-once).

A delivery that comes twice changes nothing; a later fetch takes the place of an earlier one,
whichever arrives first. Bounded: the pages added longest ago are forgotten, and count anew when
they come again. Knows nothing of what is counted.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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


class SeenPages:
    """A ring of rows, and where each page stands in it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: dict[int, int] = {}
        self._pages = array("Q")
        self._columns = (array("q"), array("q"), array("q"), array("q"))
        self._next = 0
        self.forgotten = 0

    def __len__(self) -> int:
        return len(self._rows)

    def get(self, page: int) -> Contribution | None:
        """What a page last added."""
        row = self._rows.get(page, _ABSENT)
        return None if row == _ABSENT else Contribution(*(column[row] for column in self._columns))

    def put(self, page: int, added: Contribution) -> None:
        """Note what a page adds now."""
        row = self._rows.get(page, _ABSENT)
        if row == _ABSENT:
            row = self._claim()
            self._rows[page] = row
            self._pages[row] = page
        for column, value in zip(self._columns, added, strict=True):
            column[row] = value

    def _claim(self) -> int:
        """A row for a page: a new one, or that of the page added longest ago."""
        if len(self._pages) < self._limit:
            self._pages.append(0)
            for column in self._columns:
                column.append(0)
            return len(self._pages) - 1
        row, self._next = self._next, (self._next + 1) % self._limit
        del self._rows[self._pages[row]]
        self.forgotten += 1
        return row

    def save(self) -> dict[str, NDArray[Any]]:
        """The ring, oldest row first."""
        turned = [np.roll(np.array(c), -self._next) for c in (self._pages, *self._columns)]
        return dict(zip(("page", "at", "labeled", "total", "turn"), turned, strict=True))

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take a ring back; of a larger one, the newest rows."""
        kept = {name: column[-self._limit :] for name, column in saved.items()}
        self._pages = array("Q", kept["page"].tolist())
        self._columns = tuple(  # type: ignore[assignment]
            array("q", kept[name].tolist()) for name in ("at", "labeled", "total", "turn")
        )
        self._rows = {page: row for row, page in enumerate(self._pages)}
        self._next = 0
