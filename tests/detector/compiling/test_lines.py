"""A line's words, compared at once, are what they are one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.compiling.kernels import OUT_COUNTS, kernel, types
from reusewatch.detector.compiling.lines import LINE, first_of, is_from

# Few values near each other and near the ends, so that some are within and some beside.
_WORDS = st.one_of(st.integers(0, 9), st.integers((1 << 32) - 9, (1 << 32) - 1))
_LINES = st.lists(_WORDS, min_size=2 * LINE, max_size=2 * LINE)


@kernel(types.int64(OUT_COUNTS, types.int64, types.uint32, types.uint32))
def bits_of(words: Any, at: Any, first: Any, count: Any) -> Any:
    return is_from(words, at, first, count)


@kernel(types.int64(types.int64))
def lowest(bits: Any) -> Any:
    return first_of(bits)


@given(_LINES, st.integers(0, LINE), _WORDS, _WORDS)
def test_the_words_of_a_range(line: list[int], at: int, first: int, count: int) -> None:
    found = bits_of(np.array(line, np.uint32), at, first, count)
    # In numbers of 32 bits: what is before the first is far behind it.
    within = [(word - first) % (1 << 32) < count for word in line[at : at + LINE]]
    assert found == sum(1 << place for place, one in enumerate(within) if one)


@given(st.integers(1, (1 << LINE) - 1))
def test_the_lowest_bit(bits: int) -> None:
    assert lowest(bits) == bin(bits)[::-1].index("1")
