"""How kernels are compiled: without the GIL, and kept on disk where they are called from Python.

Kernels allocate nothing and hold no reference (`_nrt=False`): counting the references to a dozen
arrays in every call between kernels takes ten times as long as the scan.

numba keeps an entry's machine code beside its source, or in the user's cache directory, and asks
for the entry's own file only when it decides whether that code is current.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numba as _numba
import numpy as np

# Within kernels numba infers the types; to the type checker a number there is anything, since it
# knows no numpy number that takes the place of an int.
Int: TypeAlias = Any
Bool: TypeAlias = Any
Tuple: TypeAlias = Any
int64: Any = np.int64
uint64: Any = np.uint64
# Some of its options are not in its types.
_njit: Any = _numba.njit

F = TypeVar("F", bound=Callable[..., object])


def part(function: F) -> F:
    """A kernel that only kernels call."""
    return cast(
        F,
        _njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)(function),
    )


def entry(function: F) -> F:
    """A kernel that Python calls: compiled at its first call, then loaded from disk."""
    return cast(F, _njit(nogil=True, cache=True, _nrt=False)(function))
