"""One pass over kept pages: the answers of the window by its definition, and of the index."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.similar.kept_pages import KeptPages
from reusewatch.detector.similar.one_pass import Found, OnePass
from tests.detector.similar.twin import (
    NOW,
    Fetch,
    Terms,
    Twin,
    batch,
    documents,
    fetches,
    thresholds,
)

_streams = st.lists(fetches, max_size=60)


def passed(seen: list[Fetch], cut: int, terms: Terms) -> tuple[OnePass, list[KeptPages]]:
    question = OnePass(list(terms), list(terms.values()))
    batches = [
        KeptPages.unpacked(KeptPages.of(batch(seen[at : at + cut])).packed())
        for at in range(0, len(seen), cut)
    ]
    for pages in batches:
        question.look(pages, now=NOW)
    return question, batches


def told(found: Found, batches: list[KeptPages]) -> list[tuple[int, str, float]]:
    return [
        (int(batches[one.batch].page[one.row]), batches[one.batch].url_of(one.row), one.overlap)
        for one in found.rows
    ]


@given(
    _streams, st.integers(1, 9), st.sampled_from([1, 4, 1_000]), st.sampled_from([None, 0, 10]),
    documents, thresholds,
)  # fmt: skip
@settings(max_examples=300)
def test_answers_are_those_of_the_window(
    seen: list[Fetch], cut: int, size: int, age: int | None, asked: Terms, threshold: float
) -> None:
    twin = Twin(size, age)
    for fetch in seen:
        twin.add(fetch)
    for terms in [asked, *(fetch.terms for fetch in seen[:2])]:
        question, batches = passed(seen, cut, terms)
        found = question.found(threshold, max_pages=size, max_age_us=age)
        assert told(found, batches) == twin.similar(terms, threshold)
        assert (found.pages, found.found) == (len(twin.held), len(found.rows))
        assert found.compared == sum(bool(terms.keys() & one.terms) for one in twin.held.values())


@given(_streams.filter(bool), st.integers(1, 9), thresholds)
def test_the_page_that_asks_is_no_answer(seen: list[Fetch], cut: int, threshold: float) -> None:
    twin = Twin(1_000)
    for fetch in seen:
        twin.add(fetch)
    itself = twin.held[seen[0].page]
    question, batches = passed(seen, cut, itself.terms)
    found = question.found(threshold, max_pages=1_000, without=itself.page)
    wanted = [one for one in twin.similar(itself.terms, threshold) if one[0] != itself.page]
    assert told(found, batches) == wanted
    assert found.itself is not None
    kept = batches[found.itself.batch]
    assert kept.at[found.itself.row] == batch([itself]).at[0]
    mine = dict(zip(kept.terms[found.itself.row].tolist(), kept.weights_of(found.itself.row),
                    strict=True))  # fmt: skip
    assert mine == {term: np.float32(weight) for term, weight in itself.terms.items()}


def test_the_best_come_first_and_no_more_than_asked_for() -> None:
    seen = [Fetch(n, 0, {1: 0.5, 2 + n: 0.5}) for n in range(9)]
    question, batches = passed(seen, 4, {1: 0.5, 7: 0.5})
    found = question.found(0.5, max_pages=100, top=3)
    assert [page for page, _, _ in told(found, batches)] == [5, 0, 1]
    assert (found.found, found.compared) == (9, 9)


def test_a_misdated_page_is_none_and_too_low_a_threshold_is_refused() -> None:
    page = batch([Fetch(1, 0, {1: 1.0})])
    question = OnePass([1], [1.0])
    question.look(KeptPages.of(page), now=int(page.at[0]) - 7_200_000_000)
    assert question.found(0.5, max_pages=9).pages == 0
    with pytest.raises(ValueError, match="floor"):
        question.found(0.01, max_pages=9)
