"""Runs, against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.evidence.alignment import Runs, align
from reusewatch.detector.evidence.shared_grams import (
    MOST_PLACES,
    Seeds,
    SharedGrams,
    gram_length,
    shared_grams,
)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.grams import GRAM_K
from tests.detector.evidence import twin

SCHEME = HashScheme()
# Few words, so that grams stand in many places; and pieces of one text, as copies have them.
_words = st.lists(st.integers(0, 2), max_size=40)
_text = list(range(100, 140))
_pieces = st.lists(
    st.tuples(st.integers(0, 35), st.integers(1, 12)).map(lambda p: _text[p[0] : p[0] + p[1]])
    | st.lists(st.integers(0, 3), max_size=4),
    max_size=6,
).map(lambda parts: [word for part in parts for word in part])
pages = _words | _pieces


def column(words: list[int]) -> np.ndarray:
    return np.array(words, np.uint64)


def aligned(here: list[int], donors: list[list[int]]) -> tuple[SharedGrams, Runs]:
    there = Ragged.of(donors)
    found = shared_grams(column(here), there, SCHEME)
    return found, align(column(here), there, found.seeds)


def rows(runs: Runs) -> list[twin.Run]:
    columns = (runs.here, runs.donor, runs.there, runs.length)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(pages, st.lists(pages, max_size=3))
def test_twin(here: list[int], donors: list[list[int]]) -> None:
    k = gram_length(len(here))
    found, runs = aligned(here, donors)
    assert rows(runs) == twin.runs(here, donors, k)
    assert found.words_here == twin.shared(here, donors, k)
    assert found.words_there.tolist() == [twin.shared(donor, [here], k) for donor in donors]


@given(pages, st.lists(pages, max_size=3))
def test_runs_are_common_and_apart_and_leave_no_seed(
    here: list[int], donors: list[list[int]]
) -> None:
    k = gram_length(len(here))
    _, runs = aligned(here, donors)
    taken = [False] * len(here)
    for start, donor, place, length in rows(runs):
        assert length >= k
        assert here[start : start + length] == donors[donor][place : place + length]
        assert not any(taken[start : start + length])
        taken[start : start + length] = [True] * length
    for at, gram in enumerate(twin.grams(here, k)):
        assert any(taken[at : at + k]) or not twin.places(gram, donors)


@given(pages, st.lists(pages, max_size=3))
def test_all_pairs_as_seeds_give_what_grams_give(here: list[int], donors: list[list[int]]) -> None:
    """Where each gram stands once here, its pairs are those of its place."""
    k = gram_length(len(here))
    own = twin.grams(here, k)
    there = Ragged.of(donors)
    pairs = [
        (at, int(there.offsets[donor]) + place)
        for at, gram in enumerate(own)
        for donor, place in twin.places(gram, donors)
    ]
    seeds = Seeds.of_pairs([at for at, _ in pairs], [q for _, q in pairs], len(own))
    if len(set(own)) == len(own):
        assert rows(align(column(here), there, seeds)) == twin.runs(here, donors, k)
    else:
        found = align(column(here), there, seeds)
        assert int(found.length.sum()) > 0 or not pairs


def test_what_is_rare_decides_where_a_copy_is() -> None:
    common = [1, 2, 3, 4, 5, 6]
    here = [*common, 50, 51, 52, 53, 54, 55]
    there = [*common, 9, *common, 8, *common, 50, 51, 52, 53, 54, 55]
    assert rows(aligned(here, [there])[1]) == [(0, 0, 14, 12)]


def test_places_of_one_gram_are_cut_and_counted() -> None:
    gram = [1, 2, 3, 4, 5]
    there = [word for n in range(MOST_PLACES + 3) for word in [*gram, 100 + n]]
    found, runs = aligned(gram, [there])
    assert found.seeds.cut == 3
    assert rows(runs) == [(0, 0, 0, 5)]


def test_a_page_of_few_words_is_one_gram() -> None:
    assert rows(aligned([7, 8], [[1, 7, 8, 2]])[1]) == [(0, 0, 1, 2)]
    assert rows(aligned([], [[1, 7, 8, 2]])[1]) == []


def test_collisions_of_grams_make_no_run() -> None:
    """Whoever knows the key can write two grams of one hash: words are compared."""
    factors = SCHEME.numbers(f"phrase {GRAM_K}", GRAM_K)
    other = [1 + int(factors[1]), (2 - int(factors[0])) % 2**64, 3, 4, 5]
    found, runs = aligned([1, 2, 3, 4, 5], [other])
    assert found.seeds.places.tolist() == [0]
    assert rows(runs) == []


MANY = 60_000


def _interleaved(words: int) -> tuple[list[int], list[int]]:
    """Every other word is shared, and no two."""
    here = [1 if n % 2 else n + 2 for n in range(words)]
    return here, [1 if n % 2 == 0 else n + 2 for n in range(words)]


_HOSTILE = {
    "one word": lambda n: ([1] * n, [1] * n),
    "one word, and one that differs": lambda n: ([1] * n, [*[1] * (n // 2), 2, *[1] * (n // 2)]),
    "all distinct": lambda n: (list(range(n)), list(range(n))),
    "nothing in common": lambda n: (list(range(n)), list(range(n, 2 * n))),
    "backwards": lambda n: (list(range(n)), list(range(n))[::-1]),
    "interleaved": _interleaved,
    "a period, out of step": lambda n: (
        [m % 7 for m in range(n)],
        [m % 7 for m in range(n) if m % 50],
    ),
    "the same paragraph": lambda n: ([m % 100 for m in range(n)], list(range(100))),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_work_is_linear(name: str) -> None:
    here, there = _HOSTILE[name](MANY)
    found, runs = aligned(here, [there])
    assert runs.work <= MOST_PLACES * 2 * (GRAM_K + 1) * len(here)
    assert found.seeds.places.size <= len(there)
    assert int(runs.length.sum()) <= len(here)


def test_seeds_that_cannot_be_are_refused() -> None:
    there = Ragged.of([[1, 2, 3, 4, 5]])
    with pytest.raises(ValueError, match="outside of the 3 positions"):
        Seeds.of_pairs([3], [0], 3)
    with pytest.raises(ValueError, match="2 places for 1 positions"):
        Seeds.of_pairs([3], [0, 1], 5)
    with pytest.raises(ValueError, match="outside of the donors' 5 words"):
        align(column([1, 2, 3, 4, 5]), there, Seeds.of_pairs([0], [9], 1))
    with pytest.raises(ValueError, match="seeds at 4 positions of a page of 5 words"):
        align(column([1, 2, 3, 4, 5]), there, Seeds.of_pairs([0], [0], 4))
