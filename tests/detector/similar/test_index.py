"""Pages like a given one: the index against comparing with every page of the window."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.ragged import Ragged
from reusewatch.detector.similar.answers import SharedTerm
from reusewatch.detector.similar.index import MwoIndex
from reusewatch.detector.similar.overlap import ROUNDING, decide, least
from reusewatch.detector.similar.weighted_pages import WeightedPages
from tests.detector.similar.paper_filters import with_paper_filters
from tests.detector.similar.twin import (
    NOW,
    T0,
    Fetch,
    Terms,
    Twin,
    answers,
    ask,
    batch,
    documents,
    fetches,
    mwo,
    normalized,
    thresholds,
)

_streams = st.lists(fetches, max_size=60)
_sizes = st.sampled_from([1, 4, 1_000])
_ages = st.sampled_from([None, 0, 10])


def filled(seen: list[Fetch], size: int = 1_000, **options: Any) -> MwoIndex:
    index = MwoIndex(max_pages=size, **options)
    index.add(batch(seen), now=NOW)
    return index


def state(index: MwoIndex) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in index.save().items()}


@given(_streams, _sizes, _ages, documents, thresholds)
@settings(max_examples=400)
def test_nothing_is_lost_against_brute_force(
    seen: list[Fetch], size: int, age: int | None, asked: Terms, threshold: float
) -> None:
    index, twin = MwoIndex(max_pages=size, max_age_us=age), Twin(size, age)
    for fetch in seen:
        index.add(batch([fetch]), now=NOW)
        twin.add(fetch)
    assert len(index) == len(twin.held)
    assert index.terms == len({term for held in twin.held.values() for term in held.terms})
    for terms in [asked, *(fetch.terms for fetch in seen[:5])]:
        found = ask(index, terms, threshold)
        assert answers(found) == twin.similar(terms, threshold)
        assert found.candidates >= found.mezzanine >= found.found == len(found.answers)
        assert found.unseen == found.cut == 0


@given(_streams, _sizes, _ages, st.integers(1, 9))
@settings(max_examples=150)
def test_a_batch_is_added_as_its_pages_one_by_one(
    seen: list[Fetch], size: int, age: int | None, cut: int
) -> None:
    together, alone = (MwoIndex(max_pages=size, max_age_us=age) for _ in range(2))
    for begin in range(0, len(seen), cut):
        together.add(batch(seen[begin : begin + cut]), now=NOW)
    for fetch in seen:
        alone.add(batch([fetch]), now=NOW)
    assert len(together) == len(alone)
    for fetch in seen:
        assert answers(ask(together, fetch.terms, 0.3)) == answers(ask(alone, fetch.terms, 0.3))


@given(_streams, st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_answers_do_not_depend_on_the_order_of_arrival(seen: list[Fetch], random: Any) -> None:
    shuffled = random.sample(seen, len(seen))
    one, other = filled(seen), filled(shuffled)
    for fetch in seen:
        assert ask(one, fetch.terms, 0.4) == ask(other, fetch.terms, 0.4)


@given(_streams)
@settings(max_examples=150)
def test_adding_pages_twice_changes_nothing(seen: list[Fetch]) -> None:
    index = filled(seen)
    before = state(index)
    index.add(batch(seen), now=NOW)
    assert state(index) == before


@given(_streams, documents, thresholds, st.booleans())
@settings(max_examples=150)
def test_asking_changes_nothing(
    seen: list[Fetch], asked: Terms, threshold: float, by_paper: bool
) -> None:
    index = filled(seen)
    before = state(index)
    terms, weights = np.array(list(asked), np.uint64), np.array(list(asked.values()), np.float32)
    copies = terms.copy(), weights.copy()
    asked_of = with_paper_filters(index) if by_paper else index
    asked_of.similar(terms, weights, threshold=threshold)
    assert state(index) == before
    assert (terms == copies[0]).all()
    assert (weights == copies[1]).all()


@given(_streams, _sizes, _ages)
@settings(max_examples=150)
def test_a_saved_window_goes_on_like_the_window(
    seen: list[Fetch], size: int, age: int | None
) -> None:
    half = len(seen) // 2
    one, other = (MwoIndex(max_pages=size, max_age_us=age) for _ in range(2))
    one.add(batch(seen[:half]), now=NOW)
    other.restore({name: array.copy() for name, array in one.save().items()})
    assert state(one) == state(other)
    for fetch in seen[half:]:
        for index in (one, other):
            index.add(batch([fetch]), now=NOW)
        assert ask(one, fetch.terms, 0.3) == ask(other, fetch.terms, 0.3)


@given(_streams, documents, thresholds, st.integers(1, 30), st.integers(1, 5))
@settings(max_examples=300)
def test_what_bounds_on_a_search_cut_is_counted(
    seen: list[Fetch], asked: Terms, threshold: float, entries: int, checked: int
) -> None:
    whole = answers(ask(filled(seen), asked, threshold))
    found = ask(filled(seen, most_entries=entries, most_checked=checked), asked, threshold)
    part = answers(found)
    assert [answer for answer in whole if answer in part] == part
    assert len(whole) - len(part) <= found.unseen + found.cut


@given(_streams, documents, thresholds)
@settings(max_examples=300)
def test_the_papers_sets(seen: list[Fetch], asked: Terms, threshold: float) -> None:
    index, twin = filled(seen), Twin(1_000)
    for fetch in seen:
        twin.add(fetch)
    found = ask(with_paper_filters(index), asked, threshold)
    chosen, mezzanine = twin.paper_sets(asked, threshold)
    assert (found.candidates, found.mezzanine) == (len(chosen), len(mezzanine))
    whole = twin.similar(asked, threshold)
    assert answers(found) == [answer for answer in whole if answer[0] in mezzanine]


def test_the_papers_bounds_miss_an_overlap_in_one_heavy_term() -> None:
    pages = [
        Fetch(
            page, page, normalized({0: 90.0} | dict.fromkeys(range(10 * page, 10 * page + 10), 1))
        )
        for page in range(1, 4)
    ]
    index = filled(pages)
    assert len(ask(index, pages[0].terms, 0.9).answers) == 3
    assert len(ask(with_paper_filters(index), pages[0].terms, 0.9).answers) == 1


@given(documents, documents)
def test_decide_is_the_overlap(one: Terms, other: Terms) -> None:
    found = decide(list(one), list(one.values()), list(other), list(other.values()))
    assert found == mwo(one, other)
    assert found == decide(list(other), list(other.values()), list(one), list(one.values()))


@given(documents)
def test_a_copy_is_found_at_threshold_1(terms: Terms) -> None:
    found = ask(filled([Fetch(1, 1, terms)]), terms, 1.0)
    assert [answer.mwo for answer in found.answers] == pytest.approx([1.0] * bool(terms), abs=1e-6)
    assert least(1.0) == 1 - ROUNDING


@given(_streams, documents, st.integers(1, 3))
def test_the_best_come_first_and_others_are_counted(
    seen: list[Fetch], asked: Terms, top: int
) -> None:
    index = filled(seen)
    whole, best = ask(index, asked, 0.2), ask(index, asked, 0.2, top=top)
    assert best.answers == whole.answers[:top]
    assert best.found == whole.found


@given(_streams)
@settings(max_examples=50)
def test_a_page_of_the_window_is_asked_for_by_its_own_terms(seen: list[Fetch]) -> None:
    index = filled(seen)
    for fetch in seen:
        own = index.terms_of(fetch.page)
        assert own is not None
        found = index.similar(*own, threshold=0.2)
        others = index.similar(*own, threshold=0.2, without=fetch.page)
        rest = [answer for answer in found.answers if answer.page != fetch.page]
        assert list(others.answers) == rest
    assert index.terms_of(1_000) is None


def test_the_terms_that_decided_come_first() -> None:
    index = filled([Fetch(1, 1, {1: 0.5, 2: 0.25, 3: 0.25})])
    (answer,) = ask(index, {1: 0.25, 2: 0.25, 4: 0.5}, 0.5).answers
    assert answer.mwo == 0.5
    assert answer.terms == (SharedTerm(1, 0.25, 0.5), SharedTerm(2, 0.25, 0.25))


def test_a_refetch_replaces_and_a_late_one_does_not() -> None:
    index = filled([Fetch(1, 5, {1: 1.0}), Fetch(1, 9, {2: 1.0}), Fetch(1, 7, {3: 1.0})])
    assert [len(ask(index, {term: 1.0}, 0.5).answers) for term in (1, 2, 3)] == [0, 1, 0]
    index.add(batch([Fetch(1, 11, {})]), now=NOW)
    assert (len(index), index.terms) == (1, 0)


def test_a_misdated_page_is_not_added() -> None:
    index = MwoIndex(max_pages=10)
    index.add(batch([Fetch(1, -1, {1: 1.0}), Fetch(2, 2 * NOW, {1: 1.0})]), now=NOW)
    assert len(index) == 0


def test_memory_stays_what_it_was_while_the_window_slides() -> None:
    draw = np.random.default_rng(5)

    def page(number: int) -> Fetch:
        words = draw.choice(20_000, draw.integers(1, 400), replace=False).tolist()
        return Fetch(number, number, normalized(dict.fromkeys(words, 1.0)))

    index, sizes = MwoIndex(max_pages=200), []
    for number in range(0, 6_000, 20):
        index.add(batch([page(number + i) for i in range(20)]), now=NOW)
        sizes.append(index.nbytes)
    assert len(index) == 200
    assert max(sizes[30:]) <= 1.5 * sizes[30]
    alive = [index.terms_of(number) for number in range(6_000)]
    assert sum(own is not None for own in alive) == 200


def test_a_template_costs_a_bounded_search() -> None:
    """All but one term of twenty thousand pages are the same."""
    template = dict.fromkeys(range(20), 1.0)
    pages = [
        Fetch(page, page, normalized(template | {1_000 + page: 1.0})) for page in range(20_000)
    ]
    index = filled(pages, 100_000, most_entries=5_000, most_checked=1_000)
    found = ask(index, pages[7].terms, 0.9, top=10)
    assert found.answers[0].page == 7
    assert len(found.answers) == 10
    assert found.candidates <= 5_000
    assert found.found <= 1_000
    assert found.unseen
    assert found.cut


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5], "1 weights for 2"),
        ([0.0, 1.0], "from"),
        ([float("nan"), 0.5], "from"),
        ([0.9, 0.9], "add up"),
    ],
)
def test_weights_that_are_not_normalized_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WeightedPages.of([1], [T0], Ragged.of([[1, 2]]), weights, ["u"])
    with pytest.raises(ValueError, match=message):
        MwoIndex(max_pages=1).similar([1, 2], weights, threshold=0.5)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 1024"):
        WeightedPages.of([1], [T0], Ragged.of([range(1025)]), np.full(1025, 1 / 1025), ["u"])
    with pytest.raises(ValueError, match="URLs"):
        WeightedPages.of([1], [T0], Ragged.of([[1]]), [1.0], ["u", "v"])
    with pytest.raises(ValueError, match="at has shape"):
        WeightedPages.of([1], [T0, T0], Ragged.of([[1]]), [1.0], ["u"])
    with pytest.raises(ValueError, match="threshold"):
        MwoIndex(max_pages=1).similar([1], [1.0], threshold=1.5)
    with pytest.raises(ValueError, match="floor"):
        MwoIndex(max_pages=1).similar([1], [1.0], threshold=0.05)
    with pytest.raises(ValueError, match="at least 1"):
        MwoIndex(max_pages=0)
    with pytest.raises(ValueError, match="weights for"):
        decide([1], [0.5, 0.5], [1], [1.0])
