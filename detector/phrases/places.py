"""Which shingles are popular, found by counting (Fetterly et al. 2005, §3.3).

What `popular` finds by sorting: the values of a function are counted in a table, and each page is
asked whether its value has as many as makes it popular. Values that somebody chose so that they
meet in the table are counted no further than a bound on the steps allows: then nothing is found
here, and they are sorted. Never says which values these are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_COUNTS,
    kernel,
    part,
)
from reusewatch.detector.compiling.mixers import mix

_AT_ONCE = 8
"""Functions whose values are taken out of the pages at once: they stand side by side there."""
_STEPS = 8
"""Looks at the table for each value, on average: with room for three of two it is two or so."""
# As much of each as the window keeps. Records may have any size, so that values begin anywhere.
_SHINGLES = types.Array(types.uint32, 2, "A", readonly=True, aligned=False)
_VALUES = types.Array(types.uint32, 2, "C")
_FOUND = types.Array(types.boolean, 2, "C")


@part(types.boolean(_VALUES, types.int64, OUT_COUNTS, OUT_COUNTS, OUT_COUNTS, types.int64,
                    _FOUND, types.int64))  # fmt: skip
def _count(
    values: Any, one: Any, keys: Any, counts: Any, slots: Any, least: Any, found: Any, function: Any
) -> Any:  # fmt: skip
    """Of the values of one function those that are popular; False where it took too many steps."""
    size, room, last = slots.size, _STEPS * (slots.size + keys.size), keys.size - 1
    counts[:] = np.uint32(0)
    for row in range(size):
        value = values[one, row]
        at = types.int64(mix(types.uint64(value)) & types.uint64(last))
        while counts[at] != 0 and keys[at] != value:
            at = (at + 1) & last
            room -= 1
        if room < 0:
            return False
        keys[at] = value
        counts[at] += 1
        slots[row] = at
    for row in range(size):
        found[function, row] = types.int64(counts[slots[row]]) >= least
    return True


@kernel(types.boolean(_SHINGLES, OFFSETS, types.int64, types.int64, _FOUND))
def _counted(shingles: Any, rows: Any, least: Any, size: Any, found: Any) -> Any:
    """Note of each row, and each function, whether the value is popular. `size`: of the table."""
    values = np.empty((_AT_ONCE, rows.size), np.uint32)
    keys, counts = np.empty(size, np.uint32), np.empty(size, np.uint32)
    slots = np.empty(rows.size, np.uint32)
    for begin in range(0, shingles.shape[1], _AT_ONCE):
        some = min(_AT_ONCE, shingles.shape[1] - begin)
        for at in range(rows.size):
            for one in range(some):
                values[one, at] = shingles[rows[at], begin + one]
        for one in range(some):
            if not _count(values, one, keys, counts, slots, least, found, begin + one):
                return False
    return True


def counted_places(
    shingles: NDArray[np.uint32], rows: NDArray[np.int64], *, least: int
) -> NDArray[np.bool_] | None:
    """A row for each function: whether the value of each of these rows is popular. None where the
    values do not let themselves be counted."""
    found = np.zeros((shingles.shape[1], rows.size), np.bool_)
    size = 1 << max(4, (rows.size + rows.size // 2).bit_length())
    return found if _counted(shingles, rows, least, size, found) else None
