"""How kernels are compiled: without the GIL, and kept on disk where they are called from Python.

Kernels allocate nothing and hold no reference (`_nrt=False`): counting the references to a dozen
arrays in every call between kernels takes ten times as long as the scan.

numba keeps an entry's machine code beside its source, or in the user's cache directory, and looks
at the entry's own file and closure when it decides whether that code is current. So an entry is
given a closure: a digest of all that was compiled into it.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import xxhash
from numba import types
from numba.extending import intrinsic

from reusewatch.detector.compiling.cache import kept
from reusewatch.detector.compiling.linking import linked

# Within kernels numba infers the types; to the type checker a number there is anything, since it
# knows no numpy number that takes the place of an int.
Int: TypeAlias = Any
Bool: TypeAlias = Any
Tuple: TypeAlias = Any
int64: Any = np.int64
uint64: Any = np.uint64

F = TypeVar("F", bound=Callable[..., object])
_parts: list[FunctionType] = []


def part(function: F) -> F:
    """A kernel that only kernels call."""
    _parts.append(cast(FunctionType, function))
    # Said, since numba else takes it from the part within whose compilation this one is compiled.
    return linked(_nrt=False, forceinline=False)(function)


def inlined(function: F) -> F:
    """A part that every tag passes, or is small: its call, with all arrays, would cost more."""
    _parts.append(cast(FunctionType, function))
    return linked(_nrt=False, forceinline=True)(function)


def _apart(typing: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), codegen


apart = cast(Any, intrinsic(_apart))
"""Within a part: it stays a function. What is rare would make the loop that calls it slow, and
long to compile."""


@inlined
def byte_at(buf: Any, at: Int) -> Int:
    """A byte of the page. An index without a sign needs no check for counting from the end."""
    return int64(buf[uint64(at)])


def entry(function: F) -> F:
    """A kernel that Python calls: compiled at its first call, then loaded from disk.

    Made after its parts, as it calls them.
    """
    own = cast(FunctionType, function)
    digest = xxhash.xxh3_64_intdigest(repr([_facts(each) for each in (*_parts, own)]).encode())
    stamped = FunctionType(
        own.__code__.replace(co_freevars=("digest",)),
        own.__globals__,
        own.__name__,
        closure=(CellType(digest),),
    )
    # numba takes the file's and the function's names from these.
    stamped.__module__, stamped.__qualname__ = own.__module__, own.__qualname__
    stamped.__doc__ = own.__doc__
    return cast(F, kept(nogil=True, _nrt=False)(stamped))


def _facts(function: FunctionType) -> tuple[object, ...]:
    """What a kernel's machine code depends on: its instructions, and the constants it names."""
    code: CodeType = function.__code__
    values = function.__globals__
    return (code.co_code, code.co_consts, code.co_names, _constants(values, code.co_names))


def _constants(values: dict[str, Any], names: tuple[str, ...]) -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name in names:
        value = values.get(name)
        if isinstance(value, ModuleType):
            found += _constants(vars(value), names)
        elif isinstance(value, int | np.integer):
            found.append((name, int(value)))
        elif isinstance(value, np.ndarray):
            found.append((name, value.tolist()))
    return found
