"""Random projections."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching import agreement, simhash
from tests.detector.sketching import twins
from tests.detector.sketching.strategies import pages, schemes, sequences

hashes = st.lists(
    st.lists(st.integers(0, (1 << 64) - 1), min_size=6, max_size=6), min_size=2, max_size=2
)


@given(pages, schemes)
def test_twin(pages: list[list[int]], scheme: HashScheme) -> None:
    rows = simhash.simhashes(Ragged.of(pages), scheme)
    assert rows.tolist() == [twins.simhash(page, scheme) for page in pages]


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 31, 32, 255, 256, 257, 4095, 4096, 70_001])
def test_counters_are_wide_enough(size: int) -> None:
    tokens = [3] * (size - size // 3) + [5] * (size // 3)
    pages = [tokens, [3] * size]
    rows = simhash.simhashes(Ragged.of(pages), HashScheme())
    assert rows.tolist() == [twins.simhash(page, HashScheme()) for page in pages]


def test_a_sum_of_zero_is_not_positive() -> None:
    one, other, both = simhash.simhashes(Ragged.of([[3], [5], [3, 5]]), HashScheme())
    assert both.tolist() == (one & other).tolist()


@given(sequences)
def test_only_shares_of_tokens_matter(tokens: list[int]) -> None:
    pages = Ragged.of([tokens, sorted(tokens), tokens * 2])
    one, other, twice = simhash.simhashes(pages, HashScheme())
    assert one.tolist() == other.tolist() == twice.tolist()


@given(hashes)
def test_distance(pair: list[list[int]]) -> None:
    one, other = np.array(pair, np.uint64)
    expected = sum((a ^ b).bit_count() for a, b in zip(*pair, strict=True))
    assert agreement.distance(one, other) == expected
    if one.any() and other.any():
        assert agreement.c_similarity(one, other) == 384 - expected


def test_pages_without_tokens_are_not_c_similar() -> None:
    one, other, some = simhash.simhashes(Ragged.of([[], [], [1]]), HashScheme())
    assert agreement.c_similarity(one, other) == agreement.c_similarity(one, some) == 0


@given(st.lists(st.integers(0, 383), max_size=11, unique=True), hashes)
def test_eleven_flipped_bits_leave_a_piece(flips: list[int], pair: list[list[int]]) -> None:
    row = pair[0]
    flipped = list(row)
    for bit in flips:
        flipped[bit // 64] ^= 1 << bit % 64
    before, after = simhash.pieces(np.array([row, flipped], np.uint64))
    assert before.shape == (simhash.PIECES,)
    assert (before == after).any()


@given(hashes)
def test_pieces_and_hex_spell_the_same_bits(pair: list[list[int]]) -> None:
    row = np.array(pair[:1], np.uint64)
    text = simhash.simhash_hex(row[0])
    assert len(text) == 96
    assert [int(text[at : at + 16], 16) for at in range(0, 96, 16)] == pair[0]
    low_then_high = [f"{high:08x}{low:08x}" for low, high in simhash.pieces(row).reshape(6, 2)]
    assert "".join(low_then_high) == text
