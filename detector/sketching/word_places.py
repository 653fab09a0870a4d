"""Where the visible words of a batch's pages stand: from positions in a page's text to its bytes.

Sketches count positions in the visible text; who shows or keeps what they found needs bytes of the
body as it was fetched. Everything for all pages of a batch at once, in columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.scanning.decoding import Decoded
from reusewatch.detector.scanning.scan import Batch


@dataclass(frozen=True, slots=True, eq=False)
class WordPlaces:
    """`seen_at` is where each page's visible words begin among those of all, `places` which of the
    page's tokens each of them is."""

    batch: Batch
    decoded: Sequence[Decoded]
    seen_at: NDArray[np.int64]
    places: NDArray[np.uint32]

    @classmethod
    def of(
        cls,
        batch: Batch,
        decoded: Sequence[Decoded],
        words: NDArray[np.int64],
        places: NDArray[np.uint32],
    ) -> WordPlaces:
        """Of pages with so many visible words each."""
        return cls(batch, decoded, np.concatenate(([0], np.cumsum(words))), places)

    def words(self, pages: NDArray[np.int64], positions: NDArray[Any]) -> NDArray[np.int64]:
        """Which words of the batch stand at these positions of these pages."""
        found: NDArray[np.int64] = (
            self.batch.token_at[pages] + self.places[self.seen_at[pages] + positions]
        )
        return found

    def spans(
        self, offsets: NDArray[np.int64], first: NDArray[Any], last: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The bytes of each page's body from a first word to a last one; `offsets` cut both columns
        by page."""
        pages = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        starts = self.batch.starts[self.words(pages, first)].astype(np.int64)
        ends = self.batch.ends[self.words(pages, last)].astype(np.int64)
        for page in np.unique(pages).tolist():
            if self.decoded[page].charset != "utf-8":
                own = slice(int(offsets[page]), int(offsets[page + 1]))
                spans = np.stack((starts[own], ends[own]))
                starts[own], ends[own] = self.decoded[page].body_offsets(spans)
        return starts, ends
