"""Chunks: a page cut at its paragraphs (Ardi, Heidemann 2014, §3.1 step 2).

In `text` mode a chunk is the token sequence of a block, so that case, white space and markup
do not matter; in `raw` mode it is the bytes between paragraph tags, as in the paper (see
`raw_chunks`). The two are never compared. The chunk hash vector keeps duplicates: a paragraph that
stands twice counts twice.

Never looks chunks up, and never drops one for being short or common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OFFSETS,
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_WORDS,
    PAIR,
    WORDS,
    kernel,
    tuple_of,
    types,
)
from reusewatch.detector.compiling.mixers import chain, mix
from reusewatch.detector.fields import ALONE
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged, trimmed
from reusewatch.detector.sketching.identity import identity_of, sequence_constants

Unit = Literal["text", "raw"]
_MOST_CHARACTERS = (1 << 32) - 1
_ALONE_BIT = ALONE.bit_length() - 1
_CHARACTERS = ALONE - 1
_ONE = np.uint64(1)


@dataclass(frozen=True, slots=True, eq=False)
class Chunks:
    """Chunk hash vectors of many pages, in page order.

    `lengths` counts characters. `starts` and `ends` say which tokens of the page (bytes of its body
    in raw mode) a chunk is made of. All four columns are cut by `hashes.offsets`.
    """

    hashes: Ragged
    lengths: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    unit: Unit = "text"


def text_chunks(
    tokens: Ragged,
    blocks: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    scheme: HashScheme,
) -> Chunks:
    """Chunks of token sequences: a chunk ends where the block number changes.

    `lengths` are the characters of each token; a chunk's length is that of its tokens, with one
    space between two words, whatever stood there in the source, and none beside a character of a
    script that is written without spaces.
    """
    return chunks_and_identities(tokens, blocks, lengths, scheme)[0]


def chunks_and_identities(
    tokens: Ragged,
    blocks: NDArray[np.uint32],
    lengths: NDArray[np.uint32],
    scheme: HashScheme,
) -> tuple[Chunks, NDArray[np.uint64]]:
    """The same, and the pages' identity hashes: each step of a hash waits for the one before it,
    and two that go on side by side take the time of one."""
    size = tokens.values.size
    blocks = _column(blocks, size, "block numbers")
    lengths = _column(lengths, size, "token lengths")
    offsets = np.empty(len(tokens) + 1, np.int64)
    hashes = np.empty(size, np.uint64)
    characters, starts, ends = (np.empty(size, np.uint32) for _ in range(3))
    identities = np.empty(len(tokens), np.uint64)
    out = (offsets, hashes, characters, starts, ends, identities)
    columns, constants = (blocks, lengths), sequence_constants(scheme)
    _text_chunks(tokens.values, tokens.offsets, columns, constants, out)
    count = offsets[-1]
    characters, starts, ends = (trimmed(column, count) for column in (characters, starts, ends))
    chunks = Chunks(Ragged(trimmed(hashes, count), offsets), characters, starts, ends)
    return chunks, identities


def _column(values: NDArray[Any], size: int, what: str) -> NDArray[np.uint32]:
    if values.size != size:
        raise ValueError(f"{values.size} {what} for {size} tokens")
    return np.require(values, np.uint32, ["C", "A"])


_OUT = tuple_of(OUT_OFFSETS, OUT_WORDS, OUT_COUNTS, OUT_COUNTS, OUT_COUNTS, OUT_WORDS)


@kernel(types.void(WORDS, OFFSETS, tuple_of(COUNTS, COUNTS), PAIR, _OUT))
def _text_chunks(tokens: Any, offsets: Any, columns: Any, constants: Any, out: Any) -> None:
    blocks, lengths = columns
    seed, factor = constants
    chunk_offsets, hashes, characters, starts, ends, identities = out
    chunk = types.uint64(0)
    chunk_offsets[0] = 0
    for page in range(offsets.size - 1):
        # Indices without a sign need no check for counting from the end.
        first, stop = types.uint64(offsets[page]), types.uint64(offsets[page + 1])
        start, whole = first, seed
        while start < stop:
            end, length, spaced = start, types.int64(0), types.int64(0)
            block, state = blocks[start], seed
            while end < stop and blocks[end] == block:
                state = chain(state, tokens[end], factor)
                whole = chain(whole, tokens[end], factor)
                size = types.int64(lengths[end])
                word = 1 - (size >> _ALONE_BIT)
                length += (size & _CHARACTERS) + (spaced & word)
                spaced = word
                end += _ONE
            hashes[chunk] = mix(state)
            characters[chunk] = min(length, _MOST_CHARACTERS)
            starts[chunk], ends[chunk] = start - first, end - first
            chunk += _ONE
            start = end
        chunk_offsets[page + 1] = chunk
        identities[page] = identity_of(whole, types.int64(stop - first))
