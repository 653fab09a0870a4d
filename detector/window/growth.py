"""Room for the window: arrays grow with it up to its bound, and not beyond.

Tables are written anew when they grow, from their own numbers, so that what a hot key had given up
stays so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OUT_COUNTS, kernel, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.large_arrays import longer, move, room_beside, used_up
from reusewatch.detector.window.buckets import empty_tables, number, number_bits, put
from reusewatch.detector.window.candidates import hash_of, key_of
from reusewatch.detector.window.expiry import sweep
from reusewatch.detector.window.store import (
    ARENA,
    ARENA_FREE,
    BLANKS_QUEUED,
    BY_PAGE,
    BY_TEXT,
    CLUSTER,
    COUNT,
    CROWD,
    DISMISSED_ROWS,
    ENTRIES_TYPE,
    ENTRY,
    GRAVES,
    LIVE_ENTRIES,
    LIVE_ROWS,
    MAX_BLANKS,
    NEAR_TABLES,
    NEWEST,
    ROW,
    ROWS_TYPE,
    Store,
)
from reusewatch.detector.window.url_arena import SIZES, UNIT, compact
from reusewatch.detector.window.versions import bury

_FIRST = 1024
_GROWN = 1.5
_SMALL = 1 << 16
# Rows that left before their turn may be an eighth of the others before the queue is swept: a
# sweep then costs eight steps for each of them, and they cost an eighth more room at most.
_SWEPT = 8
NOBODY: Mapping[str, NDArray[Any]] = {
    "crowds": np.empty(0, CROWD),
    "crowd_due": np.empty(0, np.int64),
    "crowd_row": np.empty(0, np.int32),
}
"""What is known of sites before they are counted."""


def empty_store() -> Store:
    """A window of nothing."""
    numbers = np.zeros(COUNT, np.int64)
    numbers[NEWEST], numbers[GRAVES] = -(1 << 62), -1
    return Store(
        rows=np.zeros(_FIRST, ROW),
        entries=np.zeros(_FIRST, ENTRY),
        clusters=np.zeros(_FIRST, CLUSTER),
        row_tables=empty_tables(2, _FIRST),
        entry_tables=empty_tables(NEAR_TABLES + 1, _FIRST),
        links=np.full((2, 2 * _FIRST), -1, np.int32),
        due=np.zeros(_FIRST, np.int64),
        due_row=np.zeros(_FIRST, np.int32),
        free_rows=np.zeros(_FIRST, np.int32),
        free_entries=np.zeros(_FIRST, np.int32),
        free_clusters=np.zeros(_FIRST, np.int32),
        arena=np.zeros(_FIRST * 64, np.uint8),
        arena_free=np.full(SIZES, -1, np.int64),
        numbers=numbers,
        **NOBODY,
    )


def with_room(store: Store, pages: int, url_bytes: int, limit: int) -> Store:
    """The same window, with room for so many more pages; `limit` is how many with words it ever
    holds."""
    bury(store)  # what left still has URLs, which `compact` would not take along
    if store.numbers[DISMISSED_ROWS] * _SWEPT > store.numbers[LIVE_ROWS]:
        sweep(store)
    url_bytes += pages * UNIT
    new = store = _without_gaps(store, url_bytes)
    # All room is made before anything is moved: what is moved stands twice for no longer.
    rows = int(store.numbers[LIVE_ROWS] + store.numbers[DISMISSED_ROWS]) + pages
    if rows > len(store.rows):
        most = limit + int(store.numbers[MAX_BLANKS])
        new = _more_rows(new, _capacity(rows, len(store.rows), most))
    entries = int(store.numbers[LIVE_ENTRIES]) + pages
    if entries > len(store.entries):
        new = _more_entries(new, _capacity(entries, len(store.entries), limit))
    if (need := _arena_bytes(store) + url_bytes) > store.arena.size:
        arena = room_beside(store.arena, max(need, int(_GROWN * store.arena.size)))
        new = new._replace(arena=arena)
    _take_over(store, new)
    return new


def _capacity(need: int, have: int, limit: int) -> int:
    """Twice as many while small; later a quarter more, as room without use is memory too.

    Beyond the limit go only rows that left before their turn: room for all of them at once.
    """
    if need > limit:
        return need + need // _SWEPT
    more = 2 * have if have < _SMALL else have + have // 4
    return max(need, min(more, limit))


def _more_rows(store: Store, size: int) -> Store:
    return store._replace(
        rows=room_beside(store.rows, size),
        links=room_beside(store.links, 2 * size),
        due=_with_ends(store, store.due, size),
        due_row=_with_ends(store, store.due_row, size),
        free_rows=longer(store.free_rows, size),
        row_tables=empty_tables(2, size),
    )


def _with_ends(store: Store, queues: NDArray[Any], size: int) -> NDArray[Any]:
    """Longer, with the queue that begins at the end still there."""
    grown, blanks = longer(queues, size), int(store.numbers[BLANKS_QUEUED])
    grown[size - blanks :] = queues[len(queues) - blanks :]
    return grown


def _more_entries(store: Store, size: int) -> Store:
    return store._replace(
        entries=room_beside(store.entries, size),
        clusters=longer(store.clusters, size),
        free_entries=longer(store.free_entries, size),
        free_clusters=longer(store.free_clusters, size),
        entry_tables=empty_tables(NEAR_TABLES + 1, size),
    )


def _arena_bytes(store: Store) -> int:
    """Bytes of the arena that are in use, or were."""
    return int(store.numbers[ARENA]) * UNIT


def _without_gaps(store: Store, more: int) -> Store:
    """The gaps among the URLs closed, where there is no room for so many bytes more and gaps are a
    quarter of all."""
    numbers = store.numbers
    if _arena_bytes(store) + more <= store.arena.size or numbers[ARENA_FREE] * 4 <= numbers[ARENA]:
        return store
    arena = np.zeros_like(store.arena)
    compact(store, arena)
    return store._replace(arena=arena)


def _take_over(old: Store, new: Store) -> None:
    """What stands in the old arrays, to those that are longer. Nobody may look at the old ones any
    more: else both would stand in memory at a time, a third of the window again."""
    if new.rows is not old.rows:
        for table in range(2):
            _rehash_rows(old.rows, table == BY_PAGE, old.row_tables[table], new.row_tables[table])
        move(old.rows, new.rows)
        move(old.links, new.links)
    if new.entries is not old.entries:
        for part in used_up(old.entry_tables):
            for table in range(part.start, part.stop):
                to = new.entry_tables[table]
                _rehash_entries(old.entries, table, old.entry_tables[table], to)
        move(old.entries, new.entries)
    if new.arena is not old.arena:
        move(old.arena, new.arena)


@kernel(types.void(ROWS_TYPE, types.boolean, OUT_COUNTS, OUT_COUNTS))
def _rehash_rows(rows: Any, by_page: Any, old: Any, new: Any) -> None:
    old_bits, bits = number_bits(old), number_bits(new)
    for at in range(old.size):
        if at & 15 and old[at]:
            row = number(old, old_bits, at)
            hashed = mix(rows[row].page if by_page else rows[row].file)
            put(new, bits, hashed, row)


@kernel(types.void(ENTRIES_TYPE, types.int64, OUT_COUNTS, OUT_COUNTS))
def _rehash_entries(entries: Any, table: Any, old: Any, new: Any) -> None:
    old_bits, bits = number_bits(old), number_bits(new)
    for at in range(old.size):
        if at & 15 and old[at]:
            entry = number(old, old_bits, at)
            if table == BY_TEXT:
                put(new, bits, mix(entries[entry].text), entry)
            else:
                put(new, bits, hash_of(key_of(entries, entry, table), table), entry)
