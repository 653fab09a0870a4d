"""Postings and judgements against their definitions, over small windows of small pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.quilts.gram_table import LEAST_BITS
from reusewatch.detector.quilts.growth import can_grow, grown
from reusewatch.detector.quilts.holders import Holders, added_up
from reusewatch.detector.quilts.judging import Judged, judge, partial_copies, quilted
from reusewatch.detector.quilts.postings import GramPages, GramPostings
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.detector.quilts.store import (
    BLOCK,
    DOCUMENT,
    DOCUMENT_BYTES,
    GONE,
    OWNED,
    POSTING_BYTES,
    empty_store,
)
from reusewatch.detector.ragged import Ragged

SCHEME = HashScheme()
RULES = QuiltRules(m=6, c=2, theta=0.5, phi=0.0, foreign="domain", template=2, least=1)


@dataclass(frozen=True)
class Paper:
    """A page: its id, its site, when it was fetched, its grams."""

    page: int
    site: int
    at: int
    grams: frozenset[int]
    owned: bool = False

    @property
    def text(self) -> int:
        return SCHEME.of_text(" ".join(map(str, sorted(self.grams))))


@lru_cache
def _hash(gram: int) -> int:
    return SCHEME.of_text(f"gram {gram}")


def pages_of(papers: list[Paper]) -> GramPages:
    records = np.zeros(len(papers), DOCUMENT)
    grams = [[_hash(gram) for gram in sorted(paper.grams)] for paper in papers]
    for record, paper, hashes in zip(records, papers, grams, strict=True):
        record["page"], record["text"], record["site"] = paper.page, paper.text, paper.site
        record["at"], record["flags"] = paper.at, OWNED if paper.owned else 0
        record["grams"] = record["kept"] = record["ranged"] = len(hashes)
    column = Ragged.of(grams)
    starts = np.array([gram for paper in papers for gram in sorted(paper.grams)], np.uint32)
    return GramPages(records, column, starts, starts + np.uint32(1))


def asked(postings: GramPostings, papers: list[Paper], rules: QuiltRules = RULES) -> Judged:
    pages = pages_of(papers)
    holders = postings.ask(pages.grams.values, most=rules.m)
    judged = judge(pages, holders, rules, sample=1.0)
    check_ways_of_asking(postings, pages, rules, judged)
    return judged


def check_ways_of_asking(
    postings: GramPostings, pages: GramPages, rules: QuiltRules, judged: Judged
) -> None:
    """Who says whose grams these are is told the same; who wants those of other sites alone is told
    all of each gram that any of them has, and finds the same."""
    plain = judged.holders
    known = postings.ask(pages.grams.values, most=rules.m, of=pages)
    for name in ("counts", "offsets", "held_by", "starts", "documents"):
        assert getattr(known, name).tobytes() == getattr(plain, name).tobytes(), name
    apart = postings.ask(pages.grams.values, most=rules.m, of=pages, apart=True)
    sites = np.repeat(pages.documents["site"], pages.grams.counts)
    for gram, site in enumerate(sites.tolist()):
        told, all_told = held(apart, gram), held(plain, gram)
        assert told == all_told or (not told and {one[0] for one in all_told} == {site})
    if rules.foreign == "domain":
        found = judge(pages, apart, rules, sample=1.0)
        assert _judgements(found) == _judgements(judged)


def held(holders: Holders, gram: int) -> list[tuple[int, int]]:
    """Site and text of each document that holds a gram."""
    listed = slice(int(holders.offsets[gram]), int(holders.offsets[gram + 1]))
    return [
        (int(one["site"]), int(one["text"])) for one in holders.documents[holders.held_by[listed]]
    ]


def _judgements(judged: Judged) -> list[Any]:
    """All that was found, with documents by their texts."""
    texts = [*judged.holders.documents["text"].tolist(), None]
    sources = [(texts[one["document"]], *one.tolist()[1:]) for one in judged.sources]
    return sources + [
        [texts[one[name]] if name == "donor" else one[name] for name in judged.pages.dtype.names]
        for one in judged.pages
    ]


# The definitions, in a few lines each.


def documents_of(papers: list[Paper]) -> dict[int, Paper]:
    """Identity sets: of each text the owned page, or the one that had it first."""
    found: dict[int, Paper] = {}
    for paper in sorted(papers, key=_order):
        found.setdefault(paper.text, paper)
    return found


def _order(paper: Paper) -> tuple[bool, int, int]:
    return not paper.owned, paper.at, paper.page


def many(have: int, of: int) -> bool:
    return have >= 2 and 4 * have >= of


def is_template(
    documents: dict[int, Paper], gram: int, subject: Paper, donor: Paper, rules: QuiltRules
) -> bool:
    """What many other pages of one of the two sites hold, or of both together."""
    sites = [subject.site, donor.site]
    there = [[d for d in documents.values() if d.site == site] for site in sites]
    others = [max(sum(gram in d.grams for d in each) - 1, 0) for each in there]
    of = [len(each) - 1 for each in there]
    return (
        others[0] >= rules.template
        or any(many(h, n) for h, n in zip(others, of, strict=True))
        or many(sum(others), sum(of))
    )


def truth(papers: list[Paper], subject: Paper, rules: QuiltRules) -> tuple[float, int]:
    """Patch fraction and size of the greedy cover."""
    documents = documents_of(papers)
    holding = {g: [d for d in documents.values() if g in d.grams] for g in subject.grams}
    pairs = {
        (donor.page, gram): donor
        for gram, holders in holding.items() if 1 < len(holders) <= rules.m
        for donor in holders
        if donor.text != subject.text and donor.page != subject.page
        and donor.site != subject.site and not is_template(documents, gram, subject, donor, rules)
        and (donor.owned or (donor.at, donor.page) < (subject.at, subject.page))
    }  # fmt: skip
    patches = {gram for _, gram in pairs}
    sources = 0
    left = set(pairs)
    while left:
        donors = {page: sum(p == page for p, _ in left) for page, _ in left}
        best = max(donors.values())
        chosen = min((d for d in pairs.values() if donors.get(d.page) == best), key=_order)
        covered = {gram for page, gram in left if page == chosen.page}
        left = {(page, gram) for page, gram in left if gram not in covered}
        sources += 1
    return len(patches) / len(subject.grams), sources


GRAMS = st.frozensets(st.integers(0, 30), min_size=1, max_size=12)


@st.composite
def windows(draw: st.DrawFn) -> list[Paper]:
    """Pages with ids of their own, of few sites, some fetched at once, some owned."""
    drawn = draw(
        st.lists(st.tuples(GRAMS, st.integers(1, 4), st.integers(0, 5), st.booleans()),
                 min_size=1, max_size=14)
    )  # fmt: skip
    return [
        Paper(page + 1, site, at, grams, owned and site == 1)
        for page, (grams, site, at, owned) in enumerate(drawn)
    ]


def filled(papers: list[Paper], size: int = 3) -> GramPostings:
    postings = GramPostings(max_bytes=1 << 20)
    for begin in range(0, len(papers), size):
        postings.add(pages_of(papers[begin : begin + size]))
    return postings


@settings(max_examples=150)
@given(windows(), st.randoms(use_true_random=False))
def test_quilts_are_those_of_the_definition_in_any_order(papers, random):
    random.shuffle(papers)
    found = asked(filled(papers), papers)
    for at, subject in enumerate(papers):
        fraction, sources = truth(papers, subject, RULES)
        assert found.pages[at]["fraction"] == fraction
        assert found.pages[at]["sources"] == sources
    expected = [
        f >= RULES.theta and s >= RULES.c for f, s in (truth(papers, p, RULES) for p in papers)
    ]
    assert quilted(found.pages, RULES).tolist() == expected


@settings(max_examples=60)
@given(windows(), st.integers(0, 4), st.floats(0, 1), st.integers(1, 5), st.integers(1, 6))
def test_more_is_quilted_under_a_lower_theta_a_lower_c_and_a_higher_m(papers, more, theta, c, m):
    """Theorems 1 and 2 of Najork 2012; 3 for the patch fraction, which needs no cover."""
    postings = filled(papers)
    strict = replace(RULES, theta=theta, c=c, m=m)
    judged = asked(postings, papers, strict).pages
    assert not (quilted(judged, strict) & ~quilted(judged, replace(strict, theta=theta / 2))).any()
    assert not (quilted(judged, strict) & ~quilted(judged, replace(strict, c=1))).any()
    wider = asked(postings, papers, replace(strict, m=m + more, template=99)).pages
    narrow = asked(postings, papers, replace(strict, template=99)).pages
    assert (wider["fraction"] >= narrow["fraction"]).all()


@settings(max_examples=60)
@given(windows())
def test_shares_of_the_window_add_up_to_the_whole(papers):
    whole = asked(filled(papers), papers)
    texts = sorted({paper.text for paper in papers})
    parts = [filled([p for p in papers if texts.index(p.text) % 3 == share]) for share in range(3)]
    pages = pages_of(papers)
    answers: list[Holders] = []
    for part in parts:
        answers.append(part.ask(pages.grams.values, most=RULES.m))
    summed = judge(pages, added_up(answers), RULES, sample=1.0)
    for name in ("kept", "patches", "fraction", "sources", "here", "there"):
        assert (summed.pages[name] == whole.pages[name]).all(), name


@settings(max_examples=60)
@given(windows())
def test_asking_changes_nothing_adding_twice_changes_nothing_and_a_snapshot_is_the_same(papers):
    postings = filled(papers)
    before = {name: array.tobytes() for name, array in postings.save().items()}
    first = asked(postings, papers)
    assert {name: array.tobytes() for name, array in postings.save().items()} == before
    again = [replace(paper, owned=False) for paper in papers]
    postings.add(pages_of(again))
    twice = asked(postings, papers)
    other = GramPostings(max_bytes=1 << 20)
    other.restore({name: array.copy() for name, array in postings.save().items()})
    restored = asked(other, papers)
    for found in (twice, restored):
        assert found.pages.tobytes() == first.pages.tobytes()
    assert len(other) == len(postings) == len({paper.text for paper in papers})


def test_the_oldest_leave_first_and_wholly():
    papers = [Paper(n, n, n, frozenset(range(n, n + 4))) for n in range(1, 200)]
    postings = GramPostings(max_bytes=10 * (DOCUMENT_BYTES + 4 * POSTING_BYTES))
    for paper in papers:
        postings.add(pages_of([paper]))
    assert len(postings) == 10
    found = asked(postings, papers, replace(RULES, m=50))
    kept = {paper.text for paper in papers[-10:]}
    counts = found.holders.counts
    expected = [
        sum(gram in one.grams for one in papers[-10:])
        for paper in papers
        for gram in sorted(paper.grams)
    ]
    assert counts.tolist() == expected
    assert {int(one["text"]) for one in found.holders.documents} == kept


def test_what_is_older_than_the_window_is_not_counted_and_does_not_enter():
    postings = GramPostings(max_bytes=1 << 20, max_age_us=10)
    old, new, late = (
        Paper(n, n, at, frozenset({1, 2, 3, n + 10})) for n, at in ((1, 0), (2, 20), (3, 5))
    )
    for paper in (old, new, late):
        postings.add(pages_of([paper]))
    assert postings.late == 1
    assert asked(postings, [new], replace(RULES, m=50)).holders.counts.tolist() == [1, 1, 1, 1]


def test_a_page_with_new_words_leaves_with_its_old_ones_unless_others_have_them():
    grams = frozenset({1, 2, 3})
    first, later = Paper(1, 1, 1, grams), Paper(1, 1, 2, frozenset({7, 8}))
    alone = filled([first, later])
    assert asked(alone, [first]).holders.counts.tolist() == [0, 0, 0]
    shared = filled([first, Paper(2, 2, 1, grams), later])
    assert asked(shared, [first]).holders.counts.tolist() == [1, 1, 1]
    # The order in which versions arrive does not matter.
    assert asked(filled([later, first]), [first, later]).holders.counts.tolist() == [0, 0, 0, 1, 1]


def test_a_popular_gram_is_counted_up_to_m_and_one_and_has_no_list():
    papers = [Paper(n, n, n, frozenset({0, n})) for n in range(1, 1000)]
    found = asked(filled(papers, 100), papers[-1:])
    assert found.holders.counts.tolist() == [RULES.m + 1, 1]
    assert found.pages[0]["fraction"] == 0


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(4, 30))
def test_counts_are_exact_while_the_window_slides_and_pages_change(random, room):
    """What was noted of popular grams holds only as long as it is true."""
    size, rules = 8, replace(RULES, m=3)
    postings = GramPostings(max_bytes=room * (DOCUMENT_BYTES + size * POSTING_BYTES))
    # Small, so that all rings come round.
    postings._store = postings._bounded(empty_store(1, 1, 1, 1))
    here: list[Paper] = []
    for at in range(1, 160):
        grams = frozenset(random.choices(range(12), k=4)) | {100 + at}
        page = random.randrange(1, at) if at > 8 and random.random() < 0.2 else at
        paper = Paper(page, page, at, grams)
        postings.add(pages_of([paper]))
        left = {int(one["text"]) for one in _documents(postings)}
        here = [one for one in (*here, paper) if one.text in left]
        found = asked(postings, [paper], rules).holders.counts.tolist()
        assert found == [
            min(sum(gram in one.grams for one in here), rules.m + 1) for gram in sorted(grams)
        ]


@settings(max_examples=40)
@given(st.randoms(use_true_random=False), st.integers(4, 30))
def test_whose_grams_are_asked_for_changes_no_answer_while_sites_change_and_pages_leave(
    random, room
):
    """A text that a page of another site had before is that site's from then on."""
    postings = GramPostings(max_bytes=room * (DOCUMENT_BYTES + 6 * POSTING_BYTES))
    texts = [frozenset(random.choices(range(20), k=6)) for _ in range(25)]
    for page in range(1, 80):
        paper = Paper(page, random.randrange(1, 4), random.randrange(9), random.choice(texts))
        postings.add(pages_of([paper]))
        others = [Paper(900 + n, n, 9, text) for n, text in enumerate(random.sample(texts, 3), 1)]
        asked(postings, [paper, *others])


