"""Pages of a window that was saved become owned, or are so no more: another setting is in force.

Apart from `adding`, so that only who changed the setting compiles it. Reports nothing.
"""

from __future__ import annotations

from typing import Any

from reusewatch.detector.compiling.kernels import OFFSETS, kernel, part, types
from reusewatch.detector.window.buckets import number_bits
from reusewatch.detector.window.clusters import lead, led_no_more
from reusewatch.detector.window.identity_sets import (
    place_file,
    place_text,
    remove_file,
    remove_text,
)
from reusewatch.detector.window.owned import AHEAD_US, owned
from reusewatch.detector.window.store import BY_PAGE, LEFT, LISTED, STORE

FLAGS = types.Array(types.boolean, 1, "C")


@part(types.void(STORE, types.int64, types.int64, types.int64))
def _count_as(store: Any, bits: Any, row: Any, since: Any) -> None:
    """A row counts as seen since another time: it leaves its sets before their order changes."""
    entry = types.int64(store.rows[row].entry)
    if entry >= 0:
        remove_text(store, entry, row)
    remove_file(store, bits, row)
    store.rows[row].since = since
    if entry >= 0:
        place_text(store, entry, row)
        lead(store, entry)
        led_no_more(store, entry)
    place_file(store, bits, row)


@kernel(types.void(STORE, OFFSETS, FLAGS))
def own_pages(store: Any, rows: Any, mine: Any) -> None:
    """Make these rows owned, or not."""
    bits = number_bits(store.row_tables[BY_PAGE])
    store.numbers[LEFT] = -1
    for i in range(rows.size):
        row, since = rows[i], store.rows[rows[i]].since
        if mine[i] and not owned(since):
            _count_as(store, bits, row, since - AHEAD_US)
        elif not mine[i] and owned(since):
            _count_as(store, bits, row, since + AHEAD_US)
    while store.numbers[LEFT] >= 0:  # nobody judges them now
        row = store.numbers[LEFT]
        store.numbers[LEFT] = types.int64(store.rows[row].next)
        store.rows[row].state &= ~LISTED
