"""Phrases against the paper's definitions, over small corpora in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.phrases.classes import classes, representatives
from reusewatch.detector.phrases.covering import CoveringSet, Foreign, covering_set, foreign_to
from reusewatch.detector.phrases.documents import UNKNOWN, Documents, current_versions
from reusewatch.detector.phrases.hosts import PhraseHost, phrase_hosts
from reusewatch.detector.phrases.popular import Phrase, popular_phrases, popular_shingles

few = settings(max_examples=40)
FUNCTIONS = 7
LEAST = 3
FACTORS = [2 * n + 1 for n in range(FUNCTIONS)]
"""Odd, so that they can be undone: the phrase p has the value p × factor."""


@dataclass(frozen=True)
class Text:
    """The words of a page: the phrase that each function chose, and supershingles of their own."""

    identity: int
    phrases: tuple[int, ...]
    runs: tuple[int, ...]

    @property
    def shingles(self) -> tuple[int, ...]:
        return tuple(p * f for p, f in zip(self.phrases, FACTORS, strict=True))


@dataclass(frozen=True)
class Paper:
    """A page."""

    page: int
    seen: int
    text: Text
    site: int
    host: int
    ip: int


small = st.integers(0, 3)
texts = st.builds(
    Text,
    identity=st.integers(1, 9),
    phrases=st.tuples(*[st.integers(1, 4)] * FUNCTIONS),
    # 0 is the supershingle of a page without words.
    runs=st.tuples(*[st.integers(0, 9)] * 6),
)
corpora = st.lists(texts, min_size=1, max_size=8, unique_by=lambda text: text.identity).flatmap(
    lambda of: st.lists(
        st.builds(
            Paper, page=st.integers(0, 99), seen=small, text=st.sampled_from(of), site=small,
            host=small, ip=st.integers(UNKNOWN, 2),
        ),
        min_size=1, max_size=14, unique_by=lambda paper: paper.page,
    )
)  # fmt: skip


def columns(papers: list[Paper]) -> Documents:
    return Documents(
        page=np.array([p.page for p in papers], np.uint64),
        seen=np.array([p.seen for p in papers], np.int64),
        identity=np.array([p.text.identity for p in papers], np.uint64),
        supershingles=np.array([p.text.runs for p in papers], np.uint64),
        shingles=np.array([p.text.shingles for p in papers], np.uint64).T,
        site=np.array([p.site for p in papers], np.int64),
        host=np.array([p.host for p in papers], np.int64),
        ip=np.array([p.ip for p in papers], np.int64),
    )


def of_shingles(rows: list[list[int]]) -> Documents:
    """Pages of which nothing else matters, each on a site of its own."""
    size = len(rows)
    hashes, numbers = np.arange(size, dtype=np.uint64), np.arange(size)
    runs = np.zeros((size, 6), np.uint64)
    shingles = np.array(rows, np.uint64).T
    return Documents(hashes, numbers, hashes, runs, shingles, numbers, numbers, numbers)


# The twins.


def near(one: Text, other: Text) -> bool:
    """§3.3: near-duplicates agree in two of the six runs; what has no words has no runs."""
    return sum(a == b != 0 for a, b in zip(one.runs, other.runs, strict=True)) >= 2


def classes_of(papers: list[Paper]) -> list[set[int]]:
    found = [{row} for row in range(len(papers))]
    for a, b in combinations(range(len(papers)), 2):
        one, other = papers[a].text, papers[b].text
        if one.identity == other.identity or near(one, other):
            joined = next(c for c in found if a in c) | next(c for c in found if b in c)
            found = [c for c in found if not c & joined] + [joined]
    return found


def earliest(papers: list[Paper], rows: set[int]) -> int:
    return min(rows, key=lambda row: (papers[row].seen, papers[row].page))


def popular_of(papers: list[Paper]) -> dict[tuple[int, int], list[Paper]]:
    """§3.3: long enough runs of triples (i, s, d) with matching i and s."""
    runs = defaultdict(list)
    for paper in papers:
        for i, s in enumerate(paper.text.shingles):
            runs[i, s].append(paper)
    return {key: run for key, run in runs.items() if len(run) >= LEAST}


def cover_of(
    subject: Paper, others: list[Paper], foreign: list[bool], *, prefer: bool
) -> list[tuple[int, int, bool]]:
    """§3.4: row, newly covered, foreign; `others` the earliest first."""
    mine = set(enumerate(subject.text.shingles))
    uncovered = mine & popular_of([subject, *others]).keys()
    shared = [mine & set(enumerate(other.text.shingles)) for other in others]
    found = []
    while uncovered:
        able = [row for row in range(len(others)) if shared[row] & uncovered]
        if prefer:
            able = [row for row in able if foreign[row]] or able
        best = max(able, key=lambda row: (len(shared[row] & uncovered), len(shared[row]), -row))
        found.append((best, len(shared[best] & uncovered), foreign[best]))
        uncovered -= shared[best]
    return found


@few
@given(corpora)
def test_classes_are_the_transitive_closure_with_the_earliest_page_of_each(
    papers: list[Paper],
) -> None:
    kept, label = representatives(columns(papers))
    wanted = classes_of(papers)
    order = [(papers[row].seen, papers[row].page) for row in kept]
    assert order == sorted(order)
    assert set(kept.tolist()) == {earliest(papers, rows) for rows in wanted}
    found = defaultdict(set)
    for row, number in enumerate(label.tolist()):
        found[number].add(row)
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, wanted))


@few
@given(corpora, st.data())
def test_a_page_that_is_asked_for_stands_for_its_class(
    papers: list[Paper], data: st.DataObject
) -> None:
    asked = data.draw(st.integers(0, len(papers) - 1))
    kept, _ = representatives(columns(papers), asked)
    wanted = {asked if asked in rows else earliest(papers, rows) for rows in classes_of(papers)}
    assert set(kept.tolist()) == wanted


def test_long_chains_in_any_order_are_one_class() -> None:
    """Each link agrees with the next in two runs only, and rows are shuffled."""
    size = 2000
    runs = np.arange(1, 6 * size + 1, dtype=np.uint64).reshape(size, 6)
    for at in range(size - 1):
        places = (0, 1) if at % 2 else (2, 3)
        runs[at + 1, places] = runs[at, places]
    order = np.random.default_rng(7).permutation(size)
    assert set(classes(runs[order]).tolist()) == {0}


@few
@given(corpora)
def test_popular_phrases_are_those_of_long_runs_each_once(papers: list[Paper]) -> None:
    documents = columns(papers)
    found = popular_shingles(documents, np.arange(len(papers)), least=LEAST)
    runs = popular_of(papers)
    keys = zip(found.function.tolist(), found.shingle.tolist(), strict=True)
    figures = zip(found.documents.tolist(), found.sites.tolist(), strict=True)
    told = dict(zip(keys, figures, strict=True))
    assert told == {key: (len(run), len({p.site for p in run})) for key, run in runs.items()}
    assert found.per_document.tolist() == [
        sum(key in runs for key in enumerate(paper.text.shingles)) for paper in papers
    ]
    inverses = np.array([pow(factor, -1, 1 << 64) for factor in FACTORS], np.uint64)
    most: Counter[int] = Counter()
    for (i, s), run in runs.items():
        most[s // FACTORS[i]] = max(most[s // FACTORS[i]], len(run))
    phrases = popular_phrases(found, inverses)
    assert {one.hash: one.documents for one in phrases} == dict(most)
    assert len(phrases) == len(most)
    assert all(told[one.function, one.shingle] == (one.documents, one.sites) for one in phrases)
    ranks = [(-one.documents, -one.sites, one.hash) for one in phrases]
    assert ranks == sorted(ranks)
    assert popular_phrases(found, inverses, top=2) == phrases[:2]


@few
@given(corpora, st.data(), st.sampled_from(["domain", "ip", "none"]))
def test_the_cover_is_greed_by_definition(
    papers: list[Paper], data: st.DataObject, by: Foreign
) -> None:
    papers = sorted(papers, key=lambda paper: (paper.seen, paper.page))
    at = data.draw(st.integers(0, len(papers) - 1))
    documents, subject = columns(papers), papers[at]
    foreign = foreign_to(documents, at, by).tolist()
    own = {paper.ip for paper in papers if paper.host == subject.host} - {UNKNOWN}
    assert foreign == [
        paper.host != subject.host and paper.ip not in own
        if by == "ip"
        else paper.site != subject.site
        for paper in papers
    ]
    rows = [row for row in range(len(papers)) if row != at]
    prefer = by != "none"
    found = covering_set(
        documents, at, np.array(rows, np.int64), np.array(foreign), prefer=prefer, least=LEAST
    )
    others = [papers[row] for row in rows]
    covered = cover_of(subject, others, [foreign[row] for row in rows], prefer=prefer)
    wanted = [(rows[row], count, is_foreign) for row, count, is_foreign in covered]
    assert [(donor.row, donor.count, donor.foreign) for donor in found.donors] == wanted
    popular = popular_of(papers).keys() & set(enumerate(subject.text.shingles))
    assert found.popular == len(popular) == sum(donor.count for donor in found.donors)
    assert found.foreign == sum(count for _, count, is_foreign in wanted if is_foreign)


def test_foreign_documents_go_ahead_of_better_ones_of_the_own_domain() -> None:
    """And the own ones come when nothing else is left."""
    subject, own, half, rest = [1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 9, 9], [9, 9, 3, 9]
    documents, others = of_shingles([subject, own, half, rest]), np.array([1, 2, 3])
    foreign = np.array([False, False, True, True])
    preferred = covering_set(documents, 0, others, foreign, least=2)
    assert [(d.row, d.count) for d in preferred.donors] == [(2, 2), (3, 1), (1, 1)]
    assert (preferred.popular, preferred.foreign) == (4, 3)
    plain = covering_set(documents, 0, others, foreign, prefer=False, least=2)
    assert [(d.row, d.count, d.shared) for d in plain.donors] == [(1, 4, 4)]
    assert covering_set(documents, 0, others, foreign, least=9) == CoveringSet(0, ())


def test_a_shingle_that_no_other_document_has_stays_uncovered() -> None:
    documents = of_shingles([[1, 2, 3, 4], [1, 2, 9, 9]])
    found = covering_set(documents, 0, np.array([1]), np.array([False, True]), least=1)
    assert (found.popular, [donor.count for donor in found.donors]) == (4, [2])


@few
@given(st.lists(st.tuples(small, st.integers(0, 84)), max_size=40))
def test_hosts_are_told_by_mean_and_deviation(pages: list[tuple[int, int]]) -> None:
    found = phrase_hosts(
        np.array([host for host, _ in pages], np.int64), np.array([n for _, n in pages], np.int64),
        least_pages=3,
    )  # fmt: skip
    wanted = {}
    for host in {host for host, _ in pages}:
        counts = [n for one, n in pages if one == host]
        mean = Fraction(sum(counts), len(counts))
        if len(counts) >= 3 and mean >= 30:
            deviation = sqrt(sum((n - mean) ** 2 for n in counts) / len(counts))
            wanted[host] = (len(counts), float(mean), pytest.approx(deviation), deviation < 15)
    assert {h.host: (h.pages, h.mean, h.deviation, h.alike) for h in found} == wanted
    assert [h.pages for h in found] == sorted((h.pages for h in found), reverse=True)


def test_a_deviation_of_fifteen_is_not_small() -> None:
    counts = np.array([30, 60] * 5 + [45] * 10, np.int64)
    (apart, alike) = sorted(
        phrase_hosts(np.repeat([0, 1], 10), counts), key=lambda found: found.host
    )
    assert apart == PhraseHost(0, 10, 45.0, 15.0, False)
    assert alike == PhraseHost(1, 10, 45.0, 0.0, True)


@few
@given(st.lists(st.tuples(small, st.integers(1, 3), small), max_size=12))
def test_a_page_is_its_newest_version_since_its_words_were_there(
    fetches: list[tuple[int, int, int]],
) -> None:
    def stands(rows: list[tuple[int, int, int]]) -> set[tuple[int, int, int]]:
        page, identity, fetched = (np.array([row[at] for row in rows]) for at in range(3))
        kept, seen = current_versions(
            page.astype(np.uint64), identity.astype(np.uint64), fetched.astype(np.int64)
        )
        return {
            (rows[row][0], rows[row][1], at)
            for row, at in zip(kept.tolist(), seen.tolist(), strict=True)
        }

    wanted = set()
    for page in {page for page, _, _ in fetches}:
        _, words = max((at, words) for one, words, at in fetches if one == page)
        first = min(at for one, text, at in fetches if (one, text) == (page, words))
        wanted.add((page, words, first))
    assert stands(fetches) == wanted
    assert stands(fetches[::-1]) == wanted


def test_columns_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="pages"):
        Documents(*[np.zeros(2, np.uint64)] * 2, *[np.zeros(3, np.uint64)] * 6)


def test_a_phrase_is_a_hash_and_where_it_was_chosen() -> None:
    found = popular_shingles(of_shingles([[6, 6]] * 6), np.arange(1, 6))
    inverses = np.array([1, pow(3, -1, 1 << 64)], np.uint64)
    assert popular_phrases(found, inverses) == [Phrase(2, 5, 5, 1, 6), Phrase(6, 5, 5, 0, 6)]
