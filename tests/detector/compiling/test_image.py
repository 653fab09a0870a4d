"""Kernels out of an image are those that numba made, and no process needs numba to call them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reusewatch.detector.compiling import calling, image, imaging
from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OUT_WORDS,
    WORDS,
    kernel,
    tuple_of,
    types,
)


def total(words: Any, least: Any) -> Any:
    found = np.uint64(0)
    for word in words:
        if word >= least:
            found += word
    return found


def doubled(words: Any, out: Any) -> Any:
    for at in range(words.size):
        out[at] = words[at] + words[at]


def ends(words: Any, share: Any, swapped: Any) -> Any:
    made = np.empty(2, np.uint64)
    made[0], made[1] = words[0], words[words.size - 1]
    return made[::-1].copy() if swapped else made, share / 2


def together(pair: Any, few: Any) -> Any:
    words, numbers = pair
    return words.size + numbers.size + few[0]


def sized(size: Any) -> Any:
    if size < 0:
        raise ValueError("no size")
    return size


SIGNATURES: dict[Any, Any] = {
    total: types.uint64(WORDS, types.uint64),
    doubled: types.void(WORDS, OUT_WORDS),
    ends: tuple_of(OUT_WORDS, types.float64)(WORDS, types.float64, types.boolean),
    sized: types.int64(types.int64),
    together: types.int64(tuple_of(WORDS, COUNTS), tuple_of(types.uint64, types.uint64)),
}
# Arrays are looked at in kernels of the package alone.
MODULE = "reusewatch.detector.hashing"
for function in SIGNATURES:
    function.__module__ = MODULE
NUMBERS = np.array([5, 9, 1 << 63], np.uint64)


class Both:
    """The kernels as numba made them, and as they come out of an image."""

    def __init__(self) -> None:
        self.made = {
            function.__name__: kernel(signature)(function)
            for function, signature in SIGNATURES.items()
        }
        for one in self.made.values():
            assert one.dispatcher  # type: ignore[attr-defined]
        self.data = image.packed(imaging.image_of(self.made.values()))  # type: ignore[arg-type]

    def of_numba(self, name: str) -> Any:
        return self.made[name].dispatcher  # type: ignore[attr-defined]

    def of_image(self, name: str) -> Any:
        found = image.find(f"{MODULE}.{name}")
        assert found is not None
        return found


@pytest.fixture(scope="module")
def both() -> Any:
    before = list(image._loaded)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calling.Kernel, "every", [])
        made = Both()
        image.load(made.data)
        yield made
    image._loaded[:] = before


def test_the_answers_are_those_of_numba(both: Both) -> None:
    assert both.of_image("total")(NUMBERS, 6) == both.of_numba("total")(NUMBERS, 6)
    out = np.zeros(3, np.uint64)
    assert both.of_image("doubled")(NUMBERS, out) is None
    assert out.tolist() == [10, 18, 0]
    for swapped in (False, True):
        (mine, half), (theirs, _) = (
            found("ends")(NUMBERS, 3, swapped) for found in (both.of_image, both.of_numba)
        )
        assert (mine.tolist(), half) == (theirs.tolist(), 1.5)
        assert (mine.dtype, type(mine)) == (np.uint64, np.ndarray)


def test_nobody_holds_what_it_takes_and_returns(both: Both) -> None:
    given = NUMBERS.copy()
    for _ in range(3):
        found, _ = both.of_image("ends")(given, 3.0, False)
        assert sys.getrefcount(given) == sys.getrefcount(found) == 2


def test_what_a_kernel_raises(both: Both) -> None:
    assert both.of_image("sized")(3) == 3
    with pytest.raises(ValueError, match="no size"):
        both.of_image("sized")(-1)


READ_ONLY = NUMBERS.copy()
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    "array",
    [NUMBERS.view(np.int64), NUMBERS.view(np.float64), NUMBERS.astype(np.uint32), NUMBERS[::2],
     NUMBERS.astype(">u8"), np.frombuffer(bytes(17), np.uint64, 2, 1), np.zeros((2, 2), np.uint64),
     [1, 2], None],
)  # fmt: skip
def test_arrays_of_other_types_are_refused(both: Both, array: Any) -> None:
    for found in (both.of_image, both.of_numba):
        with pytest.raises(TypeError):
            found("total")(array, 0)


def test_what_a_kernel_writes_to_may_be_written(both: Both) -> None:
    assert both.of_image("total")(READ_ONLY, 0) == 14 + (1 << 63)
    with pytest.raises(TypeError, match="No matching definition"):
        both.of_image("doubled")(NUMBERS, READ_ONLY)


@pytest.mark.parametrize("arguments", [(), (NUMBERS,), (NUMBERS, 1, 2), (NUMBERS, "x")])
def test_other_arguments_are_refused(both: Both, arguments: tuple[Any, ...]) -> None:
    with pytest.raises((TypeError, ValueError)):
        both.of_image("total")(*arguments)


def test_tuples_are_of_as_many_arrays_as_were_declared(both: Both) -> None:
    words, numbers = NUMBERS, np.zeros(4, np.uint32)
    assert both.of_image("together")((words, numbers), (1, 2)) == 8
    wrong: list[Any] = [(words,), (), (words, numbers, words), (numbers, words), [words, numbers],
                        None, 3]  # fmt: skip
    for pair in wrong:
        with pytest.raises((TypeError, ValueError, IndexError, SystemError)):
            both.of_image("together")(pair, (1, 2))
    with pytest.raises((TypeError, ValueError, IndexError, SystemError)):
        both.of_image("together")((words, numbers), (1,))


def test_a_damaged_image_is_refused(both: Both) -> None:
    for data in (both.data[:-1], both.data[:99] + b"?" + both.data[100:], b"x"):
        with pytest.raises(image.Damaged):
            image.load(data)


def test_a_name_that_nobody_has_makes_no_image(both: Both) -> None:
    made = imaging.image_of(both.made.values())  # type: ignore[arg-type]
    with pytest.raises(image.BadImage, match="there is no other_function"):
        image.check(made._replace(others={"other_function": np.zeros(1, np.uint32)}))


@pytest.mark.parametrize(
    ("place", "value", "said"), [(18, b"\xb7", "no code of x86-64"), (0, b"MZ", "no code of x86")]
)
def test_code_of_another_kind_makes_no_image(
    both: Both, place: int, value: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one: Any = both.made["total"]
    (compiled,) = one.compiled.values()
    code = compiled.library.code
    changed = code[:place] + value + code[place + len(value) :]
    monkeypatch.setattr(compiled.library, "code", changed)
    with pytest.raises(imaging.NoImage, match=said):
        imaging.image_of([one])


def test_a_kernel_of_several_types_makes_no_image() -> None:
    def double(number: Any) -> Any:
        return number + number

    double.__module__ = MODULE
    double: Any = kernel()(double)
    assert (double(1), double(1.5)) == (2, 3.0)
    with pytest.raises(imaging.NoImage, match="several types"):
        imaging.image_of([double])  # type: ignore[list-item]


_WITHOUT = """
import sys
from reusewatch.streams import kernels
kernels.prepare(print)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
made = fingerprints([Document(b"<p>some words on a page")], HashScheme(), gram_sample=1)
print(made.sketches.words.tolist(), "numba" in sys.modules, "llvmlite" in sys.modules)
"""
_BESIDE = """
import numba, numpy
@numba.njit
def beside(number):
    return numpy.arange(number)
