"""Where machine code is kept: on disk, or, where nothing can be written, for this process alone.

The place is numba's to find: the process that loads the kernels names it before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as _numba

# Some of its options are not in its types.
_njit: Any = _numba.njit


def kept(*signature: Any, **options: Any) -> Callable[[Any], Any]:
    """numba's `njit`; what it compiles is kept, if there is a place for it."""

    def compile_(function: Any) -> Any:
        try:
            return _njit(*signature, cache=True, **options)(function)
        except RuntimeError:  # raised before anything is compiled: no place can be written
            return _njit(*signature, **options)(function)

    return compile_
