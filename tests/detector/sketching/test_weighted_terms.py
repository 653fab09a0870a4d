"""Weighted terms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reusewatch.detector.fields import Field
from reusewatch.detector.sketching.weighted_terms import Terms, weighted_terms
from reusewatch.detector.sketching.word_counts import WEIGHTS
from tests.detector.sketching import twins
from tests.detector.sketching.counting import counted, counted_in
from tests.detector.sketching.strategies import batch_of, token_pages

# Shares whose reciprocal is exact, so that the twin's limit is not a matter of rounding.
shares = st.sampled_from([1 / 1024, 1 / 8, 1 / 4, 1 / 2, 1.0])


def rows(terms: Terms, page: int) -> list[tuple[int, float]]:
    span = slice(terms.hashes.offsets[page], terms.hashes.offsets[page + 1])
    return list(zip(terms.hashes[page].tolist(), terms.weights[span].tolist(), strict=True))


@given(token_pages(), shares)
def test_twin(pages: list[list[tuple[int, int, int, int]]], share: float) -> None:
    terms = weighted_terms(counted_in(batch_of(pages)), least_share=share)
    for at, page in enumerate(pages):
        twin = twins.weighted_terms([t[0] for t in page], [t[1] for t in page], share)
        assert rows(terms, at) == [(term, float(np.float32(weight))) for term, weight in twin]
        assert terms.totals[at] == sum(WEIGHTS[Field(token[1])] for token in page)


@given(token_pages(), shares)
def test_weights_of_a_page_add_up_to_one_heaviest_first(
    pages: list[list[tuple[int, int, int, int]]], share: float
) -> None:
    terms = weighted_terms(counted_in(batch_of(pages)), least_share=share)
    for at, page in enumerate(pages):
        weights = [weight for _, weight in rows(terms, at)]
        assert weights == sorted(weights, reverse=True)
        assert sum(weights) == pytest.approx(1 if page else 0, abs=1e-5)
        assert bool(weights) == bool(page)
        assert len(weights) <= 1 / share


def test_table_1() -> None:
    terms = weighted_terms(counted_in(batch_of([[(field, field, 0, 1) for field in range(8)]])))
    assert terms.totals.tolist() == [14.5]
    found = {Field(term): weight * 14.5 for term, weight in rows(terms, 0)}
    assert found == pytest.approx(twins.TABLE_1)


def test_long_pages_shed_their_lightest_terms() -> None:
    tokens = [1] * 2000 + list(range(100, 200))
    terms = weighted_terms(counted([tokens]))
    assert terms.hashes[0].tolist() == [1]


def test_a_page_of_countless_words_keeps_the_first_thousand() -> None:
    terms = weighted_terms(counted([list(range(5000))]))
    assert terms.hashes[0].tolist() == list(range(1000))


@given(st.integers(256, 70_000), st.integers(1, 300))
def test_weights_of_several_digits_are_ordered(many: int, few: int) -> None:
    assume(many != few)
    tokens = [1] * few + [2] * many + [3] * few
    terms = weighted_terms(counted([tokens]), least_share=1e-6)
    assert terms.hashes[0].tolist() == ([2, 1, 3] if many > few else [1, 3, 2])


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5, float("nan")])
def test_a_share_is_a_share(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        weighted_terms(counted([]), least_share=share)
