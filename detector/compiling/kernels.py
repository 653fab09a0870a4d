"""How kernels are compiled, and the types of what they are given.

A kernel releases the GIL, allocates its own scratch and keeps nothing between calls. It is called
from Python, and its machine code is kept on disk (`cache`). A part is called by kernels only, is
compiled within them (`linking`), and kept with them.

Each of both can be given its signature, and then takes nothing else. Without one, numba finds out
the types at the first call: so does the scan, whose parts hand on records of arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np

from reusewatch.detector.compiling import later
from reusewatch.detector.compiling.calling import Kernel, Part

P = ParamSpec("P")
R = TypeVar("R")

types: Any = later.Module("numba.types")
"""numba's types, as they are said in signatures and named within kernels."""
ir: Any = later.Imported("llvmlite.ir")
"""What instructions are made of, for functions that define an `intrinsic`."""

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
    return types.Tuple(members)


def packed(kind: Any, members: list[Any]) -> Any:
    """The type of a named tuple whose values are passed by their address (`by_address`)."""
    return later.Module("reusewatch.detector.compiling.by_address").packed(kind, members)


def records(kind: np.dtype[Any]) -> Any:
    """The type of an array of such records."""
    return types.Array(later.Module("numba").from_dtype(kind), 1, "C")


def intrinsic(define: Callable[..., Any]) -> Any:
    """What becomes an instruction or a few, and no call, within kernels."""

    @wraps(define)
    def typed(*arguments: Any) -> tuple[Any, Any]:
        signature, codegen = define(*arguments)
        return later.now(signature), codegen

    return later.Module("numba.extending").intrinsic(typed)


PAIR = tuple_of(types.uint64, types.uint64)


def kernel(
    signature: Any = None, *, allocates: bool = True
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile for this signature, or for what the first call gives; once per machine, no GIL.

    One that allocates nothing, as the scan, counts no references: to do so for a dozen arrays in
    every call between its parts would take ten times as long as the scan.
    """
    options = {
        "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": allocates,
    }  # fmt: skip

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        return Kernel(function, signature, options)

    return decorate


def part(
    signature: Any = None, *, allocates: bool = False, inline: bool = False
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A kernel that only kernels call: compiled when one of them is, and kept within that one.

    Without a way in from Python and, unless it `allocates` or returns arrays, without counting
    references: of a dozen arrays in each call, both take longer to compile than what it does.
    `inline` is for what every tag passes, or is small: its call would cost more than its work.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        return cast("Callable[P, R]", Part(function, signature, allocates, inline))

    return decorate


def _apart(typing: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


apart = intrinsic(_apart)
"""Within a part: it stays a function. What is rare would make the loop that calls it slow, and
long to compile."""


def _wide(typing: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # Past llvmlite's own `add`, which knows the attributes without a value only.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), codegen


wide = intrinsic(_wide)
"""Within a kernel: its loops are made of the widest vectors that the machine has. Of those with
AVX-512 LLVM takes half as wide ones by itself, and multiplies 64-bit numbers at half the speed."""
