"""Arrays of zeros of which memory is taken where something is written: in large pages, or in small
ones, and longer without a second copy.

A table of the window is looked at anywhere. In pages of 4 kB most looks miss what the processor
knows of pages, too, and cost half as much again; so large arrays ask for pages of 2 MB. numpy would
ask for them for each array of 4 MB, those of a moment too, and they cost more to clear than they
gain: commands tell numpy not to. A table in which a few entries stand anywhere wants small pages:
in large ones it would take all of its memory.

Each stands apart from what the C library hands out: one that left for a longer one would else leave
a hole among small objects, which nothing as large fits into.

Anonymous memory; no file is touched.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LARGE = 4 << 20
_APART = 64 << 10
_PIECE = 4 << 20


def zeros(shape: int | tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """An array of zeros, in large pages where it is large and the machine has them."""
    dtype, sizes = np.dtype(kind), (shape,) if isinstance(shape, int) else shape
    size = prod(sizes) * dtype.itemsize
    if size < _APART:
        return np.zeros(sizes, dtype)
    room = _room(size)
    if size >= _LARGE:
        with suppress(AttributeError, OSError):  # not on every system
            room.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(room, dtype).reshape(sizes)


def sparse_zeros(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """Zeros, of which memory is taken 4 kB at a time.

    >>> sparse_zeros((2, 3), np.uint32).tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    count = prod(shape)
    room = _room(max(1, count * np.dtype(kind).itemsize))
    return np.frombuffer(room, kind, count).reshape(shape)


def _room(size: int) -> mmap.mmap:
    try:
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no room for {size} bytes") from error


def room_beside(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Zeros like an array with rows of another size."""
    return zeros((*array.shape[:-1], size), array.dtype)


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A copy with room for more at the end."""
    grown = room_beside(array, size)
    grown[..., : array.shape[-1]] = array
    return grown


def move(array: NDArray[Any], longer: NDArray[Any]) -> None:
    """What stands in an array, to the begin of a longer one, row by row where it has several;
    nobody may look at the old one any more."""
    new = longer[..., : array.shape[-1]]
    for part in used_up(array):
        new[part] = array[part]


def used_up(array: NDArray[Any]) -> Iterator[slice]:
    """Parts of an array's first dimension, from its begin to its end. The memory of each is given
    back when the next is asked for, so that what is made of it does not stand in memory twice:
    nobody may look at the old array any more."""
    row = array.itemsize * prod(array.shape[1:])
    held, step = _held(array), max(1, _PIECE // row)
    given = 0
    for start in range(0, len(array), step):
        end = min(start + step, len(array))
        yield slice(start, end)
        # Whole pages: what of the last one belongs to the next part is still to be looked at.
        size = end * row
        whole = size if end == len(array) else size - size % mmap.PAGESIZE
        if held is not None and whole > given:
            held.madvise(mmap.MADV_DONTNEED, given, whole - given)
            given = whole


def _held(array: NDArray[Any]) -> mmap.mmap | None:
    """The memory that holds this array, and nothing else."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    whole = isinstance(base, mmap.mmap) and len(base) == array.nbytes
    return base if whole and hasattr(base, "madvise") else None
