"""Saved arrays are checked before kernels use them: a kernel follows a number past every end.

A checksum says that a file is what was written, and not who wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.errors import BadState

Saved = Mapping[str, NDArray[Any]]
Range = tuple[int, int]


class Kept(NamedTuple):
    """How an array is saved: `shape` has None for any length; numbers are from the first of `range`
    on and below the second. Of records, which are saved as bytes, each field may have a range."""

    kind: Any
    shape: tuple[int | None, ...]
    range: Range | Mapping[str, Range] | None = None


def check(saved: Saved, kept: Mapping[str, Kept]) -> None:
    """Refuse arrays that are not as described. Raises BadState."""
    for name, (kind, shape, allowed) in kept.items():
        array = array_of(saved, name, kind, shape)
        if isinstance(allowed, tuple):
            within(name, array, *allowed)
        else:
            for field, limits in (allowed or {}).items():
                within(f"{name}.{field}", array[field], *limits)


def array_of(saved: Saved, name: str, kind: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """The array, of records if it has them. Raises BadState where it is another."""
    array, wanted = saved.get(name), np.dtype(kind)
    if array is None:
        raise BadState(f"{name} is missing")
    if wanted.names and array.dtype == np.uint8 and array.ndim == 1:
        if array.size % wanted.itemsize:
            raise BadState(f"{name} has {array.size} bytes, in records of {wanted.itemsize}")
        array = np.ascontiguousarray(array).view(wanted)
    fits = len(shape) == array.ndim and all(
        size in (None, found) for size, found in zip(shape, array.shape, strict=True)
    )
    if array.dtype != wanted or not fits:
        raise BadState(f"{name} is {array.dtype} {array.shape}, and not {wanted} {shape}")
    return array


def within(name: str, numbers: NDArray[Any], low: int, end: int) -> None:
    """Refuse numbers below `low`, or from `end` on."""
    if numbers.size and (int(numbers.min()) < low or int(numbers.max()) >= end):
        raise BadState(f"{name} has {numbers.min()} to {numbers.max()}, outside {low} to {end - 1}")
