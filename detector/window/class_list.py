"""The classes of near-duplicates of a window, as people ask for them: largest first.

The closure is exact at the time of the question; pages with one token sequence belong together
too. Representative is the page first seen, ties by page id. Changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.window.closure import closure, steps_from
from reusewatch.detector.window.clusters import name_of
from reusewatch.detector.window.store import ENTRIES, LIVE, ROWS, Store


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """Pages that are near-duplicates by the transitive closure; `rows` in order of time.

    `steps` is the chain from the representative to the farthest page: 0 if all have the same
    words, 1 if all are near to it, more where chaining holds the class together.
    """

    cluster: int
    sites: int
    steps: int
    rows: NDArray[np.int64]

    @property
    def representative(self) -> int:
        """The row of the page that was seen first."""
        return int(self.rows[0])

    @property
    def size(self) -> int:
        """Pages."""
        return len(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The classes of two pages or more, and how often two were kept apart for their size."""

    found: tuple[Class, ...]
    refused: int


def classes(store: Store, *, top: int, row: int | None, largest: int) -> Classes:
    """The largest classes, or the one of a row, whatever its size."""
    entries, rows = _live(store)
    super5 = store.entries["super5"][entries]
    of_set, refused = closure(super5, store.entries["text"][entries], largest)
    place = np.zeros(len(store.entries), np.int64)
    place[entries] = of_set
    of_row = place[store.rows["entry"][rows]]
    if row is None:
        wanted = _largest(store, rows, of_row, np.bincount(of_row, minlength=len(entries)), top)
    else:
        wanted = of_row[rows == row].tolist()
    is_wanted = np.zeros(len(entries), np.bool_)
    is_wanted[wanted] = True
    rows_of, sets_of = _Groups(of_row, is_wanted), _Groups(of_set, is_wanted)
    return Classes(
        tuple(
            _class(store, rows[rows_of.places(one)], super5, sets_of.places(one), entries)
            for one in wanted
        ),
        refused,
    )


class _Groups:
    """Where each number stands in an array, of those that are wanted. Sorted once: a thousand
    classes cost what one does."""

    def __init__(self, numbers: NDArray[np.int64], is_wanted: NDArray[np.bool_]) -> None:
        held = np.flatnonzero(is_wanted[numbers])
        self._order = held[np.argsort(numbers[held], kind="stable")]
        self._sorted = numbers[self._order]

    def places(self, number: int) -> NDArray[np.int64]:
        """Its places, in their order."""
        begin, end = np.searchsorted(self._sorted, [number, number + 1])
        found: NDArray[np.int64] = self._order[begin:end]
        return found


def _live(store: Store) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sets, and rows with words."""
    entries = np.flatnonzero(store.entries["text"][: store.numbers[ENTRIES]])
    used = store.rows[: store.numbers[ROWS]]
    rows = np.flatnonzero((used["state"] & LIVE != 0) & (used["entry"] >= 0))
    return entries, rows


def _largest(
    store: Store, rows: NDArray[np.int64], of_row: NDArray[np.int64], sizes: NDArray[Any], top: int
) -> list[int]:
    """Classes of two pages and more by size; ties go to the one seen first."""
    if top < 1:
        return []
    several = np.flatnonzero(sizes > 1)
    if len(several) > top:  # of those as large as the last one the first seen are taken
        last = np.partition(sizes[several], -top)[-top]
        since = np.full(len(sizes), np.iinfo(np.int64).max)
        np.minimum.at(since, of_row, store.rows["since"][rows])
        ties = several[sizes[several] == last]
        latest = np.partition(since[ties], min(top, len(ties)) - 1)[min(top, len(ties)) - 1]
        several = several[
            (sizes[several] > last) | (sizes[several] == last) & (since[several] <= latest)
        ]
    is_one = np.zeros(len(sizes), np.bool_)
    is_one[several] = True
    inside = np.flatnonzero(is_one[of_row])
    inside = inside[_in_order(store, rows[inside])]
    found, first = np.unique(of_row[inside], return_index=True)
    order = np.lexsort((first, -sizes[found]))
    chosen: list[int] = found[order[:top]].tolist()
    return chosen


def _in_order(store: Store, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    columns = (store.rows[name][rows] for name in ("first", "page", "since"))
    return np.lexsort(tuple(columns))


def _class(
    store: Store, rows: NDArray[np.int64], super5: NDArray[np.uint32],
    members: NDArray[np.int64], entries: NDArray[np.int64],
) -> Class:  # fmt: skip
    rows = rows[_in_order(store, rows)]
    lead = store.rows["entry"][rows[0]]
    begin = int(np.flatnonzero(entries[members] == lead)[0])
    return Class(
        cluster=int(name_of(store.rows["page"][rows[0]], store.entries["text"][lead])),
        sites=len(np.unique(store.rows["site"][rows])),
        steps=steps_from(super5[members], begin) if len(members) > 1 else 0,
        rows=rows,
    )
