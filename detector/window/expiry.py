"""Which row leaves next: the one last seen longest ago, by event time.

A heap of four children a node: what a step compares lies in one or two lines of memory. A row
seen again moves back in the queue only when its turn comes. A row that left before its turn stays
in the queue until it stands at the head, or until `sweep`: to find it would take a look at all.
Pages without words stand in a queue of their own, at the other end of the same arrays, and have a
bound of their own: a thousand empty pages take no room from those that can be copied.
Knows no clock: age is measured against the newest fetch.
"""

from __future__ import annotations

from typing import Any

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, kernel, part, types
from reusewatch.detector.window.numbering import give_number
from reusewatch.detector.window.store import (
    BLANK,
    BLANK_ROWS,
    BLANKS_QUEUED,
    DISMISSED_ROWS,
    FREE_ROWS,
    LINKS,
    LIVE_ROWS,
    MAX_AGE,
    MAX_BLANKS,
    MAX_ROWS,
    NEWEST,
    NO_TIME,
    QUEUED,
    ROWS_TYPE,
    STORE,
    STRIPPED,
)


@part(types.boolean(ROWS_TYPE, types.int64, types.int64, types.int64, types.int64))
def sooner(rows: Any, due: Any, row: Any, other_due: Any, other: Any) -> Any:
    """Ties go by page id: what leaves must not depend on who came first."""
    if due != other_due:
        return due < other_due
    return rows[row].page < rows[other].page


# A queue is `size` places of two arrays, from `begin` on, forward or backward by its `step`.
_PLACES = (ROWS_TYPE, OUT_OFFSETS, LINKS, types.int64, types.int64)


@part(types.void(*_PLACES, types.int64, types.int64, types.int64))
def rise(
    rows: Any, dues: Any, queue: Any, begin: Any, step: Any, at: Any, due: Any, row: Any
) -> None:
    """Put a row at the place behind a queue, and let it rise to where it belongs."""
    while at > 0:
        parent = (at - 1) >> 2
        above = begin + step * parent
        if not sooner(rows, due, row, dues[above], queue[above]):
            break
        dues[begin + step * at], queue[begin + step * at] = dues[above], queue[above]
        at = parent
    dues[begin + step * at], queue[begin + step * at] = due, row


@part(types.void(*_PLACES, types.int64, types.int64, types.int64, types.int64))
def sink(
    rows: Any, dues: Any, queue: Any, begin: Any, step: Any, size: Any, at: Any, due: Any, row: Any
) -> None:
    """Put a row at a place of a queue, and let it sink to where it belongs."""
    while True:
        child = 4 * at + 1
        if child >= size:
            break
        for other in range(child + 1, min(child + 4, size)):
            if sooner(rows, dues[begin + step * other], queue[begin + step * other],
                      dues[begin + step * child], queue[begin + step * child]):  # fmt: skip
                child = other
        below = begin + step * child
        if not sooner(rows, dues[below], queue[below], due, row):
            break
        dues[begin + step * at], queue[begin + step * at] = dues[below], queue[below]
        at = child
    dues[begin + step * at], queue[begin + step * at] = due, row


@part(types.void(STORE, types.int64, types.int64))
def enqueue(store: Any, due: Any, row: Any) -> None:
    """A row enters its queue."""
    if store.rows[row].state & BLANK:
        end, at = store.due.size - 1, store.numbers[BLANKS_QUEUED]
        rise(store.rows, store.due, store.due_row, end, -1, at, due, row)
        store.numbers[BLANKS_QUEUED] += 1
    else:
        rise(store.rows, store.due, store.due_row, 0, 1, store.numbers[QUEUED], due, row)
        store.numbers[QUEUED] += 1


@part(types.void(STORE, types.int64, types.int64, types.int64))
def _dequeue(store: Any, begin: Any, step: Any, which: Any) -> None:
    store.numbers[which] -= 1
    size = store.numbers[which]
    if size:
        last = begin + step * size
        due, row = store.due[last], types.int64(store.due_row[last])
        sink(store.rows, store.due, store.due_row, begin, step, size, 0, due, row)


@part(types.void(STORE, types.int64))
def dequeue(store: Any, row: Any) -> None:
    """The first of a queue leaves it: the row that `expired` named."""
    if store.rows[row].state & BLANK:
        _dequeue(store, store.due.size - 1, -1, BLANKS_QUEUED)
    else:
        _dequeue(store, 0, 1, QUEUED)


@part(types.void(STORE, types.int64))
def _forget(store: Any, row: Any) -> None:
    """A row that was dismissed is in the queue no more; its number is free, once it is buried."""
    store.numbers[DISMISSED_ROWS] -= 1
    if store.rows[row].state & STRIPPED:
        give_number(store.free_rows, store.numbers, FREE_ROWS, row)
    store.rows[row].state = 0


@part(types.void(STORE, types.int64, types.int64, types.int64))
def _sweep(store: Any, begin: Any, step: Any, which: Any) -> None:
    size = 0
    for at in range(store.numbers[which]):
        here = begin + step * at
        row = types.int64(store.due_row[here])
        if store.rows[row].last == NO_TIME:
            _forget(store, row)
        else:
            there = begin + step * size
            store.due[there], store.due_row[there] = store.due[here], row
            size += 1
    store.numbers[which] = size
    for at in range((size - 2) >> 2, -1, -1):
        here = begin + step * at
        due, row = store.due[here], types.int64(store.due_row[here])
        sink(store.rows, store.due, store.due_row, begin, step, size, at, due, row)


@kernel(types.void(STORE))
def sweep(store: Any) -> None:
    """Take all that was dismissed out of the queues; in time linear in them."""
    for which in (QUEUED, BLANKS_QUEUED):
        backward = which == BLANKS_QUEUED
        _sweep(store, store.due.size - 1 if backward else 0, -1 if backward else 1, which)


@part(types.boolean(STORE, types.int64))
def aged(store: Any, row: Any) -> Any:
    """Whether a row is older than the window's age."""
    age = store.numbers[MAX_AGE]
    return age >= 0 and store.rows[row].last < store.numbers[NEWEST] - age


@part(types.int64(STORE, types.int64, types.int64, types.int64, types.boolean))
def _first(store: Any, begin: Any, step: Any, which: Any, many: Any) -> Any:
    """The head of a queue, if it must leave; −1 if it may stay."""
    while store.numbers[which]:
        row = types.int64(store.due_row[begin])
        last = store.rows[row].last
        if last == NO_TIME:
            _dequeue(store, begin, step, which)
            _forget(store, row)
            continue
        if last != store.due[begin]:
            size = store.numbers[which]
            sink(store.rows, store.due, store.due_row, begin, step, size, 0, last, row)
            continue
        return row if many or aged(store, row) else -1
    return -1


@part(types.boolean(STORE))
def crowded(store: Any) -> Any:
    """Whether more pages with words are in the window than it may hold."""
    numbers = store.numbers
    return numbers[LIVE_ROWS] - numbers[BLANK_ROWS] > numbers[MAX_ROWS]


@part(types.int64(STORE))
def expired(store: Any) -> Any:
    """A row that must leave now, at the head of its queue; −1 if all may stay."""
    row = types.int64(-1)
    for which in (QUEUED, BLANKS_QUEUED):
        backward = which == BLANKS_QUEUED
        many = store.numbers[BLANK_ROWS] > store.numbers[MAX_BLANKS] if backward else crowded(store)
        if row < 0:
            begin, step = (store.due.size - 1, -1) if backward else (0, 1)
            row = _first(store, begin, step, which, many)
    return row
