"""Looks ahead: memory that the next pages need is asked for before it is waited for.

A search waits for one line of memory after the other, of a window of ten million pages for some
seventy. Here no look waits for the one before, and the search finds the lines near. Changes
nothing but time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import part, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.window.buckets import home
from reusewatch.detector.window.candidates import hash_of, key_of
from reusewatch.detector.window.store import (
    BLANK_ROWS,
    BY_FILE,
    BY_PAGE,
    BY_TEXT,
    ENTRIES_TYPE,
    LIVE_ROWS,
    MAX_ROWS,
    NEAR_TABLES,
    NEWEST,
    QUEUED,
    ROWS_TYPE,
    STORE,
    WARM,
)

AHEAD = 32
"""Pages that are looked ahead: few enough that no line is displaced before its turn."""


@part(types.void(STORE, ROWS_TYPE, ENTRIES_TYPE))
def warm(store: Any, arrivals: Any, probes: Any) -> None:
    """Look once at every line that the batch will need.

    Here no look waits for the one before; in the search each would, for memory.
    """
    total = types.int64(0)
    pages, files, texts = (
        store.row_tables[BY_PAGE], store.row_tables[BY_FILE], store.entry_tables[BY_TEXT],
    )  # fmt: skip
    for i in range(arrivals.size):
        total += pages[home(pages, mix(arrivals[i].page))]
        total += files[home(files, mix(arrivals[i].file))]
        total += texts[home(texts, mix(probes[i].text))]
        for table in range(NEAR_TABLES):
            slots = store.entry_tables[table]
            total += slots[home(slots, hash_of(key_of(probes, i, table), table))]
    store.numbers[WARM] = total


@part(types.void(STORE, types.int64), allocates=True)
def warm_leaving(store: Any, pages: Any) -> None:
    """Look once at what those need that will probably leave: the head of the queue."""
    numbers, due = store.numbers, store.due
    leaving = numbers[LIVE_ROWS] - numbers[BLANK_ROWS] + pages - numbers[MAX_ROWS]
    leaving = min(leaving, pages)
    if leaving <= 0 or numbers[QUEUED] == 0:
        return
    # At the pace of the window: the heap is in order from level to level only.
    until = due[0] + (numbers[NEWEST] - due[0]) // numbers[QUEUED] * 2 * leaving
    head = np.empty(2 * AHEAD, np.int64)
    size = 0
    for i in range(min(16 * AHEAD, numbers[QUEUED])):
        if due[i] <= until and size < head.size:
            head[size] = store.due_row[i]
            size += 1
    rows, entries, total = store.rows, store.entries, types.int64(0)
    for i in range(size):
        total += rows[head[i]].entry
    for i in range(size):
        entry = max(rows[head[i]].entry, 0)
        total += types.int64(entries[entry].text) + entries[entry].count
        total += entries[entry].sample[0]
    for i in range(size):
        row = head[i]
        entry = max(rows[row].entry, 0)
        for which in range(2):
            slots = store.row_tables[which]
            hashed = mix(rows[row].page if which == BY_PAGE else rows[row].file)
            total += slots[home(slots, hashed)]
        if entries[entry].count > 1:
            continue
        for table in range(NEAR_TABLES):
            slots = store.entry_tables[table]
            total += slots[home(slots, hash_of(key_of(entries, entry, table), table))]
        slots = store.entry_tables[BY_TEXT]
        total += slots[home(slots, mix(entries[entry].text))]
    store.numbers[WARM] += total
