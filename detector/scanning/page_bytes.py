"""The bytes of a page, as all parts of the scan read them: one, eight as a number, sixteen at once.

What is looked for in sixteen bytes is found by comparing all of them in one vector: words and names
of tags are mostly shorter, and so are read without a loop, whose end no processor can foresee.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, int64, part, uint64
from reusewatch.detector.scanning import characters as ch

_EIGHT = 8
SIXTEEN = 16
_SIXTEEN_BYTES = ir.VectorType(ir.IntType(8), SIXTEEN)
_LETTERS, _DIGITS = 26, 10
# What ends the name of an attribute.
_NAME_ENDS = b"=>/ \n\t\r\f"
# The bit that makes letters of ASCII small ones, in each of eight bytes; digits have it.
_LOWER = uint64(0x2020202020202020)
_ONE, _BITS = uint64(1), uint64(3)
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


def _run_of(is_one: Any) -> Any:
    """How many of sixteen bytes, from the first on, are what `is_one` says of a vector of them."""

    def typed(typing: Any, array: Any, at: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
            place = builder.bitcast(builder.gep(data, [args[1]]), _SIXTEEN_BYTES.as_pointer())
            marks = is_one(builder, builder.load(place, align=1))
            others = builder.bitcast(builder.not_(marks), ir.IntType(SIXTEEN))
            wide = builder.zext(others, ir.IntType(64))
            end = builder.or_(wide, ir.Constant(ir.IntType(64), 1 << SIXTEEN))
            return builder.cttz(end, ir.Constant(ir.IntType(1), 1))

        return types.int64(array, types.uint64), codegen

    return cast(Any, intrinsic(typed))


def _all(byte: int) -> Any:
    return ir.Constant(_SIXTEEN_BYTES, [byte] * SIXTEEN)


def _are_alphanumeric(builder: Any, given: Any) -> Any:
    lowered = builder.sub(builder.or_(given, _all(ch.LOWER)), _all(ch.LOWER_A))
    letters = builder.icmp_unsigned("<", lowered, _all(_LETTERS))
    digits = builder.icmp_unsigned("<", builder.sub(given, _all(ch.DIGIT_0)), _all(_DIGITS))
    return builder.or_(letters, digits)


def _are_in_a_name(builder: Any, given: Any) -> Any:
    ends = builder.icmp_unsigned("==", given, _all(_NAME_ENDS[0]))
    for byte in _NAME_ENDS[1:]:
        ends = builder.or_(ends, builder.icmp_unsigned("==", given, _all(byte)))
    return builder.not_(ends)


# All of eight and of sixteen bytes must be the page's. Eight as one number, the first the lowest.
eight_at = cast(Any, intrinsic(_load))
alphanumerics_at = _run_of(_are_alphanumeric)
name_bytes_at = _run_of(_are_in_a_name)
# How many bits below the lowest that is set; the number is not 0.
_zeros = cast(Any, intrinsic(_zeros_below))


@part(inline=True)
def byte_at(buf: NDArray[np.uint8], at: Int) -> Int:
    """A byte of the page. An index without a sign needs no check for counting from the end."""
    return int64(buf[uint64(at)])


@part(inline=True)
def lowered_at(buf: NDArray[np.uint8], at: Int, length: Int) -> Int:
    """Up to seven of the eight letters and digits that stand there, small, as one number."""
    return (eight_at(buf, uint64(at)) | _LOWER) & ((_ONE << (uint64(length) << _BITS)) - _ONE)


@part(inline=True)
def eight_lowered_at(buf: NDArray[np.uint8], at: Int) -> Int:
    """The eight letters and digits that stand there, small, as one number."""
    return eight_at(buf, uint64(at)) | _LOWER


@part(inline=True)
def place_of(buf: NDArray[np.uint8], at: Int, hi: Int, byte: Int) -> Int:
    """Where a byte stands from `at` on; `hi` where it does not."""
    wanted = uint64(byte) * _LOWS
    i = at
    while i + _EIGHT <= hi:
        # Zero where it stands. A borrow marks bytes above it alone: the lowest mark is right.
        rest = eight_at(buf, uint64(i)) ^ wanted
        marks = (rest - _LOWS) & ~rest & _HIGHS
        if marks != 0:
            return i + int64(_zeros(marks) >> uint64(3))
        i += _EIGHT
    while i < hi and byte_at(buf, i) != byte:
        i += 1
    return i
