"""Weighted pages while nobody asks: what a page's terms weigh takes next to nothing.

Terms stand heaviest first, and those that occur as often weigh the same: of the hundreds of weights
of a page a dozen differ. They are kept as runs, exactly, in whatever order terms stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.ragged import Ragged
from reusewatch.detector.similar.weighted_pages import WeightedPages


@dataclass(frozen=True, slots=True, eq=False)
class KeptPages:
    """A batch of pages. `begins` is where in the column of terms each run of equal weights begins,
    a new one with each page."""

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
        return np.repeat(self.weights[first:last], np.diff(self.begins[first:last], append=end))

    def weighted(self) -> WeightedPages:
        """The pages with a weight for each term."""
        sizes = np.diff(self.begins, append=self.terms.values.size)
        return WeightedPages(
            self.page, self.at, self.terms, np.repeat(self.weights, sizes), self.urls,
            self.url_offsets,
        )  # fmt: skip

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        return sum(column.nbytes for column in self.arrays().values())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The columns, to be saved as they are."""
        return {
            "page": self.page, "at": self.at, "terms": self.terms.values,
            "offsets": self.terms.offsets, "begins": self.begins, "weights": self.weights,
            "urls": self.urls, "url_offsets": self.url_offsets,
        }  # fmt: skip

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> KeptPages:
        """Pages that were saved."""
        # Copies: a saved state is mapped read-only, and kernels take what could be written.
        columns = {name: column.copy() for name, column in arrays.items()}
        terms = Ragged(columns.pop("terms"), columns.pop("offsets"))
        return cls(terms=terms, **columns)
