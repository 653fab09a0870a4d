"""Machine code is renewed when a source changes that it stands on, and only then."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import ROOT

_PART = """
from reusewatch.detector.compiling.kernels import types
from reusewatch.detector.compiling.kernels import part

@part({signature})
def answer(x):
    return x + {more}
"""
_KERNEL = """
from reusewatch.detector.compiling.kernels import types
from reusewatch.detector.compiling.kernels import kernel
from reusewatch.detector.probe_part import answer

@kernel({signature})
def ask(x):
    return answer(x)
"""
_ASK = """
from reusewatch.detector.probe import ask
print(ask(40), sum(ask.dispatcher.stats.cache_hits.values()))
"""
SIGNATURES = ["types.int64(types.int64)", ""]


class Copy:
    """The detector in a tree of its own, with a kernel in one file and its part in another."""

    def __init__(self, directory: Path, signature: str) -> None:
        self._installed, self._cache = directory / "installed", directory / "cache"
        self._detector = self._installed / "reusewatch" / "detector"
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "detector", self._detector, ignore=ignored)
        (self._detector / "probe.py").write_text(_KERNEL.format(signature=signature))
        self._signature = signature

    def edit_part(self, more: int) -> None:
        """Write the part anew; its kernel's own file stays as it is."""
        source = _PART.format(signature=self._signature, more=more)
        (self._detector / "probe_part.py").write_text(source)

    def edit_another(self) -> None:
        """Write a module that the kernel does not import."""
        (self._detector / "probe_other.py").write_text("from numba import types\n")

    def ask(self) -> tuple[int, int]:
        """What the kernel answers in a process of its own, and how often its code was loaded."""
        given = {"PYTHONPATH": str(self._installed), "NUMBA_CACHE_DIR": str(self._cache)}
        done = subprocess.run(
            [sys.executable, "-B", "-c", _ASK], env={**os.environ, **given}, cwd=self._installed,
            text=True, capture_output=True, check=True,
        )  # fmt: skip
        answer, loaded = done.stdout.split()
        return int(answer), int(loaded)


@pytest.mark.parametrize("signature", SIGNATURES)
def test_an_edited_part_renews_the_kernels_that_call_it(tmp_path: Path, signature: str) -> None:
    copy = Copy(tmp_path, signature)
    copy.edit_part(1)
    assert copy.ask() == (41, 0)
    assert copy.ask() == (41, 1)
    copy.edit_part(2)
    assert copy.ask() == (42, 0)
    assert copy.ask() == (42, 1)


def test_an_edit_elsewhere_renews_nothing(tmp_path: Path) -> None:
    copy = Copy(tmp_path, "")
    copy.edit_part(1)
    assert copy.ask() == (41, 0)
    copy.edit_another()
    assert copy.ask() == (41, 1)
