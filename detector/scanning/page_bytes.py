"""The bytes of a page, as all parts of the scan read them; a byte is looked for eight at a time."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, int64, part, uint64

_EIGHT = 8
# In each of eight bytes the lowest bit, and the highest.
_LOWS, _HIGHS = uint64(0x0101010101010101), uint64(0x8080808080808080)


def _load(typing: Any, array: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return types.uint64(array, types.uint64), codegen


def _zeros_below(typing: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


# Eight bytes as one number, the first the lowest; all of them must be the page's.
_eight_at = cast(Any, intrinsic(_load))
# How many bits below the lowest that is set; the number is not 0.
_zeros = cast(Any, intrinsic(_zeros_below))


@part(inline=True)
def byte_at(buf: NDArray[np.uint8], at: Int) -> Int:
    """A byte of the page. An index without a sign needs no check for counting from the end."""
    return int64(buf[uint64(at)])


@part(inline=True)
def place_of(buf: NDArray[np.uint8], at: Int, hi: Int, byte: Int) -> Int:
    """Where a byte stands from `at` on; `hi` where it does not."""
    wanted = uint64(byte) * _LOWS
    i = at
    while i + _EIGHT <= hi:
        # Zero where it stands. A borrow marks bytes above it alone: the lowest mark is right.
        rest = _eight_at(buf, uint64(i)) ^ wanted
        marks = (rest - _LOWS) & ~rest & _HIGHS
        if marks != 0:
            return i + int64(_zeros(marks) >> uint64(3))
        i += _EIGHT
    while i < hi and byte_at(buf, i) != byte:
        i += 1
    return i
