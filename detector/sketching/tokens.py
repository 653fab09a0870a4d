"""A batch of scanned pages as the sketches take it: columns of tokens, and where pages start.

Holds token hashes, never text; keeps what a reader sees apart from what only weighs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    BYTES,
    COUNTS,
    OFFSETS,
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    tuple_of,
    types,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.fields import SEEN_BITS, Field
from reusewatch.detector.ragged import Ragged, trimmed

_SEEN = np.uint64(SEEN_BITS)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_COLUMNS = (
    tuple_of(COUNTS, COUNTS),
    tuple_of(OUT_WORDS, OUT_OFFSETS, OUT_COUNTS, OUT_COUNTS, OUT_COUNTS, OUT_WORDS),
)


@dataclass(frozen=True, slots=True, eq=False)
class TokenBatch:
    """Tokens of many pages: hash, field, block number and length in characters of each.

    Characters are the code points of the word that was hashed; `fields.ALONE` may be added to them.
    """

    tokens: Ragged
    fields: NDArray[np.uint8]
    blocks: NDArray[np.uint32]
    lengths: NDArray[np.uint32]

    def __post_init__(self) -> None:
        for name, kind in (("fields", np.uint8), ("blocks", np.uint32), ("lengths", np.uint32)):
            column = np.require(getattr(self, name), kind, ["C", "A"])
            if column.shape != self.tokens.values.shape:
                raise ValueError(f"{column.size} {name} for {self.tokens.values.size} tokens")
            object.__setattr__(self, name, column)
        if self.fields.size and int(self.fields.max()) >= len(Field):
            raise ValueError(f"there is no field {int(self.fields.max())}")

    def __len__(self) -> int:
        return len(self.tokens)


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """The tokens of a batch that a reader sees; `places` are their indices within the page, and
    `unseen` is a number of what of each page nobody sees.

    Sketches count positions in this text: `places` leads back to the scan's tokens, and so to
    bytes of the page.
    """

    tokens: Ragged
    blocks: NDArray[np.uint32]
    lengths: NDArray[np.uint32]
    places: NDArray[np.uint32]
    unseen: NDArray[np.uint64]


def text_of(batch: TokenBatch) -> Text:
    """The visible text: a page's URL and its meta tags are markup (Henzinger 2006, §2).

    With the URL among the tokens, no copy at another address would be a copy.
    """
    size = batch.tokens.values.size
    hashes, offsets = np.empty(size, np.uint64), np.empty(len(batch) + 1, np.int64)
    blocks, lengths, places = (np.empty(size, np.uint32) for _ in range(3))
    unseen = np.empty(len(batch), np.uint64)
    columns = (batch.blocks, batch.lengths)
    out = (hashes, offsets, blocks, lengths, places, unseen)
    _seen(batch.tokens.values, batch.tokens.offsets, batch.fields, columns, out)
    count = offsets[-1]
    text = Ragged(hashes[:count], offsets)
    return Text(text, blocks[:count], lengths[:count], trimmed(places, count), unseen)


@kernel(types.void(WORDS, OFFSETS, BYTES, *_COLUMNS))
def _seen(tokens: Any, offsets: Any, fields: Any, columns: Any, out: Any) -> None:
    blocks, lengths = columns
    out_tokens, out_offsets, out_blocks, out_lengths, places, unseen = out
    count = types.uint64(0)
    out_offsets[0] = 0
    for page in range(offsets.size - 1):
        first, stop = types.uint64(offsets[page]), types.uint64(offsets[page + 1])
        # What nobody sees of a page that was scanned stands at its end: the rest is copied.
        middle, seen, rest = stop, _ZERO, _ZERO
        while middle > first and not _SEEN >> types.uint64(fields[middle - _ONE]) & _ONE:
            middle -= _ONE
            rest = mix(rest ^ tokens[middle])
        for at in range(first, middle):
            seen += _SEEN >> types.uint64(fields[at]) & _ONE
        if seen == middle - first:
            for at in range(seen):
                out_tokens[count + at] = tokens[first + at]
            for at in range(seen):
                out_blocks[count + at] = blocks[first + at]
            for at in range(seen):
                out_lengths[count + at] = lengths[first + at]
            for at in range(seen):
                places[count + at] = at
            count += seen
        else:
            for at in range(first, middle):
                # Written either way, and written over by the next one that is seen.
                out_tokens[count] = tokens[at]
                out_blocks[count] = blocks[at]
                out_lengths[count] = lengths[at]
                places[count] = at - first
                is_seen = _SEEN >> types.uint64(fields[at]) & _ONE
                count += is_seen
                if not is_seen:
                    rest = mix(rest ^ tokens[at])
        unseen[page] = rest
        out_offsets[page + 1] = count
