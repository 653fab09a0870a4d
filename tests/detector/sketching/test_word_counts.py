"""How often each word stands on a page."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.fields import UNSEEN, Field
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.simhash import simhashes_of_counts
from reusewatch.detector.sketching.word_counts import word_counts
from tests.detector.sketching import twins
from tests.detector.sketching.counting import counted, counted_in
from tests.detector.sketching.strategies import batch_of, token_pages


@given(token_pages())
def test_twin(pages: list[list[tuple[int, int, int, int]]]) -> None:
    found = counted_in(batch_of(pages))
    at = 0
    for page, words in zip(pages, found.words, strict=True):
        halves, seen = Counter[int](), Counter[int]()
        for token, field, *_ in page:
            halves[token] += int(2 * twins.TABLE_1[Field(field)])
            seen[token] += Field(field) not in UNSEEN
        own = slice(at, at + len(words))
        assert words.tolist() == list(halves)
        assert found.halves[own].tolist() == list(halves.values())
        assert found.seen[own].tolist() == [seen[word] for word in halves]
        at += len(words)


@given(st.lists(st.lists(st.integers(0, 40), max_size=700), max_size=4))
def test_a_word_votes_as_often_as_it_stands_there(pages: list[list[int]]) -> None:
    found, scheme = counted(pages), HashScheme(3)
    rows = simhashes_of_counts(found.words, found.seen, scheme)
    assert rows.tolist() == [twins.simhash(page, scheme) for page in pages]


def test_columns_that_do_not_belong_together_are_refused() -> None:
    tokens, salts = Ragged.of([[1, 2, 3]]), np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match="1 fields for 3 tokens"):
        word_counts(tokens, np.array([0], np.uint8), salts)
    with pytest.raises(ValueError, match="there is no field 8"):
        word_counts(tokens, np.array([0, 8, 0], np.uint8), salts)
    with pytest.raises(ValueError, match="2 salts for 1 pages"):
        word_counts(tokens, np.zeros(3, np.uint8), np.zeros(2, np.uint64))
    with pytest.raises(ValueError, match="2 counts for 3 words"):
        simhashes_of_counts(tokens, np.ones(2, np.uint32), HashScheme())
