"""The bytes of a page, as all parts of the scan read them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, int64, part, uint64


@part(inline=True)
def byte_at(buf: NDArray[np.uint8], at: Int) -> Int:
    """A byte of the page. An index without a sign needs no check for counting from the end."""
    return int64(buf[uint64(at)])
