"""Arrays of the window: of zeros, in large pages of memory, and longer without a second copy.

A table is looked at anywhere. In pages of 4 kB most looks miss what the processor knows of pages,
too, and cost half as much again; so large arrays ask for pages of 2 MB. numpy would ask for them
for each array of 4 MB, those of a moment too, and they cost more to clear than they gain: commands
tell numpy not to.

A part of an array that nobody wrote to takes no memory.
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
    size = prod(sizes) * dtype.itemsize
    if size < _LARGE:
        return np.zeros(sizes, dtype)
    held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(AttributeError, OSError):  # not on every system
        held.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(held, dtype).reshape(sizes)


def longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A copy with room for more at the end."""
    grown = zeros((*array.shape[:-1], size), array.dtype)
    grown[..., : array.shape[-1]] = array
    return grown


def moved(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The same with room for more, of one dimension; nobody may look at the old one any more.

    Its memory is given back while it is copied: the store is not there twice.
    """
    grown, old = zeros(size, array.dtype), array.view(np.uint8)
    new, held = grown.view(np.uint8), _held(array)
    for start in range(0, len(old), _PIECE):
        piece = old[start : start + _PIECE]
        new[start : start + len(piece)] = piece
        if held is not None:
            held.madvise(mmap.MADV_DONTNEED, start, len(piece))
    return grown


def _held(array: NDArray[Any]) -> mmap.mmap | None:
    """The memory that holds this array, and nothing else."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    whole = isinstance(base, mmap.mmap) and len(base) == array.nbytes
    return base if whole and hasattr(base, "madvise") else None