def _documents(postings: GramPostings) -> Any:
    """Those that are there, by the rows that are saved."""
    saved = postings.save()["documents"].view(DOCUMENT)
    return saved[(saved["flags"] & GONE) == 0]


def test_a_place_far_down_a_long_page_is_told_within_its_32768th_part():
    paper = Paper(1, 1, 1, frozenset(range(40)))
    pages = pages_of([paper])
    far = np.linspace(0, 9_000_000, 40).astype(np.uint32)
    long = GramPages(pages.documents, pages.grams, far, far + np.uint32(30))
    for one, wrong in ((pages, 0), (long, 9_000_000 >> 15)):
        postings = GramPostings(max_bytes=1 << 20)
        postings.add(one)
        found = postings.ask(pages.grams.values, most=5)
        behind = one.starts.astype(np.int64) - found.starts
        assert ((behind >= 0) & (behind <= wrong)).all()


def test_documents_of_few_grams_stand_side_by_side_in_a_ring_that_came_round():
    """A block of postings names one document, and many begin in it."""
    papers = [Paper(n, n, n, frozenset({n, 2000 + n % 7})) for n in range(1, 900)]
    postings = GramPostings(max_bytes=100 * (DOCUMENT_BYTES + 2 * POSTING_BYTES))
    for begin in range(0, len(papers), 7):
        postings.add(pages_of(papers[begin : begin + 7]))
    last = papers[-100:]
    found = asked(postings, last, replace(RULES, m=50)).holders
    texts = found.documents["text"][found.held_by]
    gram = np.repeat(np.arange(len(found.counts)), np.diff(found.offsets))
    wanted = {
        (at, one.text)
        for at, asked_for in enumerate(g for paper in last for g in sorted(paper.grams))
        for one in last
        if asked_for in one.grams
    }
    assert set(zip(gram.tolist(), texts.tolist(), strict=True)) == wanted


