"""Weighted pages while nobody asks: what a page's terms weigh takes next to nothing.

Terms stand heaviest first, and those that occur as often weigh the same: of the hundreds of weights
of a page a dozen differ. They are kept as runs, exactly, in whatever order terms stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.ragged import Ragged, check_offsets
from reusewatch.detector.similar.overlap import Runs
from reusewatch.detector.similar.weighted_pages import WeightedPages

_KINDS = (
    np.uint64, np.int64, np.int64, np.int64, np.uint64, np.int32, np.float32, np.uint8,
)  # fmt: skip
_SIZES = tuple(np.dtype(kind).itemsize for kind in _KINDS)
_TERMS, _BEGINS, _WEIGHTS = 4, 5, 6
_HEAD = 32


@dataclass(frozen=True, slots=True, eq=False)
class KeptPages:
    """A batch of pages. `begins` is where in the column of terms each run of equal weights begins,
    a new one with each page. Packed, they are one string of bytes, to be kept out of memory."""

    page: NDArray[np.uint64]
    at: NDArray[np.int64]
    terms: Ragged
    begins: NDArray[np.int32]
    weights: NDArray[np.float32]
    urls: NDArray[np.uint8]
    url_offsets: NDArray[np.int64]

    @classmethod
    def of(cls, pages: WeightedPages) -> KeptPages:
        """The same pages, their weights as runs."""
        weights, offsets = pages.weights, pages.terms.offsets
        begins = np.ones(weights.size, np.bool_)
        begins[1:] = weights[1:] != weights[:-1]
        begins[offsets[:-1][offsets[:-1] < weights.size]] = True
        at = np.flatnonzero(begins).astype(np.int32)
        return cls(
            pages.page, pages.at, pages.terms, at, weights[at], pages.urls, pages.url_offsets
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.page)

    def weights_of(self, row: int) -> NDArray[np.float32]:
        """The weights of a page, one for each of its terms."""
        start, end = self.terms.offsets[row : row + 2].tolist()
        first, last = np.searchsorted(self.begins, (start, end)).tolist()
        return _repeated(self.weights[first:last], self.begins[first:last], start, end)

    def weighted(self) -> WeightedPages:
        """The pages with a weight for each term."""
        sizes = np.diff(self.begins, append=self.terms.values.size)
        return WeightedPages(
            self.page, self.at, self.terms, np.repeat(self.weights, sizes), self.urls,
            self.url_offsets,
        )  # fmt: skip

    def packed(self) -> bytes:
        """All columns, one after the other, behind their sizes."""
        sizes = (len(self.page), self.terms.values.size, self.begins.size, self.urls.size)
        columns = (
            np.array(sizes, np.int64), self.page, self.at, self.terms.offsets, self.url_offsets,
            self.terms.values, self.begins, self.weights, self.urls,
        )  # fmt: skip
        return b"".join(part for one in columns for part in (one.data, bytes(-one.nbytes % 8)))

    @classmethod
    def unpacked(cls, data: bytes | memoryview) -> KeptPages:
        """Pages that were packed; views of these bytes."""
        columns = [
            np.frombuffer(data, kind, count, at)
            for kind, (at, count) in zip(_KINDS, _places(data[:_HEAD]), strict=True)
        ]
        page, fetched, offsets, url_offsets, values, begins, weights, text = columns
        return cls(page, fetched, Ragged(values, offsets), begins, weights, text, url_offsets)

    def check(self) -> None:
        """Refuse columns that do not belong together. Raises ValueError."""
        check_offsets(self.url_offsets, self.urls.size)
        runs = np.append(self.begins, self.terms.values.size)
        if runs[0] != 0 or (runs[1:] <= runs[:-1]).any() or not np.isfinite(self.weights).all():
            raise ValueError("the weights of kept pages are not runs of their terms")

    def stands(self) -> Stands:
        """Where the terms of each page stand in what is packed."""
        offsets = self.terms.offsets
        sizes = (len(self.page), self.terms.values.size, self.begins.size, self.urls.size)
        columns = _places(np.array(sizes, np.int64).data)
        return Stands(
            offsets.astype(np.int32), np.searchsorted(self.begins, offsets).astype(np.int32),
            *(columns[at][0] for at in (_TERMS, _BEGINS, _WEIGHTS)),
        )  # fmt: skip

    def url_of(self, row: int) -> str:
        """The URL of a page."""
        start, end = self.url_offsets[row : row + 2].tolist()
        return self.urls[start:end].tobytes().decode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True, eq=False)
class Stands:
    """Where in what was packed the terms of a page stand, and the runs of their weights: kept in
    memory, so that no more is read of a batch than what one page has."""

    terms: NDArray[np.int32]
    runs: NDArray[np.int32]
    terms_at: int
    begins_at: int
    weights_at: int

    def terms_in(self, read: Callable[[int, int], bytes | memoryview], row: int) -> Runs:
        """The terms of one page, and their weights; `read` gives so many bytes from one on. Copied
        from what they are a part of: it would stay in memory as long as they do."""
        start, end = self.terms[row : row + 2].tolist()
        first, last = self.runs[row : row + 2].tolist()
        runs = np.frombuffer(bytes(read(self.begins_at + 4 * first, 4 * (last - first))), np.int32)
        shares = np.frombuffer(
            bytes(read(self.weights_at + 4 * first, 4 * (last - first))), np.float32
        )
        found = np.frombuffer(bytes(read(self.terms_at + 8 * start, 8 * (end - start))), np.uint64)
        return Runs(found, runs, shares, start)


def _places(head: bytes | memoryview) -> list[tuple[int, int]]:
    """Where each column begins, and how many values it has."""
    pages, terms, runs, urls = np.frombuffer(head, np.int64).tolist()
    counts = (pages, pages, pages + 1, pages + 1, terms, runs, runs, urls)
    at, found = _HEAD, []
    for size, count in zip(_SIZES, counts, strict=True):
        found.append((at, count))
        at += -(-size * count // 8) * 8
    return found


def _repeated(
    weights: NDArray[np.float32], begins: NDArray[np.int32], start: int, end: int
) -> NDArray[np.float32]:
    """A weight for each term from `start` to `end`, of runs that begin there."""
    sizes = np.empty(begins.size, np.int64)
    sizes[-1:] = end
    sizes[:-1] = begins[1:]
    sizes -= begins
    return np.repeat(weights, sizes)
