"""Blind discovery over a whole corpus, offline and exact (Ardi, Heidemann 2014, §3.2).

Discovery is not distributive: two parts that each have a chunk a thousand times discover nothing at
a threshold of 1500, the corpus does. So occurrences are split by hash, not by place
(`labels.occurrences`), and each part is sorted and counted alone, in memory. Never drops or
estimates anything; stop chunks are the caller's to leave out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.occurrences import ROW, SplitByHash
from reusewatch.detector.labels.stop_chunks import Counted

_WAITING = 1 << 20


class ExactCounts:
    """Counts by hash; what does not fit in memory waits in files, which the caller takes away."""

    def __init__(self, files: SplitByHash) -> None:
        self._files = files
        self._parts: list[NDArray[np.void]] = []
        self._waiting = 0

    def add(
        self,
        hashes: NDArray[np.uint64],
        pages: NDArray[np.uint64],
        sites: NDArray[np.uint64],
        lengths: NDArray[np.uint32],
    ) -> None:
        """Occurrences: each with its page, site, and length in characters."""
        rows = np.empty(len(hashes), ROW)
        rows["hash"], rows["page"], rows["site"], rows["length"] = hashes, pages, sites, lengths
        self._parts.append(rows)
        self._waiting += len(rows)
        if self._waiting >= _WAITING:
            self._spill()

    def _spill(self) -> None:
        if not self._parts:
            return
        rows = np.concatenate(self._parts)
        self._parts, self._waiting = [], 0
        self._files.append(rows)

    def over(self, threshold: int, *, min_sites: int = 1) -> Iterator[Counted]:
        """All that more than `threshold` distinct pages have, of so many sites; by hash."""
        self._spill()
        for rows in self._files.parts():
            yield from _counted(rows, threshold, min_sites)


def _counted(rows: NDArray[np.void], threshold: int, min_sites: int) -> Iterator[Counted]:
    hashes, which = np.unique(rows["hash"], return_inverse=True)
    pages = _distinct(which, rows["page"], len(hashes))
    sites = _distinct(which, rows["site"], len(hashes))
    lengths = np.zeros(len(hashes), np.uint64)
    np.maximum.at(lengths, which, rows["length"])
    for at in np.flatnonzero((pages > threshold) & (sites >= min_sites)):
        yield Counted(int(hashes[at]), int(pages[at]), int(sites[at]), int(lengths[at]))


def _distinct(
    which: NDArray[np.int64], values: NDArray[np.uint64], count: int
) -> NDArray[np.int64]:
    """How many distinct values each group has."""
    order = np.lexsort((values, which))
    groups, ordered = which[order], values[order]
    new = np.ones(len(groups), np.bool_)
    new[1:] = (groups[1:] != groups[:-1]) | (ordered[1:] != ordered[:-1])
    return np.bincount(groups[new], minlength=count)
