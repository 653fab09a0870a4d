"""Passages and their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.evidence.alignment import align
from reusewatch.detector.evidence.passages import MOST_BETWEEN, Passages, passages
from reusewatch.detector.evidence.shared_grams import shared_grams
from reusewatch.detector.ragged import Ragged
from tests.detector.evidence.test_alignment import SCHEME, aligned, column, pages, rows


def passages_of(
    here: list[int], donors: list[list[int]], weights: np.ndarray | None = None
) -> Passages:
    there = Ragged.of(donors)
    seeds = shared_grams(column(here), there, SCHEME).seeds
    return passages(align(column(here), there, seeds), seeds, len(here), weights=weights)


@given(pages, st.lists(pages, max_size=3))
def test_twin(here: list[int], donors: list[list[int]]) -> None:
    """Neighbours of one donor, in order and near on both sides, are one."""
    runs = rows(aligned(here, donors)[1])
    wanted: list[list[tuple[int, int, int, int]]] = []
    for run in runs:
        start, donor, place, _ = run
        if wanted:
            before = wanted[-1][-1]
            here_gap = start - before[0] - before[3]
            there_gap = place - before[2] - before[3]
            if before[1] == donor and here_gap <= MOST_BETWEEN and 0 <= there_gap <= MOST_BETWEEN:
                wanted[-1].append(run)
                continue
        wanted.append([run])
    found = passages_of(here, donors)
    assert np.diff(found.first).tolist() == [len(part) for part in wanted]
    for at, part in enumerate(wanted):
        assert (found.start[at], found.end[at]) == (part[0][0], part[-1][0] + part[-1][3])
        assert (found.donor[at], found.donor_start[at]) == part[0][1:3]
        assert found.donor_end[at] == part[-1][2] + part[-1][3]
        assert found.same[at] == sum(length for *_, length in part)
    assert sorted(found.ranked.tolist()) == list(range(len(wanted)))
    assert np.all(np.diff(found.score[found.ranked]) <= 0)


def test_a_changed_word_does_not_part_a_passage() -> None:
    text = list(range(40))
    found = passages_of([*text[:20], 99, *text[21:]], [text])
    assert (found.start.tolist(), found.end.tolist(), found.same.tolist()) == ([0], [40], [39])
    assert found.first.tolist() == [0, 2]


def test_what_is_rare_comes_before_what_is_long() -> None:
    often, once = [1, 2, 3] * 20, list(range(50, 60))
    found = passages_of([*often, 99, 98, 97, 96, 95, *once], [[*once, 7, 7, 7, 7, 7, *often]])
    assert found.start[found.ranked].tolist() == [65, 0]


def test_a_template_comes_last() -> None:
    template, own = list(range(100, 160)), list(range(50, 60))
    here = [*template, 99, 98, 97, 96, 95, *own]
    there = [*own, 7, 7, 7, 7, 7, *template]
    assert passages_of(here, [there]).ranked.tolist() == [0, 1]
    weights = np.ones(len(here) - 4, np.float32)
    weights[: len(template)] = 0
    found = passages_of(here, [there], weights)
    assert found.ranked.tolist() == [1, 0]
    assert found.score[0] == 0


def test_weights_are_those_of_all_grams() -> None:
    with pytest.raises(ValueError, match="1 weights for 2 grams"):
        passages_of([1, 2, 3, 4, 5, 6], [[1]], np.ones(1, np.float32))
