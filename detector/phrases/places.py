"""Which shingles are popular, found by counting (Fetterly et al. 2005, §3.3).

What `popular` finds by sorting: the values of a function are counted in a table, and each page is
asked whether its value has as many as makes it popular. Values that somebody chose so that they
meet in the table are counted no further than a bound on the steps allows: then nothing is found
here, and they are sorted. Never says which values these are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OUT_COUNTS, kernel, part, types
from reusewatch.detector.compiling.mixers import mix

_STEPS = 8
"""Looks at the table for each value, on average: with room for three of two it is two or so."""
_VALUES = types.Array(types.uint32, 2, "C", readonly=True)
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


@kernel(types.boolean(_VALUES, types.int64, types.int64, types.int64, _FOUND))
def _counted(values: Any, begin: Any, least: Any, size: Any, found: Any) -> Any:
    """Note of each page, and of functions from `begin` on, whether the value is popular. `size`: of
    the table."""
    keys, counts = np.empty(size, np.uint32), np.empty(size, np.uint32)
    slots = np.empty(values.shape[1], np.uint32)
    for one in range(values.shape[0]):
        if not _count(values, one, keys, counts, slots, least, found, begin + one):
            return False
    return True


def counted_places(
    groups: Iterable[NDArray[np.uint32]], pages: int, *, functions: int, least: int
) -> NDArray[np.bool_] | None:
    """Of the values of so many functions, some functions after the others, a row each: whether the
    value of each page is popular. None where the values do not let themselves be counted."""
    found, begin = np.zeros((functions, pages), np.bool_), 0
    size = 1 << max(4, (pages + pages // 2).bit_length())
    for values in groups:
        if not _counted(values, begin, least, size, found):
            return None
        begin += len(values)
    return found
