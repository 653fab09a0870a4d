"""Weights as runs: the same weights, in whatever order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.ragged import Ragged
from reusewatch.detector.similar.kept_pages import KeptPages
from reusewatch.detector.similar.overlap import decide, overlap_of
from reusewatch.detector.similar.weighted_pages import WeightedPages

# Up to 20 terms of these: together never more than 1.
WEIGHTS = st.lists(st.sampled_from([0.05, 0.025, 0.01]), max_size=20)


def pages_of(weights: list[list[float]]) -> WeightedPages:
    terms = Ragged.of([range(1, len(page) + 1) for page in weights])
    column = np.array([weight for page in weights for weight in page], np.float32)
    names = [f"https://a.example/{at}" for at in range(len(weights))]
    return WeightedPages.of(range(len(weights)), np.arange(len(weights)), terms, column, names)


@given(st.lists(WEIGHTS, max_size=6))
def test_weights_come_back_as_they_were(weights: list[list[float]]) -> None:
    pages = pages_of(weights)
    kept = KeptPages.of(pages)
    again = KeptPages.unpacked(kept.packed())
    for one in (kept, again):
        back = one.weighted()
        assert back.weights.tolist() == pages.weights.tolist()
        assert back.terms.values.tolist() == pages.terms.values.tolist()
        for row, page in enumerate(weights):
            assert one.weights_of(row).tolist() == np.array(page, np.float32).tolist()
            assert one.url_of(row) == f"https://a.example/{row}"


@given(st.lists(WEIGHTS, min_size=1, max_size=6))
def test_a_page_is_read_without_the_others(weights: list[list[float]]) -> None:
    pages = pages_of(weights)
    kept = KeptPages.of(pages)
    data, stands = kept.packed(), kept.stands()
    for row, page in enumerate(weights):
        asked: list[int] = []

        def read(begin: int, size: int, asked: list[int] = asked) -> bytes:
            asked.append(size)
            return data[begin : begin + size]

        terms, shares = stands.terms_in(read, row).weighted()
        assert terms.tolist() == pages.terms[row].tolist()
        assert shares.tolist() == np.array(page, np.float32).tolist()
        assert sum(asked) <= 16 * len(page)


@given(st.lists(WEIGHTS, min_size=2, max_size=6))
def test_the_overlap_of_two_pages_is_the_same_of_runs(weights: list[list[float]]) -> None:
    pages = pages_of(weights)
    kept = KeptPages.of(pages)
    data, stands = kept.packed(), kept.stands()
    runs = [stands.terms_in(lambda at, size: data[at : at + size], row) for row in range(len(kept))]
    for one, other in pairwise(range(len(kept))):
        terms = pages.terms[one], weights[one], pages.terms[other], weights[other]
        assert overlap_of(runs[one], runs[other]) == decide(*terms)
        assert overlap_of(runs[one], runs[one]) == sum(np.array(weights[one], np.float32).tolist())


def test_weights_that_fall_take_next_to_nothing() -> None:
    weights = [[0.01] * 20 + [0.002] * 80] * 50
    pages = pages_of(weights)
    assert len(KeptPages.of(pages).packed()) < 0.75 * (
        pages.terms.values.nbytes + pages.weights.nbytes
    )
