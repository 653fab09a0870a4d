"""Which row leaves next: the one last seen longest ago, by event time.

A heap of four children a node: what a step compares lies in one or two lines of memory. A row
seen again moves back in the queue only when its turn comes. A row that left before its turn stays
in the queue until it stands at the head, or until `sweep`: to find it would take a look at all.
Knows no clock: age is measured against the newest fetch.
"""

from __future__ import annotations

from typing import Any

from numba import types

from reusewatch.detector.compiling.kernels import kernel, part
from reusewatch.detector.window.numbering import give_number
from reusewatch.detector.window.store import (
    DISMISSED_ROWS,
    FREE_ROWS,
    LIVE_ROWS,
    MAX_AGE,
    MAX_ROWS,
    NEWEST,
    NO_TIME,
    QUEUED,
    STORE,
    STRIPPED,
)


@part(types.boolean(STORE, types.int64, types.int64, types.int64, types.int64))
def _sooner(store: Any, due: Any, row: Any, other_due: Any, other: Any) -> Any:
    """Ties go by page id: what leaves must not depend on who came first."""
    if due != other_due:
        return due < other_due
    return store.rows[row].page < store.rows[other].page


@part(types.void(STORE, types.int64, types.int64))
def enqueue(store: Any, due: Any, row: Any) -> None:
    """A row enters the queue."""
    at = store.numbers[QUEUED]
    store.numbers[QUEUED] += 1
    while at > 0:
        parent = (at - 1) >> 2
        if not _sooner(store, due, row, store.due[parent], store.due_row[parent]):
            break
        store.due[at], store.due_row[at] = store.due[parent], store.due_row[parent]
        at = parent
    store.due[at], store.due_row[at] = due, row


@part(types.void(STORE, types.int64, types.int64, types.int64))
def _sink(store: Any, at: Any, due: Any, row: Any) -> None:
    """Put a row at a place of the queue, and let it sink to where it belongs."""
    size = store.numbers[QUEUED]
    while True:
        child = 4 * at + 1
        if child >= size:
            break
        for other in range(child + 1, min(child + 4, size)):
            if _sooner(store, store.due[other], store.due_row[other],
                       store.due[child], store.due_row[child]):  # fmt: skip
                child = other
        if not _sooner(store, store.due[child], store.due_row[child], due, row):
            break
        store.due[at], store.due_row[at] = store.due[child], store.due_row[child]
        at = child
    store.due[at], store.due_row[at] = due, row


@part(types.void(STORE))
def dequeue(store: Any) -> None:
    """The first of the queue leaves it."""
    store.numbers[QUEUED] -= 1
    size = store.numbers[QUEUED]
    if size:
        _sink(store, 0, store.due[size], types.int64(store.due_row[size]))


@part(types.void(STORE, types.int64))
def _forget(store: Any, row: Any) -> None:
    """A row that was dismissed is in the queue no more; its number is free, once it is buried."""
    store.numbers[DISMISSED_ROWS] -= 1
    if store.rows[row].state & STRIPPED:
        give_number(store.free_rows, store.numbers, FREE_ROWS, row)
    store.rows[row].state = 0


@kernel(types.void(STORE))
def sweep(store: Any) -> None:
    """Take all that was dismissed out of the queue; in time linear in the queue."""
    numbers, size = store.numbers, 0
    for at in range(numbers[QUEUED]):
        row = types.int64(store.due_row[at])
        if store.rows[row].last == NO_TIME:
            _forget(store, row)
        else:
            store.due[size], store.due_row[size] = store.due[at], row
            size += 1
    numbers[QUEUED] = size
    for at in range((size - 2) >> 2, -1, -1):
        _sink(store, at, store.due[at], types.int64(store.due_row[at]))


@part(types.int64(STORE))
def expired(store: Any) -> Any:
    """A row that must leave now, at the head of the queue; −1 if all may stay."""
    while store.numbers[QUEUED]:
        row = types.int64(store.due_row[0])
        last = store.rows[row].last
        if last == NO_TIME:
            dequeue(store)
            _forget(store, row)
            continue
        if last != store.due[0]:
            _sink(store, 0, last, row)
            continue
        many = store.numbers[LIVE_ROWS] > store.numbers[MAX_ROWS]
        age = store.numbers[MAX_AGE]
        if many or (age >= 0 and last < store.numbers[NEWEST] - age):
            return row
        return -1
    return -1
