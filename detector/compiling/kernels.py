"""What every kernel stands on: how it is compiled, and the mixers all sketches share.

`mix` is a fixed bijection on 64 bits that lets every bit of its input reach every bit of its
output; `chain` folds a sequence, one value after the other, so that order matters. Neither
knows a key: callers bring keyed constants from `HashScheme.numbers`.

A kernel releases the GIL, allocates its own scratch and keeps nothing between calls.

A kernel's stored machine code is renewed when its own file changes, not when this one does:
after an edit here, `__pycache__` has to go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numba import types

from reusewatch.detector.compiling.cache import kept
from reusewatch.detector.compiling.linking import linked

P = ParamSpec("P")
R = TypeVar("R")

# Inputs are declared read-only: a signature for writable arrays refuses columns that come
# straight out of an Arrow block or a memory map, while this one takes both.
WORDS = types.Array(types.uint64, 1, "C", readonly=True)
WORD_ROWS = types.Array(types.uint64, 2, "C", readonly=True)
OFFSETS = types.Array(types.int64, 1, "C", readonly=True)
COUNTS = types.Array(types.uint32, 1, "C", readonly=True)
BYTES = types.Array(types.uint8, 1, "C", readonly=True)

OUT_WORDS = types.Array(types.uint64, 1, "C")
OUT_WORD_ROWS = types.Array(types.uint64, 2, "C")
OUT_OFFSETS = types.Array(types.int64, 1, "C")
OUT_COUNTS = types.Array(types.uint32, 1, "C")
OUT_BYTES = types.Array(types.uint8, 1, "C")
OUT_SHARES = types.Array(types.float32, 1, "C")


def tuple_of(*members: Any) -> Any:
    """The type of a tuple: columns that belong together, passed as one argument."""
    return types.Tuple(members)  # type: ignore[no-untyped-call]


PAIR = tuple_of(types.uint64, types.uint64)

_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_HALF = np.uint64(32)
_SHIFT = np.uint64(33)


def kernel(signature: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile for exactly this signature, once per machine; run without the GIL."""
    decorate = kept(signature, nogil=True, error_model="numpy", no_cfunc_wrapper=True)
    return cast("Callable[[Callable[P, R]], Callable[P, R]]", decorate)


def part(signature: Any, *, allocates: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A kernel that only kernels call: compiled when one of them is, and kept within that one.

    Without a way in from Python and, unless it `allocates` or returns arrays, without counting
    references: of a dozen arrays in each call, both take longer to compile than what it does.
    """
    returned = getattr(signature.return_type, "types", (signature.return_type,))
    counts = allocates or any(isinstance(one, types.Array) for one in returned)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        dispatcher: Any = linked(error_model="numpy", _nrt=counts)(function)
        template = dispatcher.get_call_template

        def declared(args: Any, kws: Any) -> Any:
            if not dispatcher.overloads:
                dispatcher.compile(signature)
                dispatcher.disable_compile()
            return template(args, kws)

        dispatcher.get_call_template = declared
        return cast("Callable[P, R]", dispatcher)

    return decorate


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
