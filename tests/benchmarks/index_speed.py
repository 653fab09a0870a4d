"""What the sliding index costs a page, at a hundred thousand pages and at ten million.

    python -m tests.benchmarks.index_speed --pages 100000 1000000 10000000

Synthetic signatures with the duplication of the papers' crawls: of a hundred pages 28 are exact
copies, 2 near-copies of an earlier page, the others' own; a page of the window leaves for each
that comes once it is full. Time is the processor's, for `add` (which matches first) on full
windows, each in turn; making the pages is not in it. The largest window is then saved as a worker
saves it, and restored from the disk: time on the wall, as that is what an operator waits.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.window.adding import WEB_BEGINS_US
from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.sightings import Sightings
from reusewatch.detector.window.store import SAMPLE
from reusewatch.streams.bus import Partition
from reusewatch.streams.stages.snapshot import Snapshots, State
from tests.benchmarks.sketch_speed import on_one_core

BLOCK = 1024
COPIES, NEAR = 0.28, 0.02
SITES = 50_000
URL = 60
NOW = 1 << 60


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a full window of so many pages. `array_bytes`: of its arrays alone."""

    pages: int
    per_second: float
    bytes_per_page: float
    array_bytes: float
    candidates_cut: int


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds on the wall, and those of the processor in them."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Restart:
    """A window of so many pages to the disk and back, the file's checksum included both times."""

    pages: int
    file_bytes: int
    save: Time
    restore: Time


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


class Sliding:
    """A full window, and the crawl that goes on filling it."""

    def __init__(self, pages: int) -> None:
        gc.collect()
        before = resident()
        self.pages = pages
        self._world, self.index = World(pages), NearDuplicateIndex(max_pages=pages)
        for _ in range(pages // BLOCK + 2):
            self.index.add(self._world.block(), now=NOW)
        self.bytes_per_page = (resident() - before) / len(self.index)

    def seconds_per_page(self, blocks: int) -> float:
        """Of the processor, for the next blocks of pages."""
        pages = [self._world.block() for _ in range(blocks)]
        begin = time.process_time()
        for block in pages:
            self.index.add(block, now=NOW)
        return (time.process_time() - begin) / (blocks * BLOCK)

    def cost(self, seconds: Sequence[float]) -> Cost:
        """By the median of the rounds."""
        return Cost(
            self.pages, 1 / median(seconds), self.bytes_per_page,
            self.index.nbytes / len(self.index), self.index.cut,
        )  # fmt: skip

    def restart(self, directory: Path) -> Restart:
        """Save, forget, read again; what is read must answer as what was forgotten."""
        snapshots, taken = Snapshots(directory, "window", HashScheme()), self._world.block()
        with _clocked() as save:
            path = snapshots.save(State(self.index.save()), {Partition("pages", 0): 0})
        before = self.index.match(taken, now=NOW)
        pages, size = len(self.index), path.stat().st_size
        self.index = NearDuplicateIndex(max_pages=self.pages)
        gc.collect()
        _forget(path)
        with _clocked() as restore:
            loaded = snapshots.load()
            assert loaded.state is not None
            self.index.restore(loaded.state.arrays)
        after = self.index.match(taken, now=NOW)
        if len(self.index) != pages or after.pages.tobytes() != before.pages.tobytes():
            raise AssertionError("a restored window answers otherwise")
        return Restart(pages, size, save[0], restore[0])


@contextmanager
def _clocked() -> Iterator[list[Time]]:
    """What was done within, timed, once it is done."""
    found: list[Time] = []
    wall, cpu = time.perf_counter(), time.process_time()
    yield found
    found.append(Time(time.perf_counter() - wall, time.process_time() - cpu))


def _forget(path: Path) -> None:
    """Take a file out of the system's memory, where that can be told to: it is read from disk."""
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(
    sizes: Sequence[int], directory: Path, *, blocks: int = 40, rounds: int = 5
) -> tuple[list[Cost], Restart]:
    """Fill windows, let them slide in turns, then restart the last."""
    Sliding(10 * BLOCK).seconds_per_page(4)  # compiles, and takes the memory of that
    windows = [Sliding(pages) for pages in sizes]
    found = [[window.seconds_per_page(blocks) for window in windows] for _ in range(rounds)]
    costs = [
        window.cost(seconds)
        for window, seconds in zip(windows, zip(*found, strict=True), strict=True)
    ]
    last = windows[-1]
    del windows
    with TemporaryDirectory(dir=directory, prefix="window-") as folder:
        return costs, last.restart(Path(folder))


def main() -> None:
    """Print a line for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--directory", type=Path, help="where there is room for the window")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    on_one_core()
    costs, restart = measure(chosen.pages, chosen.directory)
    if chosen.json:
        found = {"costs": [asdict(cost) for cost in costs], "restart": asdict(restart)}
        sys.stdout.write(json.dumps(found) + "\n")
        return
    for cost in costs:
        sys.stdout.write(
            f"{cost.pages:>10,} pages: {cost.per_second:>9,.0f} match-and-add/s, "
            f"{cost.bytes_per_page:.0f} bytes a page\n"
        )
    sys.stdout.write(
        f"saved in {restart.save.wall:.1f} s, restored in {restart.restore.wall:.1f} s\n"
    )


if __name__ == "__main__":
    main()
