"""Which number a new row, set or class has: one that another gave back, or the next one.

Numbers are places in arrays: used again, they keep the arrays as short as the window. Those that
were given back stand in an array; how many these are, and how many were ever given, are two of
the store's numbers, whose places the caller names.
"""

from __future__ import annotations

from typing import Any

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, part, types
from reusewatch.detector.window.store import LINKS


@part(types.int64(LINKS, OUT_OFFSETS, types.int64, types.int64))
def take_number(free: Any, numbers: Any, free_count: Any, given_count: Any) -> Any:
    """A number that nobody has: the one that was given back last, if any was."""
    if numbers[free_count]:
        numbers[free_count] -= 1
        return types.int64(free[numbers[free_count]])
    numbers[given_count] += 1
    return numbers[given_count] - 1


@part(types.void(LINKS, OUT_OFFSETS, types.int64, types.int64))
def give_number(free: Any, numbers: Any, free_count: Any, number: Any) -> None:
    """Give a number back; `free` has room for every number that was given."""
    free[numbers[free_count]] = number
    numbers[free_count] += 1
