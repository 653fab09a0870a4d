"""What the sliding index costs a page, at a hundred thousand pages and at ten million.

    python -m tests.benchmarks.index_speed --pages 100000 1000000 10000000

Synthetic signatures with the duplication of the papers' crawls: of a hundred pages 28 are exact
copies, 2 near-copies of an earlier page, the others' own; a page of the window leaves for each
that comes once it is full. Time is the processor's, for `add` (which matches first) on a full
window; making the pages is not in it.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.neardup import NearDuplicateIndex
from detector.sightings import Sightings
from detector.sliding import WEB_BEGINS_US
from detector.store import SAMPLE
from tests.benchmarks.sketch_speed import on_one_core

BLOCK = 1024
COPIES, NEAR = 0.28, 0.02
SITES = 50_000
URL = 60
NOW = 1 << 60


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a full window of so many pages."""

    pages: int
    per_second: float
    bytes_per_page: float
    save_seconds: float
    restore_seconds: float


class World:
    """An endless crawl: pages drawn from texts by number, so that it remembers nothing."""

    def __init__(self, window: int) -> None:
        self._draw = np.random.default_rng(7)
        self._window = window
        self._next = 1

    def block(self, count: int = BLOCK) -> Sightings:
        """The next pages, in order of time."""
        number = np.arange(self._next, self._next + count, dtype=np.uint64)
        self._next += count
        kind = _kind(number)
        reach = np.minimum(number, np.uint64(self._window)) - np.uint64(1)
        old = number - (self._draw.random(count) * reach).astype(np.uint64)
        for _ in range(8):  # a copy is one of an original
            old -= (_kind(old) < COPIES + NEAR) & (old > 1)
        source = np.where(kind < COPIES + NEAR, old, number)
        near = (kind >= COPIES) & (kind < COPIES + NEAR)
        return self._pages(number, source, near)

    def _pages(
        self, number: NDArray[np.uint64], source: NDArray[np.uint64], near: NDArray[np.bool_]
    ) -> Sightings:
        count = len(number)
        words = _mixed(source[:, None] * np.uint64(32) + np.arange(18, dtype=np.uint64))
        super8, super5, simhash = words[:, :6].copy(), words[:, 6:12].copy(), words[:, 12:].copy()
        other = _mixed(number)
        for column in (super8, super5):
            column[near, 0] = other[near]
            column[near, 3] = other[near] ^ np.uint64(5)
        simhash[near, 2] ^= np.uint64(0b10110001)
        text = np.where(near, other, _mixed(source ^ np.uint64(1 << 60)))
        sample = _mixed(source[:, None] + np.array([1 << 50, 1 << 51], np.uint64))
        letters = (_mixed(number[:, None] ^ np.arange(8, dtype=np.uint64)) | np.uint64(1)).view(
            np.uint8
        )
        urls = letters[:, :URL]
        return Sightings(
            page=_mixed(number ^ np.uint64(1 << 59)),
            site=_mixed(number % np.uint64(SITES)),
            at=(WEB_BEGINS_US + number.astype(np.int64) * 1_000),
            text=text,
            file=_mixed(text),
            origin=number,
            start=np.zeros(count, np.uint32),
            end=np.full(count, 20_000, np.uint32),
            super8=super8,
            super5=super5,
            simhash=simhash,
            sample=sample.view(np.uint8).reshape(count, SAMPLE),
            urls=np.ascontiguousarray(urls & np.uint8(127)).reshape(-1),
            url_offsets=np.arange(count + 1, dtype=np.int64) * URL,
        )


def _kind(number: NDArray[np.uint64]) -> NDArray[np.float64]:
    """What a page is, by its number: between 0 and 1."""
    return _mixed(number ^ np.uint64(1 << 58)) / 2.0**64


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    x = (x ^ (x >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return x ^ (x >> np.uint64(33))


def resident() -> int:
    """Bytes of memory that this process takes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this machine does not tell its VmRSS")


def measure(pages: int, *, timed: int = 40, rounds: int = 3) -> Cost:
    """Fill a window, let it slide, and take the best round."""
    gc.collect()
    before = resident()
    world, index = World(pages), NearDuplicateIndex(max_pages=pages)
    for _ in range(pages // BLOCK + 2):
        index.add(world.block(), now=NOW)
    best = float("inf")
    for _ in range(rounds):
        blocks = [world.block() for _ in range(timed)]
        begin = time.process_time()
        for block in blocks:
            index.add(block, now=NOW)
        best = min(best, time.process_time() - begin)
    size = (resident() - before) / len(index)
    begin = time.perf_counter()
    saved = {name: array.copy() for name, array in index.save().items()}
    saving = time.perf_counter() - begin
    del index
    gc.collect()
    other = NearDuplicateIndex(max_pages=pages)
    begin = time.perf_counter()
    other.restore(saved)
    restoring = time.perf_counter() - begin
    return Cost(pages, timed * BLOCK / best, size, saving, restoring)


def rows(small: int = 100_000, large: int = 10_000_000) -> dict[str, float]:
    """The design's budgets of the index, by the names of the contract."""
    first, last = measure(small), measure(large)
    return {
        "index_match_add_per_second": last.per_second,
        "index_bytes_per_page": last.bytes_per_page,
        "index_cost_10m_over_100k": first.per_second / last.per_second,
    }


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    on_one_core()
    measure(10_000)
    for pages in chosen.pages:
        cost: Any = measure(pages)
        if chosen.json:
            facts = {name: getattr(cost, name) for name in Cost.__slots__}
            sys.stdout.write(json.dumps(facts) + "\n")
            continue
        sys.stdout.write(
            f"{pages:>10,} pages: {cost.per_second:>9,.0f} match-and-add/s, "
            f"{cost.bytes_per_page:.0f} bytes a page, saved in {cost.save_seconds:.1f} s, "
            f"restored in {cost.restore_seconds:.1f} s\n"
        )


if __name__ == "__main__":
    main()
