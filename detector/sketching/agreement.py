"""How far two pages agree by their sketches (Henzinger 2006, §2).

B-similarity counts supershingles, C-similarity bits of the simhashes. A page without words agrees
with no other page: its sketches say that there was nothing to sketch, not what it is.

Plain functions of one pair, for whoever tells people about it; a whole window is compared by the
kernels of `window.neighbors`, which must find the same. Never decides what is near.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BITS = 384
"""Bits of a simhash (Henzinger 2006, §3.3)."""
NO_SUPERSHINGLE = 0
"""Every supershingle of a page without phrases; a page with phrases never has it."""


def b_similarity(one: NDArray[Any], other: NDArray[Any]) -> int:
    """Number of identical entries of two supershingle vectors, whole or of 32 bits each.

    >>> b_similarity(np.array([7, 8, 0]), np.array([7, 9, 0]))
    1
    """
    return int(np.count_nonzero((one == other) & (one != NO_SUPERSHINGLE)))


def distance(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    """Number of bits in which two simhashes differ."""
    return int(np.bitwise_count(one ^ other).sum())


def c_similarity(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    """Number of bits in which two pages agree; 0 where one of them has no tokens."""
    if not (one.any() and other.any()):  # else all empty pages would be copies of each other
        return 0
    return BITS - distance(one, other)
