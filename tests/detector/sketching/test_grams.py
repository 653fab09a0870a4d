"""Gram sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.grams import GRAM_K, gram_sets
from reusewatch.detector.sketching.identity import identity_hashes
from reusewatch.detector.sketching.shingles import phrases
from tests.detector.sketching import twins
from tests.detector.sketching.strategies import schemes, words

pages = st.lists(st.lists(st.integers(0, 2) | words, max_size=60), max_size=5)


@given(pages, st.integers(1, 9), schemes)
def test_twin(pages: list[list[int]], k: int, scheme: HashScheme) -> None:
    tokens = Ragged.of(pages)
    salts = identity_hashes(tokens, scheme)
    grams = gram_sets(phrases(tokens, k, scheme, circular=False), salts)
    for at, page in enumerate(pages):
        twin = twins.grams(page, k, scheme)
        span = slice(grams.hashes.offsets[at], grams.hashes.offsets[at + 1])
        assert grams.hashes[at].tolist() == list(twin)
        assert grams.positions[span].tolist() == list(twin.values())


@given(pages, schemes)
def test_the_circle_without_its_end_gives_the_same(
    pages: list[list[int]], scheme: HashScheme
) -> None:
    tokens = Ragged.of(pages)
    salts = identity_hashes(tokens, scheme)
    circular = gram_sets(phrases(tokens, GRAM_K, scheme, circular=True), salts, wrapped=4)
    straight = gram_sets(phrases(tokens, GRAM_K, scheme, circular=False), salts)
    assert circular.hashes.values.tolist() == straight.hashes.values.tolist()
    assert circular.hashes.offsets.tolist() == straight.hashes.offsets.tolist()
    assert circular.positions.tolist() == straight.positions.tolist()


@given(pages, st.lists(words, min_size=5, max_size=5))
def test_salts_move_slots_only(pages: list[list[int]], salts: list[int]) -> None:
    column = Ragged.of(pages)
    salted = gram_sets(column, np.array(salts[: len(pages)], np.uint64))
    plain = gram_sets(column, np.zeros(len(pages), np.uint64))
    assert salted.hashes.values.tolist() == plain.hashes.values.tolist()


def test_a_salt_for_each_page() -> None:
    with pytest.raises(ValueError, match="1 salts for 2 pages"):
        gram_sets(Ragged.of([[1], [2]]), np.zeros(1, np.uint64))


@given(pages, st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_a_sample_is_the_same_in_every_page(pages: list[list[int]], sample: float) -> None:
    column = Ragged.of(pages)
    salts = identity_hashes(column, HashScheme())
    grams, sampled = gram_sets(column, salts), gram_sets(column, salts, sample=sample)
    for whole, part in zip(grams.hashes, sampled.hashes, strict=True):
        assert part.tolist() == [gram for gram in whole.tolist() if gram < sample * 2**64]


@pytest.mark.parametrize("sample", [-0.1, 1.1, float("nan")])
def test_a_sample_is_a_share(sample: float) -> None:
    with pytest.raises(ValueError, match="sample"):
        gram_sets(Ragged.of([]), np.empty(0, np.uint64), sample=sample)
