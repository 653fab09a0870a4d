"""A kernel is made for one signature when it is called first, by Python or by another kernel."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from reusewatch.detector.compiling.calling import make_all
from reusewatch.detector.compiling.kernels import OUT_WORDS, WORDS, kernel, part, types


def _first() -> Any:
    @kernel(types.uint64(WORDS))
    def first(words: Any) -> Any:
        """The first word."""
        return words[0]

    return first


def test_it_is_made_when_it_is_called_and_takes_what_was_declared() -> None:
    first = _first()
    assert first.compiled is None
    assert first(np.array([7, 8], np.uint64)) == 7
    assert len(first.compiled) == 1
    assert first.__doc__ == "The first word."


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

    @kernel(types.uint64(OUT_WORDS))
    def both(words: Any) -> Any:
        return first(words) + second(words)

    assert both(np.array([7, 8], np.uint64)) == 15
    assert len(first.compiled) == 1


def test_without_a_signature_the_first_call_says_the_types() -> None:
    @kernel()
    def double(number: Any) -> Any:
        return number + number

    assert (double(3), double(4)) == (6, 8)


def test_threads_that_call_it_at_once_all_have_it() -> None:
    first, words = _first(), np.array([7, 8], np.uint64)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(first, [words] * 8)) == [7] * 8


def test_all_that_were_imported_are_made_at_once() -> None:
    first = _first()
    make_all()
    assert first.compiled
