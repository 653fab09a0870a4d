"""Which kernels are compiled when, and what `doctor` says of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from reusewatch import detector
from reusewatch.streams import kernels
from reusewatch.streams.kernel_places import Place
from reusewatch.streams.settings import Settings
from reusewatch.streams.verbs import doctor

ROOT = Path(next(iter(detector.__path__)))
# Compiled for those alone who ask without adding.
_ASKING = "reusewatch.detector.window.asking"


def _loaded(modules: str) -> set[str]:
    """What is in the interpreter after such an import; kernels come from the disk."""
    code = f"import sys, {modules}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent
    )
    return set(done.stdout.split())


def _with_kernels() -> set[str]:
    """The modules of the detector that have kernels of their own."""
    return {
        ".".join(("reusewatch.detector", *path.relative_to(ROOT).with_suffix("").parts))
        for path in ROOT.rglob("*.py")
        if re.search(r"^@kernel\(", path.read_text(), re.M)
    }


def test_every_kernel_is_compiled_ahead_of_its_use() -> None:
    ahead = ", ".join((*kernels.MODULES, kernels.QUESTIONS, "reusewatch.detector.scanning.scan"))
    assert len(_with_kernels()) > len(kernels.MODULES)
    assert _with_kernels() - _loaded(ahead) == {_ASKING}


def test_the_first_run_does_not_compile_what_only_questions_need() -> None:
    loaded = _loaded(
        ", ".join(
            (
                "reusewatch.streams.stages.similarity",
                "reusewatch.streams.running.topology",
                *kernels.MODULES,
            )
        )
    )
    assert not {kernels.QUESTIONS, _ASKING} & loaded


def test_kernels_that_were_kept_are_loaded_without_what_compiles() -> None:
    modules = ", ".join(kernels.MODULES)
    _loaded(modules)  # compiled by now, if they were not
    assert not {"numba.np.arrayobj", "numba.np.arraymath"} & _loaded(modules)


def test_what_was_not_compiled_beside_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    kernels._compile_together((), ("colorsys",))
    kernels._make(("colorsys",))
    assert "colorsys" in sys.modules


@pytest.mark.parametrize(
    ("marks", "found", "do"),
    [
        ([], "not compiled yet", "the first run does"),
        (["compiled"], "compiled, but those of `similar`", "the first question does"),
        (["compiled", "compiled-questions"], "compiled", ""),
    ],
)
def test_doctor_says_which_kernels_are_compiled(
    marks: list[str], found: str, do: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "directory", lambda: tmp_path)
    monkeypatch.setattr(doctor, "place", lambda: Place(tmp_path, ()))
    for mark in marks:
        (tmp_path / kernels.mark_of(mark)).touch()
    check = doctor._kernels()
    assert (check.found, check.ok) == (f"{found}, kept in {tmp_path}", True)
    assert check.do.endswith(do)
    assert bool(check.do) == bool(do)


@pytest.mark.parametrize(("image", "told"), [(None, False), (b"image", False), (b"", True)])
def test_doctor_says_what_it_costs_that_there_is_no_image(
    image: bytes | None, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "directory", lambda: tmp_path)
    if image is not None:
        (tmp_path / kernels.mark_of("compiled")).write_bytes(image)
    checks = doctor.examine(Settings(bus=f"local:{tmp_path / 'bus'}"))
    found = [one for one in checks if one.check == "image of the kernels"]
    assert [one.ok for one in found] == [True] * told
    assert all("90 MB" in one.found and "x86-64" in one.found for one in found)
