"""How many looks pages that are made to cost much take in the gram postings, over plain ones.

A gram costs a look, and a step for each document that holds it, up to m + 1; so a page of the worst
grams costs no more than `WORST` plain ones, whatever the window holds, and a page of a template no
more than the one before. Steps are counted, as a walk counts them, and not timed:
`tests.benchmarks.quilts_speed` does that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.quilts.judging import judge
from reusewatch.detector.quilts.postings import GramPages, GramPostings
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.detector.quilts.store import DOCUMENT
from reusewatch.detector.ragged import Ragged, page_offsets

RULES = QuiltRules()
WORST = (RULES.m + 2) / 2
GRAMS = 64
_DRAWN = np.random.default_rng(19)


def hashes(count: int) -> NDArray[np.uint64]:
    return _DRAWN.integers(1, 1 << 63, count, dtype=np.uint64)


def pages_of(grams: NDArray[np.uint64], first: int) -> GramPages:
    """Pages with a row of grams each, on sites of their own."""
    count, size = grams.shape
    records = np.zeros(count, DOCUMENT)
    records["page"] = records["at"] = np.arange(first, first + count)
    records["text"], records["site"] = hashes(count), hashes(count)
    records["grams"] = records["kept"] = records["ranged"] = size
    starts = np.tile(np.arange(size, dtype=np.uint32), count)
    column = Ragged(grams.ravel().copy(), page_offsets(np.full(count, size)))
    return GramPages(records, column, starts, starts + np.uint32(5))


def looks_a_page(postings: GramPostings, pages: GramPages) -> float:
    """A look for each gram, and the steps of its walk; what is judged then is no more than that."""
    holders = postings.ask(pages.grams.values, most=RULES.m)
    judge(pages, holders, RULES, sample=1.0)
    steps = int(holders.counts.sum())
    assert len(holders.held_by) <= steps
    return (holders.counts.size + steps) / len(pages)


def test_a_page_of_the_worst_grams_costs_a_stated_multiple_of_a_plain_one() -> None:
    postings, size = GramPostings(max_bytes=1 << 24), 2 * GRAMS
    worst, popular = hashes(size), hashes(size)
    plain = pages_of(hashes(8 * size).reshape(8, size), 1)
    postings.add(plain)
    postings.add(pages_of(np.tile(worst, (RULES.m - 1, 1)), 100))
    postings.add(pages_of(np.tile(popular, (4 * RULES.m, 1)), 1000))
    usual = looks_a_page(postings, plain)
    assert usual == 2 * size
    for each, most in ((worst, RULES.m - 1), (popular, RULES.m + 1)):
        crafted = pages_of(np.tile(each, (8, 1)), 9000)
        # The second time what is noted of popular grams ends their walks.
        for _ in range(2):
            assert looks_a_page(postings, crafted) == (1 + most) * size <= WORST * usual
    assert len(postings.ask(popular, most=RULES.m).held_by) == 0


def test_pages_of_one_template_cost_the_same_however_many_there_are() -> None:
    postings, template = GramPostings(max_bytes=1 << 24), hashes(GRAMS)

    def more(count: int, first: int) -> float:
        own = hashes(count)[:, None]
        pages = pages_of(np.hstack([np.tile(template, (count, 1)), own]), first)
        postings.add(pages)
        return looks_a_page(postings, pages)

    few = more(2 * RULES.m, 1)
    assert few == GRAMS * (RULES.m + 2) + 2
    assert [more(512, 1000 * at) for at in range(1, 5)] == [few] * 4
