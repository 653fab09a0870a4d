"""Hash tables of numbers: which rows may have a key, found with one look at memory.

A table holds row numbers, never keys: a slot is a few bits of the key's hash and the number, and
whoever looks a key up compares it with the row itself. Fifteen slots and, before them, a count of
those that found no room fill one cache line, and are compared at once; who finds no room goes to
the next line. Rows that leave are taken out at once, without a mark left behind.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OUT_COUNTS, kernel, part, types
from reusewatch.detector.compiling.lines import LINE, first_of, is_from
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.large_arrays import zeros

_LOAD = 12

_LAST = np.int64(LINE - 1)
_SLOTS = np.int64(-2)
_ZERO, _ONE = np.uint32(0), np.uint32(1)
_HALF = np.uint64(32)
_LOW = np.uint64((1 << 32) - 1)
# One field of all records: what lies between two keys are the other fields.
_KEYS = types.Array(types.uint64, 1, "A", aligned=False)


def slots_for(capacity: int) -> int:
    """Words of a table for so many numbers, at four fifths of its slots."""
    return (capacity // _LOAD + 2) * LINE


def capacity_of(slots: NDArray[np.uint32]) -> int:
    """So many numbers a table has room for."""
    return (len(slots) // LINE - 2) * _LOAD


def empty_tables(tables: int, capacity: int) -> NDArray[np.uint32]:
    """Tables of one size, a row each."""
    return zeros((tables, slots_for(capacity)), np.uint32)


@kernel(types.int64(OUT_COUNTS))
def number_bits(slots: Any) -> Any:
    """Bits of a slot that are the number; the others are of the key's hash."""
    bits = 1
    while (slots.size >> bits) > 0:
        bits += 1
    return bits


@kernel(types.int64(OUT_COUNTS, types.uint64))
def home(slots: Any, hashed: Any) -> Any:
    """Where the line of a hash begins."""
    lines = types.uint64(slots.size // LINE)
    return types.int64(((hashed >> _HALF) * lines) >> _HALF) * LINE


@part(types.int64(types.uint64, types.int64))
def mark_of(hashed: Any, bits: Any) -> Any:
    """What a slot has of a key's hash."""
    return types.int64(hashed & _LOW) >> bits


@part(types.int64(OUT_COUNTS, types.int64, types.int64))
def number(slots: Any, bits: Any, at: Any) -> Any:
    """The number in a slot."""
    return (types.int64(slots[at]) & ((1 << bits) - 1)) - 1


@kernel(types.int64(OUT_COUNTS, types.int64, types.uint64, types.int64))
def seek(slots: Any, bits: Any, hashed: Any, at: Any) -> Any:
    """The next slot after `at` that may have the key; −1 after the last. Begins at `home`."""
    begin, line = home(slots, hashed), at & ~_LAST
    slot = types.uint32((mark_of(hashed, bits) << bits) + 1)
    numbers = types.uint32((1 << bits) - 1)
    found = is_from(slots, line, slot, numbers) & (-2 << (at & _LAST))
    while found == 0:
        if slots[line] == _ZERO:
            return -1
        line += LINE
        if line == slots.size:
            line = 0
        if line == begin:  # a small table can be full all around
            return -1
        found = is_from(slots, line, slot, numbers) & _SLOTS
    return line + first_of(found)


@part(types.int64(OUT_COUNTS, types.int64, _KEYS, types.uint64))
def with_key(slots: Any, bits: Any, keys: Any, key: Any) -> Any:
    """The number under which this key was entered, hashed by `mix`; −1 if it was not.

    `keys` has the key of each number.
    """
    hashed = mix(key)
    at = seek(slots, bits, hashed, home(slots, hashed))
    while at >= 0:
        candidate = number(slots, bits, at)
        if keys[candidate] == key:
            return candidate
        at = seek(slots, bits, hashed, at)
    return -1


@kernel(types.void(OUT_COUNTS, types.int64, types.uint64, types.int64))
def put(slots: Any, bits: Any, hashed: Any, row: Any) -> None:
    """Enter a number; the table must have room."""
    value = (mark_of(hashed, bits) << bits) | (row + 1)
    at = home(slots, hashed)
    while True:
        free = is_from(slots, at, _ZERO, _ONE) & _SLOTS
        if free:
            slots[at + first_of(free)] = value
            return
        slots[at] += 1
        at += LINE
        if at == slots.size:
            at = 0


@part(types.int64(OUT_COUNTS, types.int64, types.uint64, types.int64))
def slot_of(slots: Any, bits: Any, hashed: Any, row: Any) -> Any:
    """The slot of a number under a hash; −1 if it has none."""
    at = seek(slots, bits, hashed, home(slots, hashed))
    while at >= 0 and number(slots, bits, at) != row:
        at = seek(slots, bits, hashed, at)
    return at


@kernel(types.boolean(OUT_COUNTS, types.int64, types.uint64, types.int64))
def take(slots: Any, bits: Any, hashed: Any, row: Any) -> Any:
    """Take a number out; whether it was there."""
    found = slot_of(slots, bits, hashed, row)
    if found < 0:
        return False
    slots[found] = _ZERO
    at = home(slots, hashed)
    while at != found & ~_LAST:  # the lines that had no room for it have one less to send on
        slots[at] -= 1
        at += LINE
        if at == slots.size:
            at = 0
    return True


@part(types.void(OUT_COUNTS, types.int64, types.uint64, types.int64, types.int64))
def swap(slots: Any, bits: Any, hashed: Any, row: Any, other: Any) -> None:
    """Another number takes the slot of this one, under the same hash."""
    at = slot_of(slots, bits, hashed, row)
    slots[at] = (mark_of(hashed, bits) << bits) | (other + 1)
