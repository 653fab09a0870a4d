"""Arrays of zeros of which memory is taken where something is written: in large pages, or in small
ones, and longer without a second copy.

A table of the window is looked at anywhere. In pages of 4 kB most looks miss what the processor
knows of pages, too, and cost half as much again; so large arrays ask for pages of 2 MB. numpy would
ask for them for each array of 4 MB, those of a moment too, and they cost more to clear than they
gain: commands tell numpy not to. A table in which a few entries stand anywhere wants small pages:
in large ones it would take all of its memory.

Anonymous memory; no file is touched.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_LARGE = 4 << 20
_PIECE = 4 << 20


def zeros(shape: int | tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """An array of zeros, in large pages where it is large and the machine has them."""
    dtype, sizes = np.dtype(kind), (shape,) if isinstance(shape, int) else shape
    if prod(sizes) * dtype.itemsize < _LARGE:
        return np.zeros(sizes, dtype)
    found = sparse_zeros(sizes, dtype)
    held = _held(found)
    if held is not None:
        with suppress(AttributeError, OSError):  # not on every system
            held.madvise(mmap.MADV_HUGEPAGE)
    return found


def sparse_zeros(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """Zeros, of which memory is taken 4 kB at a time.

    >>> sparse_zeros((2, 3), np.uint32).tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    count = prod(shape)
    size = max(1, count * np.dtype(kind).itemsize)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no room for {size} bytes") from error
    return np.frombuffer(room, kind, count).reshape(shape)


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A copy with room for more at the end."""
    grown = zeros((*array.shape[:-1], size), array.dtype)
    grown[..., : array.shape[-1]] = array
    return grown


def move(array: NDArray[Any], longer: NDArray[Any]) -> None:
    """What stands in an array of one dimension, to the begin of a longer one; nobody may look at
    the old one any more.

    Its memory is given back while it is copied: the store is not there twice.
    """
    old, new, held = array.view(np.uint8), longer.view(np.uint8), _held(array)
    for start in range(0, len(old), _PIECE):
        piece = old[start : start + _PIECE]
        new[start : start + len(piece)] = piece
        if held is not None:
            held.madvise(mmap.MADV_DONTNEED, start, len(piece))


def _held(array: NDArray[Any]) -> mmap.mmap | None:
    """The memory that holds this array, and nothing else."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    whole = isinstance(base, mmap.mmap) and len(base) == array.nbytes
    return base if whole and hasattr(base, "madvise") else None
