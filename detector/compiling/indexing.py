"""Indices within kernels do not count from the end, as they do in Python.

numba asks of each index that has a sign whether it is below 0, and counts from the end then. No
kernel here wants that. To ask costs a compare and a choice at each look into an array, and keeps
LLVM from making vectors of loops. Indices without a sign escape it; but of numbers of both kinds
numba makes floats, and casts would stand everywhere. So the question is left out of what is
compiled of this package, and of nothing else: numba's own functions, which kernels call, are as
they were.

An index below 0 is as wrong as one past the end, which nobody asks about either: both raise where
numba is told to look (`NUMBA_BOUNDSCHECK=1`), and tests run so
(`tests/detector/compiling/test_bounds.py`).

What this module holds on to in numba: all indexing of arrays passes `fix_integer_index`, and a
context is that of one function, whose module it knows. Slices go another way, and stay.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from numba.core import types
from numba.core.compiler import Compiler

# numba's own classes and functions are not typed.
# mypy: disable-error-code="no-untyped-call"
_Compiler: Any = Compiler
_OURS = __name__.partition(".")[0] + "."


class WithoutEnds(_Compiler):  # type: ignore[misc]
    """numba's compiler, in a process that has been told."""

    def define_pipelines(self) -> Any:
        never_from_the_end()
        return super().define_pipelines()


@cache
def never_from_the_end() -> None:
    """From now on, in this process. Told by whoever compiles: a start that loads kernels takes in
    nothing of what lowers them."""
    arrays: Any = import_module("numba.np.arrayobj")
    from_the_end = arrays.fix_integer_index

    def index(context: Any, builder: Any, kind: Any, value: Any, size: Any) -> Any:
        if not (context.fndesc.modname or "").startswith(_OURS):
            return from_the_end(context, builder, kind, value, size)
        return context.cast(builder, value, kind, types.intp if kind.signed else types.uintp)

    arrays.fix_integer_index = index
