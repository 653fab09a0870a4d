"""Versions are as far away as they say; Table 4 runs on made-up pages and counts as it says."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.similar.index import MwoIndex
from reusewatch.detector.similar.overlap import least
from tests.detector.similar.paper_filters import with_paper_filters
from tests.experiments import similar_table4
from tests.experiments.corpus import corpus
from tests.experiments.planted_versions import EDITS, LIMIT, SERVED, Cut, distance, versions
from tests.experiments.similar_repository import Repository, repository, without_stop_words
from tests.experiments.similar_table4 import THRESHOLD, balanced, means, measures

MINE = [f"mine{number}".encode() for number in range(400)]
FOREIGN = [f"other{number}".encode() for number in range(5000)]
PAGE = (
    b"<html><head><title>A title</title></head><body><!-- said > to nobody --><p>%s</p>"
    b"<ul><li>%s</li></ul></body></html>"
) % (b" ".join(MINE[:200]), b"</li><li>".join(MINE[200:]))


@pytest.fixture(scope="module")
def made() -> Repository:
    return repository(corpus(quick=True), (12, 9))


@pytest.fixture(scope="module")
def index(made: Repository) -> MwoIndex:
    return made.index()


@given(st.binary(max_size=80) | st.text("<>&;!-ap /\n", max_size=80).map(str.encode))
def test_pieces_are_the_page(html: bytes) -> None:
    assert Cut(html).with_words({}) == html


def test_words_are_those_of_the_visible_text() -> None:
    assert Cut(PAGE).words == MINE


@pytest.mark.parametrize("kind", EDITS)
@given(st.floats(0.01, 0.9))
def test_an_edited_page_is_at_the_distance_of_its_words(kind: str, wanted: float) -> None:
    html, removed, added = EDITS[kind](Cut(PAGE), wanted, FOREIGN, random.Random(1))
    mine, theirs = Counter(MINE), Counter(Cut(html).words)
    shared, union = (mine & theirs).total(), (mine | theirs).total()
    assert distance(len(MINE), removed, added) == pytest.approx(1 - shared / union)
    assert wanted - 0.01 < distance(len(MINE), removed, added) <= wanted + 1e-9


def test_half_of_the_near_duplicates_are_edited_and_as_many_are_too_far() -> None:
    made = list(versions(0, PAGE, 40, [FOREIGN]))
    near = [one for one in made if one.near]
    assert len(near) == 40
    assert Counter(one.kind in EDITS for one in near) == {True: 20, False: 20}
    assert {one.kind for one in near} == {*SERVED, *EDITS}
    far = [one.distance for one in made if not one.near]
    assert len(far) == 20
    assert LIMIT < min(far) <= max(far) <= 0.9


@pytest.mark.parametrize("threshold", [THRESHOLD, 0.75, 0.9])
def test_answers_are_those_of_brute_force(
    made: Repository, index: MwoIndex, threshold: float
) -> None:
    for query, row in enumerate(made.queries):
        found, answers = made.search(index, query, threshold)
        rows = range(len(made.terms))
        wanted = {at for at in rows if made.overlap(query, at) >= least(threshold)}
        assert answers == wanted - {row}
        filtered = made.search(with_paper_filters(index), query, threshold)[1]
        assert filtered <= answers
        assert found.candidates >= found.mezzanine >= len(answers)


def test_a_copy_served_elsewhere_is_found(made: Repository, index: MwoIndex) -> None:
    for query in range(len(made.queries)):
        answers = made.search(index, query, THRESHOLD)[1]
        assert {
            row for row, one in made.planted.items()
            if one.query == query and one.distance < 0.1
        } <= answers  # fmt: skip


def test_without_stop_words_a_page_weighs_as_much(made: Repository) -> None:
    terms, weights = made.terms[0]
    fewer, shares = without_stop_words((terms, weights))
    assert 0 < len(fewer) < len(terms)
    assert shares.sum() == pytest.approx(1, abs=1e-6)


def test_no_answer_is_precise() -> None:
    assert measures({1, 2}, set()) == (100, 0)
    assert measures({1, 2}, {1, 3}) == (50, 50)


def test_the_threshold_is_where_precision_and_recall_meet() -> None:
    rows = [{"threshold": at, "precision %": 100 * at, "recall %": 80.0} for at in (0.5, 0.75, 0.9)]
    assert balanced(rows) == 0.75


def test_means_are_by_threshold() -> None:
    rows = [
        {"threshold": at, "query": query, "recall %": 10 * query}
        for at in (0.7, 0.5) for query in (1, 2)
    ]  # fmt: skip
    assert means(rows) == [
        {"threshold": 0.5, "recall %": 15.0},
        {"threshold": 0.7, "recall %": 15.0},
    ]


def test_it_runs_without_packages(tmp_path: Path) -> None:
    rows = similar_table4.EXPERIMENT.run(tmp_path, True)
    assert all(row.keys() == rows[0].keys() for row in rows)
    assert [row["query"] for row in rows] == [
        *("Q1", "Q2", "Q3", "Q4", "mean") * 2, "of those it was not chosen on"
    ]  # fmt: skip
    for name in ("distances", "thresholds"):
        assert (tmp_path / f"similar-table4-{name}.csv").stat().st_size
