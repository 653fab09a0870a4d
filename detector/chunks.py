"""Chunks: a page cut at its paragraphs (Ardi, Heidemann 2014, §3.1 step 2).

In `text` mode a chunk is the token sequence of a block, so that case, white space and markup
do not matter; in `raw` mode it is the bytes between paragraph tags, as in the paper. The chunk
hash vector keeps duplicates: a paragraph that stands twice counts twice.

Never looks chunks up, and never drops one for being short or common.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from detector.hashing import HashScheme
from detector.identity import sequence_constants, sequence_hash
from detector.kernels import (
    COUNTS,
    OFFSETS,
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_WORDS,
    PAIR,
    WORDS,
    kernel,
    tuple_of,
)
from detector.ragged import Ragged, page_offsets, trimmed

_PARAGRAPH_TAG = re.compile(rb"<(/?)p(?=[\s/>])", re.IGNORECASE)
_MOST_CHARACTERS = (1 << 32) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Chunk hash vectors of many pages, in page order.

    `lengths` counts characters (bytes in raw mode). `starts` and `ends` say which tokens of the
    page (bytes in raw mode) a chunk is made of. All four columns are cut by `hashes.offsets`.
    """

    hashes: Ragged
    lengths: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]


def text_chunks(
    tokens: Ragged,
    blocks: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    scheme: HashScheme,
) -> Chunks:
    """Chunks of token sequences: a chunk ends where the block number changes.

    `lengths` are the characters of each token; a chunk's length is that of its words with one
    space between them, whatever stood there in the source.
    """
    size = tokens.values.size
    blocks = _column(blocks, size, "block numbers")
    lengths = _column(lengths, size, "token lengths")
    offsets = np.empty(len(tokens) + 1, np.int64)
    hashes = np.empty(size, np.uint64)
    characters, starts, ends = (np.empty(size, np.uint32) for _ in range(3))
    out = (offsets, hashes, characters, starts, ends)
    columns, constants = (blocks, lengths), sequence_constants(scheme)
    _text_chunks(tokens.values, tokens.offsets, columns, constants, out)
    count = offsets[-1]
    spans = (trimmed(column, count) for column in (characters, starts, ends))
    return Chunks(Ragged(trimmed(hashes, count), offsets), *spans)


def raw_chunks(data: bytes, scheme: HashScheme) -> Chunks:
    """Chunks of one page's bytes: what stands between paragraph tags, before and after them.

    An empty paragraph is a chunk, the most common one of the web (§6.2). White space that
    belongs to no paragraph, as between `</p>` and the next `<p>`, is none.
    """
    spans = [
        (start, end)
        for start, end, opened in _between_tags(data)
        if opened or data[start:end].strip()
    ]
    hashes = [scheme.of_bytes(memoryview(data)[start:end]) for start, end in spans]
    bounds = np.array(spans, dtype=np.uint32).reshape(-1, 2)
    starts, ends = bounds[:, 0].copy(), bounds[:, 1].copy()
    column = Ragged(np.array(hashes, np.uint64), page_offsets([len(hashes)]))
    return Chunks(column, ends - starts, starts, ends)


def _between_tags(data: bytes) -> list[tuple[int, int, bool]]:
    """Start and end of each part, and whether a `<p>` opened it."""
    parts, start, opened = [], 0, False
    for tag in _PARAGRAPH_TAG.finditer(data):
        if tag.start() < start:  # inside the tag before it: <p title="<p >">
            continue
        close = data.find(b">", tag.end())
        if close < 0:  # not a tag, nor is any later one; going on would be quadratic
            break
        parts.append((start, tag.start(), opened))
        start, opened = close + 1, not tag[1]
    parts.append((start, len(data), opened))
    return parts


def _column(values: NDArray[Any], size: int, what: str) -> NDArray[np.uint32]:
    if values.size != size:
        raise ValueError(f"{values.size} {what} for {size} tokens")
    return np.require(values, np.uint32, ["C", "A"])


_OUT = tuple_of(OUT_OFFSETS, OUT_WORDS, OUT_COUNTS, OUT_COUNTS, OUT_COUNTS)


@kernel(types.void(WORDS, OFFSETS, tuple_of(COUNTS, COUNTS), PAIR, _OUT))
def _text_chunks(tokens: Any, offsets: Any, columns: Any, constants: Any, out: Any) -> None:
    blocks, lengths = columns
    seed, factor = constants
    chunk_offsets, hashes, characters, starts, ends = out
    chunk = 0
    chunk_offsets[0] = 0
    for page in range(offsets.size - 1):
        first, stop = offsets[page], offsets[page + 1]
        start = first
        while start < stop:
            end, length = start, -1
            while end < stop and blocks[end] == blocks[start]:
                length += 1 + types.int64(lengths[end])
                end += 1
            hashes[chunk] = sequence_hash(tokens, start, end, seed, factor)
            characters[chunk] = min(length, _MOST_CHARACTERS)
            starts[chunk], ends[chunk] = start - first, end - first
            chunk += 1
            start = end
        chunk_offsets[page + 1] = chunk
