"""How kernels are compiled: without the GIL, and kept on disk where they are called from Python.

numba keeps an entry's machine code beside its source, or in the user's cache directory, and asks
for the entry's own file only when it decides whether that code is current.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def part(function: F) -> F:
    """A kernel that only kernels call."""
    return cast(F, numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)(function))


def entry(function: F) -> F:
    """A kernel that Python calls: compiled at its first call, then loaded from disk."""
    return cast(F, numba.njit(nogil=True, cache=True, _nrt=False)(function))
