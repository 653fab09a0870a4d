"""Pages by their weighted terms, as the index takes them: columns of a batch, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reusewatch.detector.ragged import Ragged, as_column, check_offsets
from reusewatch.detector.similar.overlap import LIGHTEST
from reusewatch.detector.similar.store import MOST_TERMS
from reusewatch.detector.window.store import ROW

_MOST_WEIGHT = 1.001


def checked_weights(terms: Ragged, weights: ArrayLike) -> NDArray[np.float32]:
    """Normalized weights, one for each term; others would break the bounds of the filters."""
    shares = as_column(weights, np.float32)
    if shares.shape != terms.values.shape:
        raise ValueError(f"{shares.size} weights for {terms.values.size} terms")
    if shares.size and not (shares.min() >= LIGHTEST and shares.max() <= 1):
        raise ValueError(f"normalized weights are from {LIGHTEST:.2g} to 1")
    counts = terms.counts
    if counts.size and int(counts.max()) > MOST_TERMS:
        raise ValueError(f"a page has at most {MOST_TERMS} weighted terms, not {counts.max()}")
    # Of pages without terms there would be the sum of the next one's.
    begins = terms.offsets[:-1][counts > 0]
    if begins.size and np.add.reduceat(shares, begins, dtype=np.float64).max() > _MOST_WEIGHT:
        raise ValueError("the weights of a page add up to 1")
    return shares


@dataclass(frozen=True, slots=True, eq=False)
class WeightedPages:
    """A batch of pages, a row each: id, time of the fetch, terms (each once) with weights, URL."""

    page: NDArray[np.uint64]
    at: NDArray[np.int64]
    terms: Ragged
    weights: NDArray[np.float32]
    urls: NDArray[np.uint8]
    url_offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        count = len(self.terms)
        for name, kind in (("page", np.uint64), ("at", np.int64)):
            column = as_column(getattr(self, name), kind)
            if column.shape != (count,):
                raise ValueError(f"{name} has shape {column.shape} for {count} pages")
            object.__setattr__(self, name, column)
        object.__setattr__(self, "weights", checked_weights(self.terms, self.weights))
        object.__setattr__(self, "urls", as_column(self.urls, np.uint8))
        offsets = as_column(self.url_offsets, np.int64)
        check_offsets(offsets, self.urls.size)
        if len(offsets) != count + 1:
            raise ValueError(f"{len(offsets) - 1} URLs for {count} pages")
        object.__setattr__(self, "url_offsets", offsets)

    @classmethod
    def of(
        cls,
        page: ArrayLike,
        at: ArrayLike,
        terms: Ragged,
        weights: ArrayLike,
        urls: Sequence[str],
    ) -> WeightedPages:
        """The same from texts."""
        data = [url.encode("utf-8", "surrogatepass") for url in urls]
        return cls(
            np.asarray(page, np.uint64), np.asarray(at, np.int64), terms,
            np.asarray(weights, np.float32), np.frombuffer(b"".join(data), np.uint8),
            np.cumsum([0, *map(len, data)], dtype=np.int64),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.page)

    def rows(self, contents: NDArray[np.uint64]) -> NDArray[Any]:
        """As the window keeps pages; `contents` are the hashes of their terms and weights."""
        rows = np.zeros(len(self), ROW)
        rows["page"], rows["file"] = self.page, contents
        rows["first"] = rows["last"] = self.at
        rows["length"] = np.diff(self.url_offsets)
        return rows
