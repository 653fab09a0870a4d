"""Zeros of which memory is taken where something is written, 4 kB at a time.

Of an array that numpy makes as large, the system gives 2 MB for a single number: a table in which
a few entries stand anywhere would take all of its memory. Anonymous memory; no file is touched.
"""

from __future__ import annotations

from math import prod
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def sparse_zeros(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """Zeros, as numpy's own.

    >>> sparse_zeros((2, 3), np.uint32).tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    count = prod(shape)
    room = mmap(-1, max(1, count * np.dtype(kind).itemsize), flags=MAP_PRIVATE | MAP_ANONYMOUS)
    return np.frombuffer(room, kind, count).reshape(shape)
