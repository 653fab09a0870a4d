"""What pages that are made to cost much cost in the gram postings, over what plain ones do.

In one process and in CPU time. A gram costs a look, and a step for each document that holds it, up
to m + 1; so a page of the worst grams costs no more than `WORST` plain ones, whatever the window
holds, and a page of a template no more than the one before.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.quilts.judging import judge
from reusewatch.detector.quilts.postings import GramPages, GramPostings
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.detector.quilts.store import DOCUMENT
from reusewatch.detector.ragged import Ragged, page_offsets

RULES = QuiltRules()
WORST = RULES.m + 1
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


def seconds_a_page(postings: GramPostings, pages: GramPages) -> float:
    """The least of three, of asking and judging."""
    spent = []
    for _ in range(3):
        before = time.process_time()
        judge(pages, postings.ask(pages.grams.values, most=RULES.m), RULES, sample=1.0)
        spent.append(time.process_time() - before)
    return min(spent) / len(pages)


def test_a_page_of_the_worst_grams_costs_a_stated_multiple_of_a_plain_one() -> None:
    postings, size = GramPostings(max_bytes=1 << 26), 20 * GRAMS
    worst, popular = hashes(size), hashes(size)
    plain = pages_of(hashes(40 * size).reshape(40, size), 1)
    postings.add(plain)
    postings.add(pages_of(np.tile(worst, (RULES.m - 1, 1)), 100))
    postings.add(pages_of(np.tile(popular, (4 * RULES.m, 1)), 1000))
    usual = seconds_a_page(postings, plain)
    crafted = [pages_of(np.tile(each, (8, 1)), 9000) for each in (worst, popular)]
    holders = [postings.ask(one.grams.values[:size], most=RULES.m) for one in crafted]
    assert [set(one.counts.tolist()) for one in holders] == [{RULES.m - 1}, {RULES.m + 1}]
    for one in crafted:
        assert seconds_a_page(postings, one) < WORST * usual
    assert len(holders[1].held_by) == 0


def test_pages_of_one_template_cost_the_same_however_many_there_are() -> None:
    postings, template = GramPostings(max_bytes=1 << 27), hashes(GRAMS)

    def more(count: int, first: int) -> float:
        pages = pages_of(np.hstack([np.tile(template, (count, 1)), hashes(count)[:, None]]), first)
        before = time.process_time()
        for at in range(0, count, 64):
            some = pages_of(pages.grams.values.reshape(count, -1)[at : at + 64], first + at)
            postings.add(some)
            judge(some, postings.ask(some.grams.values, most=RULES.m), RULES, sample=1.0)
        return time.process_time() - before

    few = more(2048, 1)
    assert more(2048, 10_000) < 6 * few
    assert more(2048, 20_000) < 6 * few
