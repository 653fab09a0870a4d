"""Values of a column, as numpy has them.

By its buffers and not by Arrow's functions: each is looked for by its name and asked for what it
takes, which for the few hundred pages of a block takes ten times as long as its work. A column may
be a slice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def is_here(column: pa.Array) -> NDArray[np.bool_]:
    """Whether each page has a value: mostly all have, or none."""
    if not column.null_count or column.null_count == len(column):
        return np.full(len(column), not column.null_count)
    bits = np.frombuffer(column.buffers()[0], np.uint8)
    end = column.offset + len(column)
    return np.unpackbits(bits, count=end, bitorder="little")[column.offset :].astype(np.bool_)


def known_of(column: pa.Array, kind: type) -> NDArray[Any]:
    """The numbers of the pages that have one."""
    if column.null_count == len(column):
        return np.empty(0, kind)
    numbers = _numbers(column, kind)
    return numbers[is_here(column)] if column.null_count else numbers


def filled(column: pa.UInt64Array) -> NDArray[np.uint64]:
    """Its numbers, 0 where there is none."""
    if column.null_count == len(column):
        return np.zeros(len(column), np.uint64)
    numbers = _numbers(column, np.uint64)
    return np.where(is_here(column), numbers, np.uint64(0)) if column.null_count else numbers


def _numbers(column: pa.Array, kind: type) -> NDArray[Any]:
    """Those of all pages: behind one that is not there stands any."""
    size = np.dtype(kind).itemsize
    return np.frombuffer(column.buffers()[1], kind, len(column), size * column.offset)


def matrix_of(column: pa.FixedSizeListArray) -> NDArray[Any]:
    """A row a page, of a column in which each page has a list."""
    size = column.type.list_size
    values = column.values.slice(column.offset * size, len(column) * size)
    found: NDArray[Any] = values.to_numpy().reshape(len(column), size)
    return found
