"""What the index of weighted terms costs: adding a page, asking for pages like one, memory.

    python -m tests.benchmarks.mwo_speed --pages 10000 100000

Synthetic pages of realistic terms: words by Zipf's law out of a vocabulary that grows, some 420
different ones a page, weighted by how often they occur; of a hundred pages 28 are copies of an
earlier one and 5 versions of it in which some terms changed. Time is the processor's; adding is to
a full window, from which a page leaves for each that comes; a query is by a page of the window.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.similar.index import MwoIndex
from reusewatch.detector.similar.weighted_pages import WeightedPages
from reusewatch.detector.window.adding import WEB_BEGINS_US
from tests.benchmarks.index_speed import NOW, _mixed, resident
from tests.benchmarks.sketch_speed import on_one_core

BLOCK = 1024
COPIES, VERSIONS = 0.28, 0.05
WORDS, URL = 450, 60
VOCABULARY = 5_000_000
MOST_TERMS = 1_000
THRESHOLDS = (0.5, 0.7, 0.9)


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a full window of so many pages. Queries by threshold: a second, sizes of sets, cut."""

    pages: int
    terms_per_page: float
    adds_per_second: float
    bytes_per_page: float
    array_bytes_per_page: float
    queries: dict[float, tuple[float, float, float, int]]


class World:
    """An endless crawl: a page's words are drawn from its number, so that it remembers nothing."""

    def __init__(self) -> None:
        self._next = 1

    def block(self, count: int = BLOCK) -> WeightedPages:
        """The next pages, in order of time."""
        numbers = range(self._next, self._next + count)
        self._next += count
        pages = [_page(number) for number in numbers]
        return WeightedPages(
            _mixed(np.array(numbers, np.uint64)),
            WEB_BEGINS_US + np.array(numbers, np.int64) * 1_000,
            Ragged(np.concatenate([p[0] for p in pages]), page_offsets(len(p[0]) for p in pages)),
            np.concatenate([p[1] for p in pages]),
            np.full(count * URL, ord("u"), np.uint8),
            np.arange(count + 1, dtype=np.int64) * URL,
        )


def _page(number: int) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
    draw = np.random.default_rng(number)
    kind = draw.random() if number > 100 else 1.0
    source = number
    if kind < COPIES + VERSIONS:
        source = number - int(draw.integers(1, min(number, 5_000)))
    words = _words(source)
    if COPIES <= kind < COPIES + VERSIONS:
        other = _words(number)[: int(draw.integers(1, 90))]
        words[: len(other)] = other[: len(words)]
    terms, counts = np.unique(words, return_counts=True)
    heaviest = np.argsort(-counts, kind="stable")[:MOST_TERMS]
    terms, counts = terms[heaviest], counts[heaviest]
    return _mixed(terms.astype(np.uint64)), (counts / counts.sum()).astype(np.float32)


def _words(source: int) -> NDArray[np.int64]:
    """Zipf's law by rank: the logarithm of a word's rank is spread evenly."""
    draw = np.random.default_rng(source ^ 1 << 40)
    size = int(np.clip(draw.lognormal(np.log(WORDS), 0.7), 20, 4_000))
    return np.exp(draw.random(size) * np.log(VOCABULARY)).astype(np.int64)


def measure(pages: int, *, timed: int = 8, asked: int = 200) -> Cost:
    """Fill a window, let it slide, ask."""
    gc.collect()
    before = resident()
    world, index = World(), MwoIndex(max_pages=pages)
    for _ in range(pages // BLOCK + 2):
        index.add(world.block(), now=NOW)
    best, terms = float("inf"), 0
    for _ in range(timed):
        block = world.block()
        terms += block.terms.values.size
        begin = time.process_time()
        index.add(block, now=NOW)
        best = min(best, time.process_time() - begin)
    queries = {}
    probes = world.block(asked)
    for threshold in THRESHOLDS:
        sets, cut, begin = np.zeros(2), 0, time.process_time()
        for i in range(asked):
            span = slice(probes.terms.offsets[i], probes.terms.offsets[i + 1])
            found = index.similar(
                probes.terms[i], probes.weights[span], threshold=threshold, top=10
            )
            sets += found.candidates, found.mezzanine
            cut += found.unseen + found.cut
        took = time.process_time() - begin
        queries[threshold] = (asked / took, *(sets / asked).tolist(), cut)
    size = (resident() - before) / len(index)
    return Cost(
        pages, terms / timed / BLOCK, BLOCK / best, size, index.nbytes / len(index), queries
    )


def main() -> None:
    """Print a line for each size and threshold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[10_000, 100_000])
    chosen = parser.parse_args()
    on_one_core()
    for pages in chosen.pages:
        cost = measure(pages)
        sys.stdout.write(
            f"{pages:>9,} pages of {cost.terms_per_page:.0f} terms: "
            f"{cost.adds_per_second:,.0f} adds/s, {cost.bytes_per_page:,.0f} bytes a page "
            f"(arrays {cost.array_bytes_per_page:,.0f})\n"
        )
        for threshold, (speed, candidates, mezzanine, cut) in cost.queries.items():
            sys.stdout.write(
                f"    t = {threshold}: {speed:,.0f} queries/s, candidates {candidates:,.0f}, "
                f"mezzanine {mezzanine:,.1f}, cut {cut}\n"
            )


if __name__ == "__main__":
    main()
