"""Blind discovery over a whole corpus, offline and exact (Ardi, Heidemann 2014, §3.2).

Discovery is not distributive: two parts that each have a chunk a thousand times discover nothing at
a threshold of 1500, the corpus does. So occurrences are split by hash, not by place: all of one
hash lie in one file of a directory, and each file is sorted and counted alone, in memory. Never
drops or estimates anything; stop chunks are the caller's to leave out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.stop_chunks import Counted

_ROW = np.dtype([("hash", "<u8"), ("page", "<u8"), ("site", "<u8"), ("length", "<u8")])
_WAITING = 1 << 20


class ExactCounts:
    """Counts by hash; 2^`bits` files in a directory that is ours alone."""

    def __init__(self, directory: Path, *, bits: int = 6) -> None:
        self._bits = bits
        self._paths = [directory / f"occurrences.{part}" for part in range(1 << bits)]
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
        rows = np.empty(len(hashes), _ROW)
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
        # One place of the shift is always done: a word cannot be shifted by 64.
        part = (rows["hash"] >> np.uint64(1)) >> np.uint64(63 - self._bits)
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(len(self._paths) + 1, dtype=np.uint64))
        for path, start, end in zip(self._paths, bounds[:-1], bounds[1:], strict=True):
            if start < end:
                with path.open("ab") as file:
                    file.write(rows[order[start:end]].tobytes())

    def over(self, threshold: int, *, min_sites: int = 1) -> Iterator[Counted]:
        """All that more than `threshold` distinct pages have, of so many sites; by hash."""
        self._spill()
        for path in self._paths:
            if path.exists():
                yield from _counted(np.fromfile(path, _ROW), threshold, min_sites)

    def close(self) -> None:
        """Take the files away."""
        for path in self._paths:
            path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


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
