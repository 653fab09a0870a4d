"""Versions of pages: one URL with one content, and how they enter and leave the window.

A later fetch that finds the same content is a sighting of a version; one that finds other content
is a new version, which stands beside the old until that one leaves.

A page that changes at each fetch has no end of versions, and each new one is compared with those
before. So of one URL only `max_versions` are kept, those seen last, and beside them the one seen
first, of which others may be copies. Which these are depends on the times of the fetches alone,
not on the order in which they arrived.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import BYTES, kernel, part, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.window.buckets import number_bits, put, swap, take, with_key
from reusewatch.detector.window.candidates import leave
from reusewatch.detector.window.clusters import leave_class, led_no_more
from reusewatch.detector.window.expiry import dequeue, enqueue, expired
from reusewatch.detector.window.identity_sets import remove_file, remove_text
from reusewatch.detector.window.numbering import give_number, take_number
from reusewatch.detector.window.shares import join, over_share, part_with
from reusewatch.detector.window.store import (
    BLANK,
    BLANK_ROWS,
    BY_PAGE,
    CROWDED_EVER,
    DISMISSED,
    DISMISSED_EVER,
    DISMISSED_ROWS,
    ENTERED,
    ENTRIES,
    FREE_ENTRIES,
    FREE_ROWS,
    GRAVES,
    LIVE,
    LIVE_ENTRIES,
    LIVE_ROWS,
    MAX_VERSIONS,
    NO_TIME,
    ROWS,
    ROWS_TYPE,
    STORE,
    STRIPPED,
)
from reusewatch.detector.window.url_arena import keep, release

_ZERO = np.uint64(0)


@part(types.uint64(STORE, types.int64))
def text_of_row(store: Any, row: Any) -> Any:
    """The identity hash of a row; 0 if it has no words."""
    entry = store.rows[row].entry
    return store.entries[entry].text if entry >= 0 else _ZERO


@kernel(types.int64(STORE, types.int64, types.uint64))
def latest(store: Any, bits: Any, page: Any) -> Any:
    """The version of a page that was added last; −1 if there is none."""
    return with_key(store.row_tables[BY_PAGE], bits, store.rows.page, page)


@part(types.int64(STORE, types.int64, types.uint64, types.uint64, types.uint64))
def version(store: Any, bits: Any, page: Any, text: Any, file: Any) -> Any:
    """The row of a page with this content: the same words, or, without words, the same file."""
    row = latest(store, bits, page)
    while row >= 0:
        if text_of_row(store, row) == text and (text != _ZERO or store.rows[row].file == file):
            return row
        row = types.int64(store.rows[row].older)
    return -1


@kernel(types.Array(types.int64, 1, "C")(STORE, types.uint64))
def versions_of(store: Any, page: Any) -> Any:
    """The rows of a page, the one added last first."""
    row = latest(store, number_bits(store.row_tables[BY_PAGE]), page)
    rows, size = np.empty(8, np.int64), 0
    while row >= 0:
        if size == rows.size:
            more = np.empty(2 * size, np.int64)
            for i in range(size):  # not by slices: see `tokens`
                more[i] = rows[i]
            rows = more
        rows[size] = row
        size += 1
        row = types.int64(store.rows[row].older)
    return rows[:size]


@part(types.boolean(STORE, types.int64, types.int64))
def superseded(store: Any, bits: Any, row: Any) -> Any:
    """Whether a later fetch found other content at the row's URL."""
    other = latest(store, bits, store.rows[row].page)
    while other >= 0:
        if store.rows[other].last > store.rows[row].last:
            return True
        other = types.int64(store.rows[other].older)
    return False


@part(types.int64(STORE))
def new_entry(store: Any) -> Any:
    """Room for an identity set."""
    store.numbers[LIVE_ENTRIES] += 1
    return take_number(store.free_entries, store.numbers, FREE_ENTRIES, ENTRIES)


@part(types.int64(STORE, types.int64, ROWS_TYPE, types.int64, BYTES, types.boolean))
def new_row(store: Any, bits: Any, arrivals: Any, i: Any, url: Any, blank: Any) -> Any:
    """A row for a version that the window does not hold; it is in no set yet. `blank`: it has no
    words, so that it can be nobody's original."""
    numbers, rows = store.numbers, store.rows
    row = take_number(store.free_rows, numbers, FREE_ROWS, ROWS)
    numbers[LIVE_ROWS] += 1
    older = latest(store, bits, arrivals[i].page)
    rows[row] = arrivals[i]
    rows[row].url, rows[row].state, rows[row].entry = keep(store, url), LIVE, -1
    rows[row].older = older
    slots, hashed = store.row_tables[BY_PAGE], mix(arrivals[i].page)
    if older >= 0:
        swap(slots, bits, hashed, older, row)
    else:
        put(slots, bits, hashed, row)
    if blank:
        rows[row].state |= BLANK
        numbers[BLANK_ROWS] += 1
    else:
        numbers[ENTERED] += 1
        join(store, row)
    enqueue(store, rows[row].last, row)
    return row