def test_a_partial_copy_is_told_both_ways():
    donor = Paper(1, 1, 1, frozenset(range(10)))
    copy = Paper(2, 2, 2, frozenset(range(6, 26)))
    found = asked(filled([donor, copy]), [copy, donor], replace(RULES, partial_share=0.3))
    assert (found.pages[0]["here"], found.pages[0]["there"]) == (0.2, 0.4)
    assert partial_copies(found.pages, replace(RULES, partial_share=0.3)).tolist() == [True, False]
    assert found.pages[1]["donor"] == -1


def test_memory_is_bounded_by_bytes():
    postings = GramPostings(max_bytes=1_000_000)
    for begin in range(0, 6000, 500):
        papers = [
            Paper(n + 1, n, n, frozenset(range(n * 7, n * 7 + 12)))
            for n in range(begin, begin + 500)
        ]
        postings.add(pages_of(papers))
    assert len(postings) == 1_000_000 // (DOCUMENT_BYTES + 12 * POSTING_BYTES)
    # Room is made up to the bound, and there are tables beside the rings.
    assert postings.nbytes <= 1.6 * 1_000_000


@settings(max_examples=40)
@given(windows(), st.integers(1, 3))
def test_room_that_is_made_on_the_way_changes_no_answer(papers, size):
    tight = GramPostings(max_bytes=1 << 20)
    store = empty_store(1, 16, 16, 1)
    for begin in range(0, len(papers), size):
        some = pages_of(papers[begin : begin + size])
        documents = begin + len(some)
        postings = sum(len(paper.grams) for paper in papers[: begin + size])
        assert can_grow(store)
        store = grown(store, documents + 1, postings + 64, postings + 16, postings + 1)
        tight._store = tight._bounded(store)
        tight.add(some)
        store = tight._store
    found, expected = asked(tight, papers), asked(filled(papers, size), papers)
    assert found.pages.tobytes() == expected.pages.tobytes()


