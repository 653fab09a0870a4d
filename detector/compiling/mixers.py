"""The mixers that all sketches share.

`mix` is a fixed bijection on 64 bits that lets every bit of its input reach every bit of its
output; `chain` folds a sequence, one value after the other, so that order matters. Neither
knows a key: callers bring keyed constants from `HashScheme.numbers`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import kernel, part, types

_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_HALF = np.uint64(32)
_SHIFT = np.uint64(33)


@kernel(types.uint64(types.uint64))
def mix(x: Any) -> Any:
    """A bijection on 64 bits whose every output bit depends on every input bit (MurmurHash3)."""
    x ^= x >> _SHIFT
    x *= _FIRST
    x ^= x >> _SHIFT
    x *= _SECOND
    return x ^ (x >> _SHIFT)


@part(types.uint64(types.uint64, types.uint64, types.uint64))
def chain(state: Any, value: Any, factor: Any) -> Any:
    """One step of a sequence hash; a bijection of `state` for each value and the reverse."""
    state = (state ^ value) * factor
    # Without the fold the low bits of a product never see the high bits of earlier values.
    return state ^ (state >> _HALF)
