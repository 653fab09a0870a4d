"""How the memory of a process that judges is given back, where the C library is glibc.

Arrays of the window are made anew as it grows, and the old ones leave holes among small objects
that nothing else fits into: so large arrays stand apart, and what is free goes back to the system
from time to time. Elsewhere nothing is done.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

LARGE = 4 << 20
"""Bytes from which on an allocation stands apart: what a batch needs is below."""
_FREE = 16 << 20
# Of malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


@cache
def _libc() -> Any | None:
    try:
        found = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return found if hasattr(found, "mallopt") and hasattr(found, "malloc_trim") else None


@cache
def keep_large_apart() -> None:
    """From now on; glibc else raises the bound to the largest array that was ever freed."""
    if (libc := _libc()) is not None:
        libc.mallopt(_MMAP_THRESHOLD, LARGE)
        # Told with the other, or each array that is freed at the end shrinks the heap at once.
        libc.mallopt(_TRIM_THRESHOLD, _FREE)


def give_back() -> None:
    """What is free goes back to the system; takes milliseconds."""
    if (libc := _libc()) is not None:
        libc.malloc_trim(0)
