"""Arrays that Python hands to a kernel are of the types that were declared, or a TypeError.

numba looks at them before it calls a kernel; its way into the machine code looks at the size of an
item alone, and an array of more dimensions writes past what it is copied to. Kernels of an image
are called without numba (`image`), so their way in looks first: a column of other numbers, or every
second one of a column, would be read as something that it is not, or past its end.

What this module holds on to: numba takes in arrays by its `unbox_array`; what numpy's own arrays
look like to C is part of its interface, the same in numpy 1 and 2.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import boxing, cgutils, types
from numba.core.pythonapi import NativeValue, _unboxers
from numba.np import numpy_support

from reusewatch.detector.compiling.image import ARRAYS

# numba's own classes and functions are not typed.
# mypy: disable-error-code="no-untyped-call"
_boxing: Any = boxing
_ways_in: Any = _unboxers
_OURS = __name__.partition(".")[0] + "."
# In an array: how many dimensions it has, its type, its flags. In a type: the kind of its numbers,
# and their byte order.
_DIMENSIONS_AT, _TYPE_AT, _FLAGS_AT = 24, 56, 64
_KIND_AT, _ORDER_AT = 24, 26
_IN_ORDER, _ALIGNED, _WRITABLE = 0x1, 0x100, 0x400
_SWAPPED = ord(">")
_BYTES = ir.IntType(8).as_pointer()


def check_arrays() -> None:
    """From now on, in what this process compiles of this package."""
    llvm.add_symbol(ARRAYS, id(np.ndarray))
    usual = _boxing.unbox_array

    def unbox_array(kind: Any, array: Any, c: Any) -> Any:
        if not (c.context.fndesc.modname or "").startswith(_OURS):
            return usual(kind, array, c)
        builder = c.builder
        is_error = cgutils.alloca_once_value(builder, cgutils.true_bit)
        taken = cgutils.alloca_once(builder, c.context.get_value_type(kind), zfill=True)
        # Nothing where a tuple has fewer items than were declared. And of nothing that is no array
        # is it looked at what stands where that has its type.
        with (
            builder.if_then(cgutils.is_not_null(builder, array)),
            builder.if_then(_is_instance(array, c.pyapi.get_c_object(ARRAYS), builder)),
            builder.if_then(_is_of(kind, array, builder)),
        ):
            native = usual(kind, array, c)
            builder.store(native.value, taken)
            builder.store(native.is_error, is_error)
        refused = builder.load(is_error)
        with builder.if_then(refused, likely=False):
            c.pyapi.err_set_string(
                "PyExc_TypeError", f"No matching definition: this kernel takes {kind}"
            )
        return NativeValue(builder.load(taken), is_error=refused)

    _ways_in.functions[types.Array] = unbox_array


def _is_instance(value: Any, kind: Any, builder: Any) -> Any:
    asked = ir.FunctionType(ir.IntType(32), [value.type, kind.type])
    function = cgutils.get_or_insert_function(builder.module, asked, "PyObject_IsInstance")
    answer = builder.call(function, [value, kind])
    return builder.icmp_signed("==", answer, answer.type(1))


def _is_of(kind: Any, array: Any, builder: Any) -> Any:
    """Whether an array is of this type, but for the size of its items."""
    flags = _at(builder, array, _FLAGS_AT, 32)
    wanted = (
        (_IN_ORDER if kind.layout == "C" else 0)
        | (_ALIGNED if kind.aligned else 0)
        | (_WRITABLE if kind.mutable else 0)
    )
    described = builder.load(builder.bitcast(_place(builder, array, _TYPE_AT), _BYTES.as_pointer()))
    letter = ord(numpy_support.as_dtype(kind.dtype).kind)
    found = builder.icmp_unsigned("==", builder.and_(flags, flags.type(wanted)), flags.type(wanted))
    for value, right in (
        (_at(builder, array, _DIMENSIONS_AT, 32), kind.ndim),
        (_at(builder, described, _KIND_AT, 8), letter),
    ):
        found = builder.and_(found, builder.icmp_unsigned("==", value, value.type(right)))
    order = _at(builder, described, _ORDER_AT, 8)
    return builder.and_(found, builder.icmp_unsigned("!=", order, order.type(_SWAPPED)))


def _place(builder: Any, base: Any, offset: int) -> Any:
    return builder.gep(builder.bitcast(base, _BYTES), [ir.IntType(64)(offset)])


def _at(builder: Any, base: Any, offset: int, bits: int) -> Any:
    """The number of so many bits behind an address."""
    kind = ir.IntType(bits).as_pointer()
    return builder.load(builder.bitcast(_place(builder, base, offset), kind))
