"""Machine code that was kept, loaded by itself.

numba keeps a kernel's intermediate form beside its machine code, and parses it at every start: for
a kernel that is compiled anew and takes in this one, which no start has that finds all of them. So
it is parsed when it is asked for; the names that the code defines, which numba also took from
there, stand in the object file. Half of what loading takes, and 20 MB of a process. Till then it
is packed: plain, the forms of a replay's kernels are 3 MB of memory.

What this module holds on to in numba: libraries are made by the class that a code generator names,
`_unserialize` does what it does here but for the steps above, and is given what
`serialize_using_object_code` made. An object file that is no 64-bit ELF is loaded as numba does
it. This module can be deleted when numba parses lazily.
"""

from __future__ import annotations

import zlib
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCPUCodegen

from reusewatch.detector.compiling.elf import MARK, defined
from reusewatch.detector.compiling.linking import Whole

# numba's own classes and functions are not typed.
# mypy: disable-error-code="no-untyped-call"
_Library: Any = Whole
_Generator: Any = JITCPUCodegen


class _Loaded(_Library):  # type: ignore[misc]
    """A library whose intermediate form is parsed where somebody links with it."""

    _form: bytes | None = None
    code: bytes = b""
    """The object file, which numba drops once it has taken it in."""

    def _get_module_for_linking(self) -> Any:
        if self._form is not None:
            form, self._form = self._form, None
            self._shared_module = llvm.parse_bitcode(zlib.decompress(form))
        return super()._get_module_for_linking()

    def serialize_using_object_code(self) -> Any:
        name, kind, (code, form) = super().serialize_using_object_code()
        self.code = code
        return name, kind, (code, zlib.compress(form))

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind != "object":
            return super()._unserialize(codegen, state)
        code, form = data
        if not code.startswith(MARK):
            return super()._unserialize(codegen, (name, kind, (code, zlib.decompress(form))))
        library = codegen.create_library(name)
        library._form, library.code = form, code
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        codegen._engine._defined_symbols |= defined(code)
        return library


def load_lazily() -> None:
    """From now on, in this process; before the first kernel is loaded."""
    _Generator._library_class = _Loaded
