"""Many arrays as one argument of a kernel: a named tuple, passed by its address.

numba passes each number of each array by itself: of fifteen arrays a hundred, in every call. That
takes longer to compile than what the kernels do, and longer to call. Here a kernel that was given
a tuple hands the same address on to those it calls.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import register_model, typeof_impl

# numba's own classes and functions are not typed.
_alloca: Any = cgutils.alloca_once_value


class Packed(types.NamedTuple):
    """The kernels' type of such a tuple; its arrays are never exchanged within kernels."""


_packed: Any = Packed
_typeof: Any = typeof_impl


@register_model(Packed)
class _ByAddress(models.TupleModel):
    def get_argument_type(self) -> Any:
        kind: Any = self.get_value_type()  # type: ignore[no-untyped-call]
        return kind.as_pointer()

    def as_argument(self, builder: Any, value: Any) -> Any:
        at = value.operands[0] if getattr(value, "opname", None) == "load" else None
        if at is not None and at in builder.function.args:
            return at  # what nobody writes to
        return _alloca(builder, value)

    def from_argument(self, builder: Any, value: Any) -> Any:
        return builder.load(value)


def packed(kind: Any, members: list[Any]) -> Any:
    """The type of a named tuple whose values are passed by their address."""

    def typed(value: Any, context: Any) -> Any:
        return _packed([_typeof(member, context) for member in value], type(value))

    _typeof.register(kind)(typed)
    return _packed(members, kind)