@part(types.void(STORE, types.int64, types.int64))
def _unlink(store: Any, bits: Any, row: Any) -> None:
    """Take a row out of the versions of its page."""
    page, older = store.rows[row].page, types.int64(store.rows[row].older)
    other = latest(store, bits, page)
    if other == row:
        slots = store.row_tables[BY_PAGE]
        if older >= 0:
            swap(slots, bits, mix(page), row, older)
        else:
            take(slots, bits, mix(page), row)
        return
    while store.rows[other].older != row:
        other = types.int64(store.rows[other].older)
    store.rows[other].older = older


@part(types.void(STORE, types.int64, types.int64))
def _leave_set(store: Any, entry_bits: Any, row: Any) -> None:
    """Take a row out of its identity set, and the set out of the window when it is empty."""
    entry = types.int64(store.rows[row].entry)
    if entry < 0:
        return
    remove_text(store, entry, row)
    if store.entries[entry].count:
        led_no_more(store, entry)
        return
    leave(store, entry_bits, entry)
    leave_class(store, entry)
    store.entries[entry].text = _ZERO
    give_number(store.free_entries, store.numbers, FREE_ENTRIES, entry)
    store.numbers[LIVE_ENTRIES] -= 1


@part(types.void(STORE, types.int64, types.int64, types.int64))
def _leave(store: Any, bits: Any, entry_bits: Any, row: Any) -> None:
    """Take a row out of everything but the queue."""
    _leave_set(store, entry_bits, row)
    remove_file(store, bits, row)
    _unlink(store, bits, row)
    part_with(store, row)
    if store.rows[row].state & BLANK:
        store.numbers[BLANK_ROWS] -= 1
    store.rows[row].state = 0
    store.rows[row].next = store.numbers[GRAVES]
    store.numbers[GRAVES] = row
    store.numbers[LIVE_ROWS] -= 1


@part(types.boolean(STORE, types.int64, types.int64, types.int64, types.int64))
def _precedes(store: Any, time: Any, row: Any, other_time: Any, other: Any) -> Any:
    """Of two versions whether one was seen sooner; ties go by content, never by who came first."""
    if time != other_time:
        return time < other_time
    text, other_text = text_of_row(store, row), text_of_row(store, other)
    if text != other_text:
        return text < other_text
    return store.rows[row].file < store.rows[other].file


@part(types.int64(STORE, types.int64, types.uint64))
def _surplus(store: Any, bits: Any, page: Any) -> Any:
    """A version that is neither the one of its page that was seen first, nor among so many that
    were seen last: of several, the one seen last longest ago. −1 if there is none."""
    rows, surplus = store.rows, -store.numbers[MAX_VERSIONS]
    newest = latest(store, bits, page)
    first, other = newest, newest
    while other >= 0:
        surplus += 1
        if _precedes(store, rows[other].first, other, rows[first].first, first):
            first = other
        other = types.int64(rows[other].older)
    if surplus <= 0:
        return -1
    oldest, other = -1, newest
    while other >= 0:
        if other != first and (
            oldest < 0 or _precedes(store, rows[other].last, other, rows[oldest].last, oldest)
        ):
            oldest = other
        other = types.int64(rows[other].older)
    if oldest >= 0 and _precedes(store, rows[first].last, first, rows[oldest].last, oldest):
        surplus -= 1  # the first stays, beside those that were seen last
    return oldest if surplus > 0 else -1


@part(types.int64(STORE, types.int64, types.int64, types.uint64))
def let_leave(store: Any, bits: Any, entry_bits: Any, page: Any) -> Any:
    """Versions that a page has too many leave, then all whose time is over; how many did.

    One loop for all: what `_leave` calls would be compiled a second time in a loop of its own.
    """
    count, too_many = 0, True
    while True:
        row = _surplus(store, bits, page) if too_many else -1
        too_many = row >= 0
        early = too_many
        if not too_many:
            row = expired(store)
            if row < 0:
                return count
            other = over_share(store, row)
            early = other >= 0
            if early:
                row = other
                store.numbers[CROWDED_EVER] += 1
            else:
                dequeue(store, row)
        _leave(store, bits, entry_bits, row)
        if early:
            store.rows[row].state, store.rows[row].last = DISMISSED, NO_TIME
            store.numbers[DISMISSED_ROWS] += 1
            store.numbers[DISMISSED_EVER] += 1 if too_many else 0
        count += 1


@kernel(types.void(STORE))
def bury(store: Any) -> None:
    """The room of rows that left is free from now: who was told of them has read their URLs."""
    numbers = store.numbers
    while numbers[GRAVES] >= 0:
        row = numbers[GRAVES]
        numbers[GRAVES] = store.rows[row].next
        release(store, store.rows[row].url, store.rows[row].length)
        if store.rows[row].state & DISMISSED:  # the queue still holds this number
            store.rows[row].state = STRIPPED
        else:
            give_number(store.free_rows, numbers, FREE_ROWS, row)
