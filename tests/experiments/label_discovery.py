"""Blind discovery of a file, and of a site's chunks, that was copied so many times (Ardi, Heidemann
2014, §5.2, Figures 1 to 3).

Each time it is discovered twice: exactly and offline, by `ExactCounts`, and online in bounded
memory, by `Discovery`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.discovery.offline import ExactCounts
from reusewatch.detector.discovery.online import Discovery, Occurrences
from reusewatch.detector.labels.occurrences import SplitByHash
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.chunks import Chunks
from tests.experiments.corpus import SCHEME, UNITS, Corpus, Unit, chunks_of, corpus
from tests.experiments.datasets import stop_chunks
from tests.experiments.report import Experiment, Panel, Row, Series, plot

T = TypeVar("T")
FILES_NAME, CHUNKS_NAME = "label_discovery_files", "label_discovery_chunks"
_FILE_COPIES = (100, 250, 1000, 5000)
_FILE_THRESHOLD = 1000
_THRESHOLD, _QUICK_THRESHOLD = 100, 20
_MIN_SITES = 5
_BATCH = 16
# Copies of the site, as parts of the threshold; the paper's main case is a twentieth.
_PARTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.34, 0.5, 0.51, 0.75, 1.0)


class Counters:
    """Pages are counted exactly, and online; `discovered` asks both."""

    def __init__(self, directory: Path, threshold: int, *, counters: int) -> None:
        self._threshold = threshold
        self._exact = ExactCounts(SplitByHash(directory))
        self._online = Discovery(
            SCHEME, threshold=threshold, min_sites=_MIN_SITES, period=1 << 40,
            singletons=128 * counters, counters=counters,
        )  # fmt: skip
        self._told: list[int] = []
        self._pages = 0

    def add(self, chunks: Chunks, sites: NDArray[np.uint64]) -> None:
        """Pages, each once; `sites` has a number for each."""
        hashes = chunks.hashes
        pages = np.arange(self._pages, self._pages + len(hashes)).astype(np.uint64)
        self._pages += len(hashes)
        self._exact.add(hashes.values, np.repeat(pages, hashes.counts),
                        np.repeat(sites, hashes.counts), chunks.lengths)  # fmt: skip
        skipped = stop_chunks().has_chunks(hashes.values)
        seen = Occurrences(hashes, pages, sites, chunks.starts, chunks.ends, skipped)
        self._told += [one.hash for one in self._online.add(seen)]

    def exact(self) -> NDArray[np.uint64]:
        """What is over the threshold by exact counts, without stop chunks."""
        over = self._exact.over(self._threshold, min_sites=_MIN_SITES)
        found = np.array([one.hash for one in over], np.uint64)
        return found[~stop_chunks().has_chunks(found)]

    @property
    def evicted(self) -> int:
        """Counters that left the online table for others."""
        return self._online.evicted

    def online(self) -> NDArray[np.uint64]:
        """What was told online so far."""
        return np.array(self._told, np.uint64)


def _files(hashes: Sequence[int]) -> Chunks:
    """Whole files, each the only object of its page."""
    column = np.zeros(len(hashes), np.uint32)
    return Chunks(Ragged.of([[value] for value in hashes]), column, column, column)


def run_files(output: Path, quick: bool) -> list[Row]:
    """A site, all its files copied as they are to so many hosts."""
    scale = 10 if quick else 1
    threshold = _FILE_THRESHOLD // scale
    asked = [*(copies // scale for copies in _FILE_COPIES), threshold + 1, threshold + 2]
    site = [SCHEME.of_bytes(page) for page in corpus(quick).site]
    background = [SCHEME.of_bytes(page) for page in corpus(quick).background]
    rows = []
    with TemporaryDirectory() as folder:
        counters = Counters(Path(folder), threshold, counters=1 << 13)
        counters.add(_files(background), np.zeros(len(background), np.uint64))
        for copy in range(1, max(asked) + 1):
            for batch in _batches(site, 512):
                counters.add(_files(batch), np.full(len(batch), copy, np.uint64))
            if copy in asked:
                exact, online = counters.exact(), counters.online()
                rows.append({"copies": copy, "threshold": threshold,
                             "exact": float(np.isin(site, exact).mean()),
                             "online": float(np.isin(site, online).mean()),
                             "others_exact": int((~np.isin(exact, site)).sum()),
                             "others_online": int((~np.isin(online, site)).sum())})  # fmt: skip
    plot([_file_panel(site, background, asked, threshold)], output / FILES_NAME)
    return rows


def _file_panel(
    site: Sequence[int], background: Sequence[int], asked: Sequence[int], threshold: int
) -> Panel:
    return Panel(
        "Discovery of copied files (Figure 1)", "occurrences of a file", "distinct files",
        [_spectrum(np.array(background, np.uint64), "the background"),
         Series("the copied site", asked, [len(set(site))] * len(asked), marks="^",
                color="black")],
        places={f"threshold {threshold}": threshold}, logarithmic="xy",
    )  # fmt: skip


def _spectrum(values: NDArray[np.uint64], name: str, color: str = "grey") -> Series:
    """How many distinct values occur how often."""
    occurrences = np.unique(values, return_counts=True)[1]
    times, distinct = np.unique(occurrences, return_counts=True)
    return Series(name, times.tolist(), distinct.tolist(), marks="o", color=color)


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """The distinct chunks of the site, on how many of its pages, and how often at all."""

    hashes: NDArray[np.uint64]
    pages: NDArray[np.int64]
    occurrences: NDArray[np.int64]

    @classmethod
    def of(cls, chunks: Chunks) -> Site:
        """Without stop chunks."""
        values = chunks.hashes.values
        once = np.concatenate([np.unique(page) for page in chunks.hashes])
        found, pages = np.unique(once, return_counts=True)
        occurrences = np.unique(values, return_counts=True)[1]
        kept = ~stop_chunks().has_chunks(found)
        return cls(found[kept], pages[kept], occurrences[kept])

    def shares(self, discovered: NDArray[np.uint64]) -> tuple[float, float]:
        """Of distinct chunks, and of their occurrences, what is discovered."""
        hit = np.isin(self.hashes, discovered)
        return float(hit.mean()), float(self.occurrences[hit].sum() / self.occurrences.sum())


def copies_of(pages: Sequence[bytes], copy: int) -> list[bytes]:
    """The pages with a paragraph of their own before and after (§5.2)."""
    return [
        b"<p>Visit offer %dx%d of our sponsors today.</p>%s<p>Seen by guest %dx%d here.</p>"
        % (copy, number, page, copy, number)
        for number, page in enumerate(pages)
    ]


def run_chunks(output: Path, quick: bool) -> list[Row]:
    """A site, copied to so many hosts, each page with a head and a tail of its own."""
    threshold = _QUICK_THRESHOLD if quick else _THRESHOLD
    rows, panels = [], []
    for unit in UNITS:
        found = _discover(corpus(quick), unit, threshold, quick)
        rows += found
        panels.append(_chunk_panel(corpus(quick), unit, threshold))
        panels.append(_share_panel(unit, found, threshold))
    plot(panels, output / CHUNKS_NAME)
    return rows


def _discover(found: Corpus, unit: Unit, threshold: int, quick: bool) -> list[Row]:
    site = Site.of(chunks_of(found.site, unit))
    asked = sorted({max(round(part * threshold), 1) for part in _PARTS})
    # One copy more than the threshold; one for the sighting that only passes the filter; and some
    # for what is told late, since of one batch no more than 1024 discoveries are told.
    asked += [threshold + 1, threshold + 2, threshold + 5]
    rows = []
    with TemporaryDirectory() as folder:
        counters = Counters(Path(folder), threshold, counters=1 << (12 if quick else 17))
        counters.add(chunks_of(found.background, unit), np.zeros(len(found.background), np.uint64))
        for copy in range(1, asked[-1] + 1):
            for batch in _batches(copies_of(found.site, copy), _BATCH):
                counters.add(chunks_of(batch, unit), np.full(len(batch), copy, np.uint64))
            if copy in asked:
                rows.append(_row(unit, copy, threshold, site, counters))
    return rows


def _batches(pages: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """As a worker has them."""
    return (pages[at : at + size] for at in range(0, len(pages), size))


def _row(unit: Unit, copies: int, threshold: int, site: Site, counters: Counters) -> Row:
    exact, online = counters.exact(), counters.online()
    distinct, occurring = site.shares(exact)
    return {
        "chunks": unit, "copies": copies, "over_threshold": copies / threshold,
        "distinct_exact": distinct, "occurring_exact": occurring,
        "distinct_online": site.shares(online)[0],
        "by_occurrences": float((site.occurrences * copies > threshold).mean()),
        "discovered": len(exact),
        "evicted": counters.evicted,
        "others": int((~np.isin(exact, site.hashes)).sum()),
        "others_online": int((~np.isin(online, site.hashes)).sum()),
    }  # fmt: skip


def _chunk_panel(found: Corpus, unit: Unit, threshold: int) -> Panel:
    site = chunks_of(found.site, unit).hashes.values
    copied = np.repeat(site, max(threshold // 20, 1))
    return Panel(
        f"{unit} chunks, site copied T/20 times (Figure 2)", "occurrences of a chunk",
        "distinct chunks",
        [_spectrum(chunks_of(found.background, unit).hashes.values, "the background"),
         _spectrum(copied, "the copied site", "black")],
        places={f"threshold {threshold}": threshold}, logarithmic="xy",
    )  # fmt: skip


def _share_panel(unit: Unit, rows: Sequence[Row], threshold: int) -> Panel:
    x = [row["over_threshold"] for row in rows]
    columns = {"distinct chunks": "distinct_exact", "distinct chunks, online": "distinct_online",
               "occurring chunks": "occurring_exact"}  # fmt: skip
    series = [Series(name, x, [row[key] for row in rows]) for name, key in columns.items()]
    return Panel(
        f"{unit} chunks discovered (Figure 3)", f"copies of the site / threshold {threshold}",
        "share discovered", series, places={"T/20, the paper's case": 0.05},
        logarithmic="x",
    )  # fmt: skip


FILES = Experiment(FILES_NAME, run_files)
CHUNKS = Experiment(CHUNKS_NAME, run_chunks)