print(beside(3))
from reusewatch.detector.compiling.kernels import kernel, types
from reusewatch.detector.compiling.mixers import mix
@kernel(types.uint64(types.uint64))
def mixed(number):
    return mix(number)
assert mixed(3) == mix(3)
"""


def _run(directory: Path, code: str) -> str:
    (directory / "run.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "run.py"], cwd=directory, capture_output=True, text=True, check=False
    )
    assert not done.stderr
    return done.stdout


def test_a_process_calls_kernels_without_numba(tmp_path: Path) -> None:
    assert _run(tmp_path, _WITHOUT) == "[5] False False\n"


def test_numba_works_beside_an_image_whichever_comes_first(tmp_path: Path) -> None:
    assert _run(tmp_path, _BESIDE + _WITHOUT) == "[0 1 2]\n[5] True True\n"
    assert _run(tmp_path, _WITHOUT + _BESIDE) == "[5] False False\n[0 1 2]\n"


_MISSING = """
from importlib import import_module
from reusewatch.streams import kernels
kernels.prepare(print)
kernels.prepare_questions(print)
for module in (*kernels.MODULES, kernels.QUESTIONS, "reusewatch.detector.scanning.scan"):
    import_module(module)
from reusewatch.detector.compiling import image
from reusewatch.detector.compiling.calling import Kernel
print(len(Kernel.every) > 60, *(one.name for one in Kernel.every if not image.holds(one.name)))
"""


def test_all_kernels_of_replays_and_questions_are_in_an_image(tmp_path: Path) -> None:
    assert _run(tmp_path, _MISSING) == "True\n"
