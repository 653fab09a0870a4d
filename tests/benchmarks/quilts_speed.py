"""What the gram postings cost a page: posting its grams, asking who holds them, judging.

    python -m tests.benchmarks.quilts_speed --pages 100000 1000000

Synthetic pages of 400 grams, of which one of eight is kept, as by default: 30 % of the grams are
phrases that other pages have too, by Zipf's law out of five millions (some stand on a tenth of the
pages, most on a few), the others are the page's own. Time is the processor's: of a full window of
so many pages, of which one leaves for each that comes, 64 enter at a time and 256 are judged, as
the stage does it. Making pages, and what is done of a page that is a quilt, is not in it.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.quilts.judging import judge, partial_copies, quilted
from reusewatch.detector.quilts.postings import GramPages, GramPostings
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.detector.quilts.store import DOCUMENT, DOCUMENT_BYTES, POSTING_BYTES
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.sketching.grams import in_sample
from reusewatch.detector.window.adding import WEB_BEGINS_US
from reusewatch.streams.stages.settling import STEP
from tests.benchmarks.index_speed import _mixed, resident
from tests.benchmarks.sketch_speed import on_one_core

GRAMS, SHARED = 400, 0.3
SAMPLE = 1 / 8
PHRASES = 5_000_000
SITES = 50_000
BLOCK = 64
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Cost:
    """Of postings that hold so many pages."""

    pages: int
    grams_per_page: float
    posted_per_second: float
    asked_per_second: float
    us_per_page: float
    bytes_per_page: float
    array_bytes_per_page: float


class World:
    """An endless crawl: a page's grams are drawn from its number, so that it remembers nothing."""

    def __init__(self) -> None:
        self._next = 1
        self._draw = np.random.default_rng(15)

    def block(self, count: int = BLOCK) -> GramPages:
        """The next pages, in order of time."""
        number = np.arange(self._next, self._next + count, dtype=np.uint64)
        self._next += count
        own = number[:, None] * np.uint64(GRAMS) + np.arange(GRAMS, dtype=np.uint64)
        # Zipf's law by rank: the logarithm of a phrase's rank is spread evenly.
        shared = round(GRAMS * SHARED)
        ranks = np.exp(self._draw.random((count, shared)) * np.log(PHRASES)).astype(np.uint64)
        own[:, :shared] = ranks + np.uint64(1 << 60)
        kept = [_kept(grams) for grams in _mixed(own)]
        documents = np.zeros(count, DOCUMENT)
        documents["page"] = _mixed(number ^ np.uint64(1 << 59))
        documents["text"] = _mixed(number ^ np.uint64(1 << 58))
        documents["site"] = _mixed(number % np.uint64(SITES))
        documents["at"] = WEB_BEGINS_US + number.astype(np.int64) * 1_000
        documents["kept"] = documents["ranged"] = [len(grams) for grams in kept]
        documents["grams"] = documents["kept"] / SAMPLE
        grams = Ragged(np.concatenate(kept), page_offsets(map(len, kept)))
        starts = np.arange(grams.values.size, dtype=np.uint32)
        return GramPages(documents, grams, starts, starts + np.uint32(30))


def _kept(grams: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # As sets: a phrase that a page drew twice is one gram.
    return np.unique(grams[in_sample(grams, SAMPLE)])


def measure(pages: int, *, timed: int = 16) -> Cost:
    """Fill postings, then post and judge on."""
    # Once before: what is compiled and loaded is no page's.
    few, first = GramPostings(max_bytes=_MIB), World().block(1024)
    few.add(first)
    _judge(few, first)
    del few, first
    gc.collect()
    before = resident()
    world = World()
    kept = float(np.mean(world.block(1024).documents["kept"]))
    postings = GramPostings(max_bytes=round(pages * (DOCUMENT_BYTES + kept * POSTING_BYTES)))
    for _ in range(-(-pages * 21 // 20 // 1024)):  # the window is full, and slides
        postings.add(world.block(1024))
    for _ in range(timed):  # what a stage has asked for before is known of popular grams
        block = world.block(STEP)
        postings.add(block)
        _judge(postings, block)
    posted, judged, grams = [], [], 0
    for _ in range(timed):
        blocks = [world.block() for _ in range(STEP // BLOCK)]
        begin = time.process_time()
        for block in blocks:
            postings.add(block)
        posted.append(time.process_time() - begin)
        step = _joined(blocks)
        grams += step.grams.values.size
        begin = time.process_time()
        _judge(postings, step)
        judged.append(time.process_time() - begin)
    size, per_step = (resident() - before) / len(postings), grams / timed
    post, ask = min(posted), min(judged)
    return Cost(
        pages, per_step / STEP, per_step / post, per_step / ask, (post + ask) / STEP * 1e6, size,
        postings.nbytes / len(postings),
    )  # fmt: skip


def _judge(postings: GramPostings, pages: GramPages) -> None:
    rules = QuiltRules()
    holders = postings.ask(pages.grams.values, most=rules.m, of=pages, apart=True)
    found = judge(pages, holders, rules, sample=SAMPLE).pages
    quilted(found, rules)
    partial_copies(found, rules)


def _joined(blocks: list[GramPages]) -> GramPages:
    return GramPages(
        np.concatenate([one.documents for one in blocks]),
        Ragged.of([grams for one in blocks for grams in one.grams]),
        np.concatenate([one.starts for one in blocks]),
        np.concatenate([one.ends for one in blocks]),
    )


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[100_000, 1_000_000])
    chosen = parser.parse_args()
    on_one_core()
    for pages in chosen.pages:
        cost = measure(pages)
        sys.stdout.write(
            f"{pages:>9,} pages of {cost.grams_per_page:.0f} kept grams: {cost.us_per_page:.1f} "
            f"µs a page ({cost.posted_per_second:,.0f} grams posted/s, "
            f"{cost.asked_per_second:,.0f} asked/s), {cost.bytes_per_page:,.0f} bytes a page "
            f"(arrays {cost.array_bytes_per_page:,.0f})\n"
        )


if __name__ == "__main__":
    main()
