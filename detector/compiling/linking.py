"""Parts of kernels, compiled as far as the kernel needs them that calls them.

numba optimizes each function, and turns it into machine code, when it is compiled; a kernel then
takes in what it calls and optimizes all of it again, with its own. Of what only kernels call, the
first of both is lost work, half of what compiling takes: so a part is left as LLVM's plain
intermediate form, and optimized once, within each kernel that it becomes a part of.

A part has no environment of its own: it prints nothing, and raises nothing that holds a value.
Nothing at all is made of it before a kernel that calls it is compiled: a start that loads kernels
needs none of the hundreds of parts that they were made of.

This module can be deleted when numba can be told to leave a function as it was lowered, neither
optimized nor turned into machine code, until a function that calls it is compiled: `part` is then
numba's `njit` with that option. Its option `inline="always"` is another thing: it copies a
function into each place that calls it. What this module holds on to in numba: `JITCodeLibrary` has
the three methods below and lists what it links, environments are known by how their names begin,
`NativeLowering` calls the library of its state, and calls between functions are linked by the names
of their descriptions. It asks a value for its type by the name `_numba_type_`.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numba as _numba
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from reusewatch.detector.compiling.declaring import declared
from reusewatch.detector.compiling.indexing import never_from_the_end
from reusewatch.detector.compiling.later import now

# numba's compiler is not typed.
# mypy: disable-error-code="no-untyped-call"
_njit: Any = _numba.njit

_ENVIRONMENT = "_ZN08NumbaEnv"


class Whole(JITCodeLibrary):
    """A kernel with all that it takes in, which nobody else calls: so LLVM leaves out what a part
    is given and does not look at, and a part that is called once becomes a piece of it.

    And so it leaves out the room for the environment of what does not look at its own. Such a room
    is filled whenever a kernel is loaded: with the globals of a module of numba, which is imported
    for it.
    """

    def _optimize_final_module(self) -> None:
        taken_in = {
            each.name
            for library in self._linking_libraries
            for each in library._get_module_for_linking().global_variables
            if each.name.startswith(_ENVIRONMENT)
        }
        for function in self._final_module.functions:
            if function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = llvm.Linkage.internal
        for room in self._final_module.global_variables:
            if room.name in taken_in:
                room.linkage = llvm.Linkage.linkonce_odr
        super()._optimize_final_module()


class _Plain(JITCodeLibrary):
    """What one function was lowered to, with what it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "lowering_of_parts"

    def run_pass(self, state: Any) -> bool:
        state.library = _Plain(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = True
        super().run_pass(state)
        # What callers know it by. It has to be a function of its own that C made; with machine
        # code it would be the way in from Python. This one, called from there, raises.
        made: dict[object, object] = {}
        known = made.__getitem__
        state.targetctx.insert_user_function(known, state.cr.fndesc, [state.library])
        state.cr = state.cr._replace(cfunc=known)
        return True


class _Part(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        never_from_the_end()  # as what compiles kernels: a part may be compiled first
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [
            (_Lowering, name) if each is NativeLowering else (each, name)
            for each, name in passes.passes
        ]
        passes.finalize()
        return [passes]


def linked(function: Any, signature: Any, allocates: bool, inline: bool) -> Any:
    """numba's `njit` for what only kernels call: without a way in from Python."""
    signature = now(signature)
    made = _njit(
        nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_Part,
        # Inlining is said either way: numba else takes it from the part within whose compilation
        # this one is compiled.
        error_model="numpy", _nrt=allocates or _returns_arrays(signature), forceinline=inline,
    )(function)  # fmt: skip
    return made if signature is None else declared(made, signature)


def _returns_arrays(signature: Any) -> bool:
    if signature is None:
        return False
    returned = getattr(signature.return_type, "types", (signature.return_type,))
    return any(isinstance(one, types.Array) for one in returned)
