"""The bytes of a page, as all parts of the scan read them: one, eight as a number, many at once.

What is looked for in many bytes is found by comparing all of them in one vector: words, names and
addresses are mostly shorter, and so are read without a loop, whose end no processor can foresee.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, int64, intrinsic, ir, part, types, uint64
from reusewatch.detector.compiling.later import Imported
from reusewatch.detector.scanning import characters as ch

_EIGHT = 8
_cgutils: Any = Imported("numba.core.cgutils")
SIXTEEN, WIDE, BLOCK = 16, 32, 64
BEHIND = BLOCK
"""So many bytes behind a page are looked at, whatever they are, and count for nothing."""
_LETTERS, _DIGITS = 26, 10
# What ends the name of an attribute.
_NAME_ENDS = b"=>/ \n\t\r\f"
# The bit that makes letters of ASCII small ones, in each of eight bytes; digits have it.
_LOWER = uint64(0x2020202020202020)
_ONE, _BITS = uint64(1), uint64(3)


def _load(typing: Any, array: Any, at: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
        place = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return types.uint64(array, types.uint64), codegen


def _run_of(is_one: Any) -> Any:
    """How many of the bytes, from the first on, are what `is_one` says of a vector of them."""

    def typed(typing: Any, array: Any, at: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            marks = is_one(builder, _vector(context, builder, signature, args, SIXTEEN))
            return _first(builder, builder.not_(marks), SIXTEEN)

        return types.int64(array, types.uint64), codegen

    return intrinsic(typed)


def _marks_of(is_one: Any) -> Any:
    """Which of the bytes of a block are what `is_one` says, as bits, the first the lowest."""

    def typed(typing: Any, array: Any, at: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            marks = is_one(builder, _vector(context, builder, signature, args, BLOCK))
            return builder.bitcast(marks, ir.IntType(BLOCK))

        return types.uint64(array, types.uint64), codegen

    return intrinsic(typed)


def _lowest(typing: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), codegen


def _vector(context: Any, builder: Any, signature: Any, args: Any, size: int) -> Any:
    data = context.make_array(signature.args[0])(context, builder, value=args[0]).data
    bytes_ = ir.VectorType(ir.IntType(8), size)
    place = builder.bitcast(builder.gep(data, [args[1]]), bytes_.as_pointer())
    return builder.load(place, align=1)


def _first(builder: Any, marks: Any, size: int) -> Any:
    """Where the first mark is; `size` where there is none."""
    number = ir.IntType(64)
    wide = builder.zext(builder.bitcast(marks, ir.IntType(size)), number)
    end = builder.or_(wide, ir.Constant(number, 1 << size))
    return builder.cttz(end, ir.Constant(ir.IntType(1), 1))


def _search(typing: Any, array: Any, at: Any, byte: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        given = _vector(context, builder, signature, args, WIDE)
        one = builder.trunc(args[2], ir.IntType(8))
        whole = ir.VectorType(ir.IntType(8), WIDE)
        zero = ir.Constant(ir.IntType(32), 0)
        wanted = builder.shuffle_vector(
            builder.insert_element(ir.Constant(whole, ir.Undefined), one, zero),
            ir.Constant(whole, ir.Undefined),
            ir.Constant(ir.VectorType(ir.IntType(32), WIDE), [0] * WIDE),
        )
        return _first(builder, builder.icmp_unsigned("==", given, wanted), WIDE)

    return types.int64(array, types.uint64, types.int64), codegen


def _copy_from(typing: Any, address: Any, to: Any, size: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[1])(context, builder, value=args[1]).data
        source = builder.inttoptr(args[0], data.type)
        _cgutils.raw_memcpy(builder, data, source, args[2], 1)
        return context.get_dummy_value()

    return types.none(types.int64, to, types.uint64), codegen


def _all(given: Any, byte: int) -> Any:
    return ir.Constant(given.type, [byte] * given.type.count)


def _are_alphanumeric(builder: Any, given: Any) -> Any:
    lowered = builder.sub(builder.or_(given, _all(given, ch.LOWER)), _all(given, ch.LOWER_A))
    letters = builder.icmp_unsigned("<", lowered, _all(given, _LETTERS))
    digits = builder.sub(given, _all(given, ch.DIGIT_0))
    return builder.or_(letters, builder.icmp_unsigned("<", digits, _all(given, _DIGITS)))


def _are_none_of(excluded: bytes) -> Any:
    def are_none(builder: Any, given: Any) -> Any:
        found = builder.icmp_unsigned("==", given, _all(given, excluded[0]))
        for byte in excluded[1:]:
            found = builder.or_(found, builder.icmp_unsigned("==", given, _all(given, byte)))
        return builder.not_(found)

    return are_none


def _are_ascii_text(builder: Any, given: Any) -> Any:
    ascii_ = builder.icmp_signed(">", given, _all(given, 0))
    return builder.and_(ascii_, _are_none_of(b"<&")(builder, given))


# Some of these may stand behind the page: who asks cuts what was found. Eight are one number, the
# first byte the lowest.
eight_at = intrinsic(_load)
alphanumerics_at = _run_of(_are_alphanumeric)
name_bytes_at = _run_of(_are_none_of(_NAME_ENDS))
alphanumerics_in = _marks_of(_are_alphanumeric)
# What is neither NUL nor beyond ASCII, and starts neither a tag nor a reference.
ascii_text_in = _marks_of(_are_ascii_text)
no_line_ends_in = _marks_of(_are_none_of(b"\n\r\f"))
lowest = intrinsic(_lowest)
"""The place of the lowest bit that is set; `BLOCK` of none."""
_place_within = intrinsic(_search)
copy_from = intrinsic(_copy_from)
"""Bring so many bytes from an address to the beginning of an array. Whoever says the address keeps
what stands there alive, and the array has room for it."""


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
    i = at
    while i < hi:
        k = _place_within(buf, uint64(i), int64(byte))
        if k < WIDE:
            return min(i + k, hi)
        i += WIDE
    return hi
