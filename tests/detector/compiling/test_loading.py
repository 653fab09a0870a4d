"""Machine code that was kept is loaded alone; its intermediate form, and what numba compiles with,
are there when they are needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from numba import njit

from reusewatch.detector.compiling.elf import defined

_KEPT = """
import numpy as np
from reusewatch.detector.compiling.kernels import types
from reusewatch.detector.compiling.kernels import WORDS, kernel
@kernel(types.uint64(WORDS))
def total(words):
    found = np.uint64(0)
    for word in words:
        found += word
    return found
"""
_MORE = """
from reusewatch.detector.compiling.kernels import types
from reusewatch.detector.compiling.kernels import WORDS, kernel
from made import total
@kernel(types.uint64(WORDS))
def twice(words):
    return total(words) + total(words)
"""
_ASKED = """
import llvmlite.binding as llvm, numpy as np, sys
parsed = []
parse = llvm.parse_bitcode
llvm.parse_bitcode = lambda data, *rest: parsed.append(1) or parse(data, *rest)
import made
words = np.arange(10, dtype=np.uint64)
print(made.total(words), "numba.typed.dictimpl" in sys.modules, len(parsed))
"""


def asked(directory: Path, source: str, more: str = "") -> list[str]:
    (directory / "made.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-c", _ASKED + more], cwd=directory, capture_output=True, text=True,
        check=True, env={"NUMBA_CACHE_DIR": str(directory / "cache"), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    return done.stdout.split()


def test_a_kernel_that_was_kept_is_parsed_where_another_is_built_on_it(tmp_path: Path) -> None:
    assert asked(tmp_path, _KEPT)[:2] == ["45", "True"]
    assert asked(tmp_path, _KEPT) == ["45", "False", "0"]
    built = (tmp_path / "more.py").write_text(_MORE)
    assert built
    done = asked(tmp_path, _KEPT, "import more; print(more.twice(words), len(parsed) > 0)")
    assert done == ["45", "False", "0", "90", "True"]


def test_the_names_that_an_object_file_defines_are_those_that_llvm_sees() -> None:
    @njit
    def made(number: int) -> int:
        return number + 1

    made(1)
    (compiled,) = made.overloads.values()
    library = compiled.library
    module = library._get_module_for_linking()
    wanted = {one.name for one in module.functions if not one.is_declaration}
    target = llvm.Target.from_default_triple().create_target_machine()
    code = target.emit_object(library._final_module)
    assert compiled.fndesc.llvm_func_name in defined(code) & wanted
    assert compiled.fndesc.llvm_cpython_wrapper_name in defined(code)


@pytest.mark.parametrize("code", [b"", b"\x7fELF\x01\x01" + bytes(60)])
def test_what_is_no_such_file_defines_nothing(code: bytes) -> None:
    assert defined(code + bytes(64)) == set()
