"""Arrow's arrays of numpy's.

`pa.array` asks of each whether it is masked, and numpy loads its masked arrays to say what that is:
a fiftieth of a start. Here they are taken as they stand.
"""

from __future__ import annotations

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