def test_a_ring_whose_numbers_have_more_bits_changes_no_answer():
    """Nobody has written most of it, so that it takes no memory."""
    papers = [Paper(n, n % 7, n, frozenset({n % 3, n % 5 + 3, n + 100})) for n in range(1, 60)]
    postings = filled(papers)
    expected = asked(postings, papers)
    postings._store = grown(postings._store, 100, (1 << LEAST_BITS) + BLOCK, 10, 10)
    assert len(postings._store.postings).bit_length() > LEAST_BITS
    assert asked(postings, papers).pages.tobytes() == expected.pages.tobytes()


def test_what_nobody_has_written_of_a_ring_is_no_memory():
    postings = GramPostings(max_bytes=1 << 30)
    postings.add(pages_of([Paper(n, n, n, frozenset(range(n, n + 10_000))) for n in range(1, 4)]))
    assert len(postings._store.postings) > 10 * 30_000
    assert postings.nbytes < 5_000_000


def test_rings_that_came_round_are_saved_in_their_order():
    papers = [Paper(n, n, n, frozenset(range(n, n + 20))) for n in range(1, 1200)]
    postings = GramPostings(max_bytes=10 * (DOCUMENT_BYTES + 20 * POSTING_BYTES))
    for begin in range(0, len(papers), 50):
        postings.add(pages_of(papers[begin : begin + 50]))
    other = GramPostings(max_bytes=1 << 20)
    saved = postings.save()
    assert saved["documents"].nbytes == 10 * DOCUMENT.itemsize
    other.restore(saved)
    last = papers[-20:]
    assert asked(other, last).pages.tobytes() == asked(postings, last).pages.tobytes()


def test_a_restored_one_goes_on_alike():
    papers = [Paper(n, n, n, frozenset(range(n, n + 20))) for n in range(1, 200)]
    first, then = papers[:150], papers[150:]
    postings, other = GramPostings(max_bytes=1 << 20), GramPostings(max_bytes=1 << 20)
    postings.add(pages_of(first))
    # More links than there is room for at least.
    assert postings._links() > 1024
    other.restore({name: array.copy() for name, array in postings.save().items()})
    for each in (postings, other):
        each.add(pages_of(then))
    assert asked(other, papers).pages.tobytes() == asked(postings, papers).pages.tobytes()
