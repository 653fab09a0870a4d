"""A kernel is made for one signature, at its first call or before."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numba import types

from reusewatch.detector.compiling import timing
from reusewatch.detector.compiling.declaring import make_all
from reusewatch.detector.compiling.kernels import WORDS, kernel, part


@pytest.fixture(autouse=True)
def _left_to_calls() -> Iterator[None]:
    before = timing.is_left_to_calls()
    timing.leave_to_calls(all_are_kept=True)
    yield
    timing.leave_to_calls(all_are_kept=before)


def _first() -> Any:
    @kernel(types.uint64(WORDS))
    def first(words: Any) -> Any:
        return words[0]

    return first


def test_it_is_made_when_it_is_called_and_takes_what_was_declared() -> None:
    first = _first()
    assert not first.overloads
    assert first(np.array([7, 8], np.uint64)) == 7
    assert len(first.overloads) == 1


def test_other_types_are_refused_at_the_first_call_too() -> None:
    first = _first()
    for _ in range(2):
        with pytest.raises(TypeError, match="No matching definition"):
            first(np.array([7, 8], np.int32))


def test_within_another_kernel_it_has_its_own_signature() -> None:
    first = _first()

    @part(types.uint64(WORDS))
    def second(words: Any) -> Any:
        return words[1]

    @kernel(types.uint64(types.Array(types.uint64, 1, "C")))
    def both(words: Any) -> Any:
        return first(words) + second(words)

    assert both(np.array([7, 8], np.uint64)) == 15
    assert list(first.overloads) == [(WORDS,)]


def test_threads_that_call_it_at_once_all_have_it() -> None:
    first, words = _first(), np.array([7, 8], np.uint64)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(first, [words] * 8)) == [7] * 8


def test_whoever_forks_makes_all_before() -> None:
    first = _first()
    make_all()
    assert first.overloads


def test_at_once_unless_all_are_kept() -> None:
    timing.leave_to_calls(all_are_kept=False)
    assert _first().overloads
