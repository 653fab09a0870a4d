"""Arrow's arrays of numpy's.

`pa.array` asks of each whether it is masked, and numpy loads its masked arrays to say what that is:
a fiftieth of a start. Here they are taken as they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def array_of(values: NDArray[Any]) -> pa.Array:
    """Numbers without a copy, truths packed; none of them null.

    >>> array_of(np.array([True, False, True])).to_pylist()
    [True, False, True]
    """
    held = np.packbits(values, bitorder="little") if values.dtype == np.bool_ else values
    kind, data = pa.from_numpy_dtype(values.dtype), pa.py_buffer(np.ascontiguousarray(held))
    return pa.Array.from_buffers(kind, len(values), [None, data])


def values_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Python's values, each of this kind or not there."""
    # Of values that are not there Arrow would ask one by one, and for all that each might have.
    if not len(values) or (values[0] is None and values.count(None) == len(values)):
        return pa.nulls(len(values), kind)
    return pa.array(values, kind)
