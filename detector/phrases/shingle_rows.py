"""The shingles of pages, a row each: where they stand is left to whoever holds the window.

They are most of a page, and are looked at together from time to time only: a process may have them
on disk. Here they stand in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.large_arrays import sparse_zeros

MIN_VALUES = 84
_AT_ONCE = 21
"""Functions whose values are taken out of the rows at once: they stand side by side there, and all
rows are read for them once more."""
_PIECE = 4096


class ShingleRows(Protocol):
    """Rows of 84 min-values."""

    def write(self, begin: int, rows: NDArray[np.uint32]) -> None:
        """Have these stand from a place on."""

    def read(self, begin: int, end: int) -> NDArray[np.uint32]:
        """Those of some places; for a moment."""

    def all(self, size: int) -> NDArray[np.uint32]:
        """So many, the first, to be saved."""


class InMemory:
    """Rows in memory, which is taken as they are written."""

    def __init__(self) -> None:
        self._rows = sparse_zeros((_PIECE, MIN_VALUES), np.uint32)

    def write(self, begin: int, rows: NDArray[np.uint32]) -> None:
        """Have these stand from a place on."""
        if (end := begin + len(rows)) > len(self._rows):
            longer = sparse_zeros((max(end, 2 * len(self._rows)), MIN_VALUES), np.uint32)
            longer[: len(self._rows)] = self._rows
            self._rows = longer
        self._rows[begin:end] = rows

    def read(self, begin: int, end: int) -> NDArray[np.uint32]:
        """Those of some places."""
        return self._rows[begin:end]

    def all(self, size: int) -> NDArray[np.uint32]:
        """So many, the first."""
        return self._rows[:size]


def write_pieces(store: ShingleRows, rows: NDArray[np.uint32]) -> None:
    """Have these stand from the begin on, some at a time: they may be all of a snapshot."""
    for begin in range(0, len(rows), _PIECE):
        store.write(begin, rows[begin : begin + _PIECE])


def move(store: ShingleRows, here: NDArray[np.int64], there: NDArray[np.int64]) -> None:
    """Rows take other places; both in rising order."""
    for rows, place in _runs(here, there):
        store.write(place, store.read(rows.start, rows.stop))


def taken(store: ShingleRows, places: NDArray[np.int64]) -> NDArray[np.uint32]:
    """The rows of these places."""
    found = np.empty((len(places), MIN_VALUES), np.uint32)
    for at, place in enumerate(places.tolist()):
        found[at] = store.read(place, place + 1)
    return found


def by_function(
    store: ShingleRows, size: int, places: NDArray[np.int64]
) -> Iterator[NDArray[np.uint32]]:
    """The values of some functions after the others, a row each, of the pages at these places of so
    many: all at once would be all pages once more. Each is there until the next is asked for, which
    is written to the same memory."""
    number = np.full(size, -1, np.int64)
    number[places] = np.arange(len(places))
    values = np.empty((_AT_ONCE, len(places)), np.uint32)
    for function in range(0, MIN_VALUES, _AT_ONCE):
        for begin in range(0, size, _PIECE):
            end = min(begin + _PIECE, size)
            here = number[begin:end]
            wanted = here >= 0
            rows = store.read(begin, end)
            values[:, here[wanted]] = rows[wanted, function : function + _AT_ONCE].T
        yield values


def _runs(here: NDArray[np.int64], there: NDArray[np.int64]) -> Iterator[tuple[range, int]]:
    """Where both go on by one."""
    ends = np.flatnonzero((np.diff(here) != 1) | (np.diff(there) != 1)) + 1
    for rows, places in zip(np.split(here, ends), np.split(there, ends), strict=True):
        if rows.size:
            yield range(int(rows[0]), int(rows[-1]) + 1), int(places[0])
