"""Phrases, min-values, supershingles."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching import shingles
from reusewatch.detector.sketching.agreement import b_similarity
from tests.detector.sketching import twins
from tests.detector.sketching.strategies import pages, schemes, sequences

KS = st.integers(1, 12)


@given(pages, KS, st.booleans(), schemes)
def test_phrases_twin(pages: list[list[int]], k: int, circular: bool, scheme: HashScheme) -> None:
    column = shingles.phrases(Ragged.of(pages), k, scheme, circular=circular)
    assert [page.tolist() for page in column] == [
        twins.phrases(page, k, scheme, circular) for page in pages
    ]


@given(pages, schemes)
def test_min_values_twin(pages: list[list[int]], scheme: HashScheme) -> None:
    rows = shingles.min_values(Ragged.of(pages), scheme)
    assert rows.tolist() == [twins.min_values(page, scheme) for page in pages]


@given(pages, schemes)
def test_shingle_values_twin(pages: list[list[int]], scheme: HashScheme) -> None:
    rows = shingles.shingle_values(Ragged.of(pages), scheme)
    assert rows.tolist() == [
        twins.min_values(twins.phrases(page, 8, scheme, circular=False), scheme) for page in pages
    ]


def test_shingles_of_a_long_page_are_taken_to_the_last_one() -> None:
    scheme, rng = HashScheme(), np.random.default_rng(2006)
    sizes = [1024 + 6, 1024 + 7, 1024 + 8, 3 * 1024 + 500]
    tokens = Ragged.of([rng.integers(1 << 63, size=size, dtype=np.uint64) for size in sizes])
    straight = shingles.phrases(tokens, 8, scheme, circular=False)
    rows = shingles.shingle_values(tokens, scheme)
    assert rows.tolist() == shingles.min_values(straight, scheme).tolist()


@given(pages, schemes)
def test_supershingles_twin(pages: list[list[int]], scheme: HashScheme) -> None:
    rows = shingles.min_values(Ragged.of(pages), scheme)
    assert shingles.supershingles(rows, scheme).tolist() == [
        twins.supershingles(row, scheme) for row in rows.tolist()
    ]


@given(sequences, KS)
def test_a_circle_of_n_words_has_n_phrases(tokens: list[int], k: int) -> None:
    column = shingles.phrases(Ragged.of([tokens]), k, HashScheme(), circular=True)
    assert column.counts.tolist() == [len(tokens)]


@given(st.integers(0, (1 << 64) - 1), KS)
def test_the_phrase_of_one_word_repeats_it(word: int, k: int) -> None:
    pages = Ragged.of([[word], [word] * k])
    circular = shingles.phrases(pages, k, HashScheme(), circular=True)
    straight = shingles.phrases(pages, k, HashScheme(), circular=False)
    assert set(circular[0].tolist()) == set(circular[1].tolist()) == set(straight[1].tolist())


@given(sequences, st.integers(0, 80), KS)
def test_where_a_circle_begins_does_not_matter(tokens: list[int], turn: int, k: int) -> None:
    turned = tokens[turn:] + tokens[:turn]
    column = shingles.phrases(Ragged.of([tokens, turned]), k, HashScheme(), circular=True)
    assert sorted(column[0].tolist()) == sorted(column[1].tolist())


@given(st.lists(st.lists(st.integers(0, 9), max_size=7), min_size=2, max_size=2))
def test_pages_shorter_than_a_shingle_are_never_b_similar(pages: list[list[int]]) -> None:
    column = shingles.phrases(Ragged.of(pages), shingles.SHINGLE_K, HashScheme(), circular=False)
    rows = shingles.min_values(column, HashScheme())
    one, other = shingles.supershingles(rows, HashScheme())
    assert b_similarity(one, other) == 0
    assert twins.resemblance(rows[0], rows[1]) == 0


@given(sequences)
def test_a_page_is_like_itself(tokens: list[int]) -> None:
    assume(tokens)
    column = shingles.phrases(Ragged.of([tokens]), 5, HashScheme(), circular=True)
    row = shingles.min_values(column, HashScheme())
    supers = shingles.supershingles(row, HashScheme())[0]
    assert b_similarity(supers, supers) == 6
    assert twins.resemblance(row[0], row[0]) == 1


@given(sequences, schemes)
def test_a_min_value_leads_back_to_its_phrase(tokens: list[int], scheme: HashScheme) -> None:
    assume(tokens)
    column = shingles.phrases(Ragged.of([tokens]), 5, scheme, circular=True)
    row = shingles.min_values(column, scheme)[0]
    hashes = column[0].tolist()
    positions = shingles.phrase_positions(row, column[0], scheme).tolist()
    behind = shingles.phrases_behind(row, scheme).tolist()
    factors = scheme.numbers("min-wise", 84).tolist()
    for value, phrase, position, factor in zip(
        row.tolist(), behind, positions, factors, strict=True
    ):
        assert position == hashes.index(phrase)
        assert phrase * factor & twins.MASK == value


@given(st.integers(0, (1 << 64) - 1), schemes)
def test_min_wise_functions_are_bijections(phrase: int, scheme: HashScheme) -> None:
    row = shingles.min_values(Ragged.of([[phrase]]), scheme)[0]
    assert set(shingles.phrases_behind(row, scheme).tolist()) == {phrase}


@given(sequences)
def test_min_values_of_another_page_have_no_position(tokens: list[int]) -> None:
    row = shingles.min_values(Ragged.of([[7]]), HashScheme())[0]
    phrases = np.array([token for token in tokens if token != 7], np.uint64)
    assert set(shingles.phrase_positions(row, phrases, HashScheme()).tolist()) == {-1}


def test_a_phrase_has_a_word() -> None:
    with pytest.raises(ValueError, match="at least one word"):
        shingles.phrases(Ragged.of([[1]]), 0, HashScheme(), circular=True)
