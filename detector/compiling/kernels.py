"""How kernels are compiled, and the types of what they are given.

A kernel releases the GIL, allocates its own scratch and keeps nothing between calls. It is called
from Python, and its machine code is kept on disk (`cache`). A part is called by kernels only, is
compiled within them (`linking`), and kept with them.

Each of both can be given its signature, and then takes nothing else. Without one, numba finds out
the types at the first call: so does the scan, whose parts hand on records of arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numba import types
from numba.extending import intrinsic

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
OUT_OFFSET_ROWS = types.Array(types.int64, 2, "C")
OUT_COUNTS = types.Array(types.uint32, 1, "C")
OUT_BYTES = types.Array(types.uint8, 1, "C")
OUT_SHARES = types.Array(types.float32, 1, "C")

# Where numba finds out the types: to the type checker a number in a kernel is anything, since it
# knows no numpy number that takes the place of an int.
Int: TypeAlias = Any
Bool: TypeAlias = Any
Tuple: TypeAlias = Any
int64: Any = np.int64
uint64: Any = np.uint64


def tuple_of(*members: Any) -> Any:
    """The type of a tuple: columns that belong together, passed as one argument."""
    return types.Tuple(members)  # type: ignore[no-untyped-call]


PAIR = tuple_of(types.uint64, types.uint64)


def kernel(
    signature: Any = None, *, allocates: bool = True
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile for this signature, or for what the first call gives; once per machine, no GIL.

    One that allocates nothing, as the scan, counts no references: to do so for a dozen arrays in
    every call between its parts would take ten times as long as the scan.
    """
    decorate = kept(
        signature, nogil=True, error_model="numpy", no_cfunc_wrapper=True, _nrt=allocates
    )
    return cast("Callable[[Callable[P, R]], Callable[P, R]]", decorate)


def part(
    signature: Any = None, *, allocates: bool = False, inline: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A kernel that only kernels call: compiled when one of them is, and kept within that one.

    Without a way in from Python and, unless it `allocates` or returns arrays, without counting
    references: of a dozen arrays in each call, both take longer to compile than what it does.
    `inline` is for what every tag passes, or is small: its call would cost more than its work.
    """
    # Inlining is said either way: numba else takes it from the part within whose compilation
    # this one is compiled.
    decorate = linked(
        signature, error_model="numpy", _nrt=allocates or _returns_arrays(signature),
        forceinline=inline,
    )  # fmt: skip
    return cast("Callable[[Callable[P, R]], Callable[P, R]]", decorate)


def _returns_arrays(signature: Any) -> bool:
    if signature is None:
        return False
    returned = getattr(signature.return_type, "types", (signature.return_type,))
    return any(isinstance(one, types.Array) for one in returned)


def _apart(typing: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


apart = cast(Any, intrinsic(_apart))
"""Within a part: it stays a function. What is rare would make the loop that calls it slow, and
long to compile."""


def _wide(typing: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # Past llvmlite's own `add`, which knows the attributes without a value only.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), codegen


wide = cast(Any, intrinsic(_wide))
"""Within a kernel: its loops are made of the widest vectors that the machine has. Of those with
AVX-512 LLVM takes half as wide ones by itself, and multiplies 64-bit numbers at half the speed."""
