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

from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OFFSETS,
    OUT_OFFSETS,
    kernel,
    tuple_of,
    types,
)
from reusewatch.detector.scanning.decoding import Decoded
from reusewatch.detector.scanning.scan import Batch

_BYTES_AT = types.Array(types.int32, 1, "C", readonly=True)


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

    def word(self, page: int, position: int) -> int:
        """Which word of the batch stands at a position of a page."""
        return int(self.batch.token_at[page] + self.places[self.seen_at[page] + position])

    def spans(
        self,
        offsets: NDArray[np.int64],
        first: NDArray[np.uint32],
        last: NDArray[np.uint32],
        *,
        behind: int = 0,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The bytes of each page's body from a first word to one `behind` a last one; `offsets` cut
        both columns by page."""
        starts, ends = np.empty(len(first), np.int64), np.empty(len(first), np.int64)
        places = (self.batch.token_at, self.seen_at, self.places)
        columns = (self.batch.starts, self.batch.ends)
        _spans(offsets, (first, last), behind, places, columns, (starts, ends))
        for page in not_utf8(self.decoded):
            own = slice(int(offsets[page]), int(offsets[page + 1]))
            spans = np.stack((starts[own], ends[own]))
            starts[own], ends[own] = self.decoded[page].body_offsets(spans)
        return starts, ends


def not_utf8(decoded: Sequence[Decoded]) -> list[int]:
    """Which pages' bodies are in another charset: their offsets are not those of the text."""
    return [page for page, (_, charset, _) in enumerate(decoded) if charset != "utf-8"]


@kernel(
    types.void(
        OFFSETS, tuple_of(COUNTS, COUNTS), types.int64, tuple_of(OFFSETS, OFFSETS, COUNTS),
        tuple_of(_BYTES_AT, _BYTES_AT), tuple_of(OUT_OFFSETS, OUT_OFFSETS),
    ),
    allocates=False,
)  # fmt: skip
def _spans(offsets: Any, positions: Any, behind: Any, places: Any, columns: Any, out: Any) -> None:
    first, last = positions
    token_at, seen_at, place = places
    starts, ends = columns
    out_starts, out_ends = out
    for page in range(offsets.size - 1):
        token, seen = token_at[page], seen_at[page]
        for i in range(offsets[page], offsets[page + 1]):
            out_starts[i] = starts[token + place[seen + types.int64(first[i])]]
            out_ends[i] = ends[token + place[seen + types.int64(last[i]) + behind]]
