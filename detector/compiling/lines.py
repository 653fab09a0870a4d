"""A line of a table looked at as a whole: sixteen words of 32 bits, compared at once.

One after the other they take as long as their memory does, and where the search ends is nothing
that the processor can foresee.
"""

from __future__ import annotations

from typing import Any

from reusewatch.detector.compiling.kernels import intrinsic, ir, types

LINE = 16
"""Words of a line."""


def _is_from(typing: Any, words: Any, at: Any, first: Any, count: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, args[0])
        begin = builder.bitcast(builder.gep(array.data, [args[1]]), _line().as_pointer())
        behind = builder.sub(builder.load(begin, align=4), _all(builder, args[2]))
        found = builder.icmp_unsigned("<", behind, _all(builder, args[3]))
        return builder.zext(builder.bitcast(found, ir.IntType(LINE)), ir.IntType(64))

    return types.int64(words, types.int64, types.uint32, types.uint32), codegen


def _line() -> Any:
    return ir.VectorType(ir.IntType(32), LINE)


def _all(builder: Any, value: Any) -> Any:
    """A line of one value."""
    one = builder.insert_element(ir.Constant(_line(), ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(one, one, ir.Constant(_line(), [0] * LINE))


def _trailing(typing: Any, bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), codegen


is_from = intrinsic(_is_from)
"""Of the line that begins at a place of an array, a bit for each word that is one of so many
numbers from a first one on."""
first_of = intrinsic(_trailing)
"""The lowest bit that is set; one must be."""
