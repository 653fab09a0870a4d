"""URLs, end to end in one array of bytes; the room of one that left is used again.

In units of eight bytes. Room that was freed is kept by its size, each piece holding where the
next of its size is, so that neither needs a pause. What no size fits is won back by
`compact`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import BYTES, kernel, part, types
from reusewatch.detector.window.store import ARENA, ARENA_FREE, LIVE, ROWS, SEEN_TYPE, STORE

UNIT = 8
SIZES = 1024
"""Sizes whose room is used again at once: URLs up to 8 KiB. A longer one waits for `compact`."""

_BYTE = np.int64(255)


@part(types.int64(types.int64))
def units(length: Any) -> Any:
    """Units that a URL takes."""
    return max((length + UNIT - 1) // UNIT, 1)


@part(types.int64(STORE, types.int64))
def following_piece(store: Any, at: Any) -> Any:
    """The next free piece of a size after this one; −1 after the last."""
    after = types.int64(0)
    for i in range(UNIT):
        after |= types.int64(store.arena[at * UNIT + i]) << (8 * i)
    return after - 1


@part(types.int64(STORE, BYTES))
def keep(store: Any, url: Any) -> Any:
    """Put a URL into the arena, which must have room; returns where."""
    size = units(url.size)
    at = store.arena_free[size] if size < SIZES else -1
    if at >= 0:
        store.arena_free[size] = following_piece(store, at)
        store.numbers[ARENA_FREE] -= size
    else:
        at = store.numbers[ARENA]
        store.numbers[ARENA] += size
    for i in range(url.size):
        store.arena[at * UNIT + i] = url[i]
    return at


@part(types.void(STORE, types.int64, types.int64))
def release(store: Any, at: Any, length: Any) -> None:
    """A URL is needed no more."""
    size = units(length)
    store.numbers[ARENA_FREE] += size
    if size >= SIZES:
        return
    after = store.arena_free[size] + 1
    for i in range(UNIT):
        store.arena[at * UNIT + i] = (after >> (8 * i)) & _BYTE
    store.arena_free[size] = at


@kernel(types.void(STORE, types.Array(types.uint8, 1, "C")))
def compact(store: Any, arena: Any) -> None:
    """Copy all URLs into another array, without gaps."""
    at = 0
    for row in range(store.numbers[ROWS]):
        if not store.rows[row].state & LIVE:
            continue
        length = types.int64(store.rows[row].length)
        begin, size = types.int64(store.rows[row].url) * UNIT, units(length)
        # Not by slices: numba would load what copies arrays of any shape.
        for i in range(length):
            arena[at * UNIT + i] = store.arena[begin + i]
        store.rows[row].url = at
        at += size
    store.numbers[ARENA], store.numbers[ARENA_FREE] = at, 0
    for i in range(store.arena_free.size):
        store.arena_free[i] = -1


@kernel(types.Array(types.uint8, 1, "C")(STORE, SEEN_TYPE))
def read_out(store: Any, found: Any) -> Any:
    """The URLs of pages that are named, end to end; from here on they name places in it."""
    size = types.int64(0)
    for i in range(found.size):
        size += found[i].length
    urls, at = np.empty(size, np.uint8), types.int64(0)
    for i in range(found.size):
        begin = types.int64(found[i].url) * UNIT
        for j in range(found[i].length):
            urls[at + j] = store.arena[begin + j]
        found[i].url = at
        at += types.int64(found[i].length)
    return urls
