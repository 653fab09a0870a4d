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
    BYTES,
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
from reusewatch.detector.fields import ALONE, SEEN_BITS
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged, trimmed
from reusewatch.detector.sketching.identity import identity_of, sequence_constants
from reusewatch.detector.sketching.tokens import TokenBatch

Unit = Literal["text", "raw"]
_MOST_CHARACTERS = (1 << 32) - 1
_ALONE_BIT = ALONE.bit_length() - 1
_CHARACTERS = ALONE - 1
_SEEN = np.uint64(SEEN_BITS)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


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


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """The tokens of a batch that a reader sees, cut into chunks; `places` are their indices within
    the page.

    Sketches count positions in this text: `places` leads back to the scan's tokens, and so to
    bytes of the page. `salts` depend on what of each page nobody sees, too.
    """

    tokens: Ragged
    places: NDArray[np.uint32]
    chunks: Chunks
    identities: NDArray[np.uint64]
    salts: NDArray[np.uint64]


def text_of(batch: TokenBatch, scheme: HashScheme) -> Text:
    """The visible text: a page's URL and its meta tags are markup (Henzinger 2006, §2).

    With the URL among the tokens, no copy at another address would be a copy. A chunk ends where
    the block number changes. Its length is that of its tokens in characters, with one space between
    two words, whatever stood there in the source, and none beside a character of a script that is
    written without spaces.

    All in one reading: each step of a hash waits for the one before it, and the hash of the page,
    and what is copied, take no time beside that of a chunk.
    """
    size, pages = batch.tokens.values.size, len(batch)
    tokens, hashes = (np.empty(size, np.uint64) for _ in range(2))
    places, characters, starts, ends = (np.empty(size, np.uint32) for _ in range(4))
    at, chunk_at = (np.empty(pages + 1, np.int64) for _ in range(2))
    identities, salts = (np.empty(pages, np.uint64) for _ in range(2))
    columns = (batch.fields, batch.blocks, batch.lengths)
    _read(
        batch.tokens.values, batch.tokens.offsets, columns, sequence_constants(scheme),
        (at, tokens, places), (chunk_at, hashes, characters, starts, ends), (identities, salts),
    )  # fmt: skip
    count = chunk_at[-1]
    characters, starts, ends = (trimmed(column, count) for column in (characters, starts, ends))
    chunks = Chunks(Ragged(trimmed(hashes, count), chunk_at), characters, starts, ends)
    text = Ragged(tokens[: at[-1]], at)
    return Text(text, trimmed(places, at[-1]), chunks, identities, salts)


_OUT = (
    tuple_of(OUT_OFFSETS, OUT_WORDS, OUT_COUNTS),
    tuple_of(OUT_OFFSETS, OUT_WORDS, OUT_COUNTS, OUT_COUNTS, OUT_COUNTS),
    tuple_of(OUT_WORDS, OUT_WORDS),
)


@kernel(types.void(WORDS, OFFSETS, tuple_of(BYTES, COUNTS, COUNTS), PAIR, *_OUT))
def _read(
    tokens: Any, offsets: Any, columns: Any, constants: Any, text: Any, chunks: Any, pages: Any
) -> None:
    fields, blocks, lengths = columns
    seed, factor = constants
    text_offsets, seen, places = text
    chunk_offsets, hashes, characters, starts, ends = chunks
    identities, salts = pages
    count, chunk = types.uint64(0), types.uint64(0)
    text_offsets[0] = chunk_offsets[0] = 0
    for page in range(offsets.size - 1):
        # Indices without a sign need no check for counting from the end.
        first, stop = types.uint64(offsets[page]), types.uint64(offsets[page + 1])
        at, begin, whole, unseen = first, count, seed, _ZERO
        while at < stop:
            start, length, spaced = count, types.int64(0), types.int64(0)
            block, state = blocks[at], seed
            while at < stop:
                token = tokens[at]
                if not _SEEN >> types.uint64(fields[at]) & _ONE:
                    unseen = mix(unseen ^ token)
                    at += _ONE
                    continue
                if blocks[at] != block:
                    break
                state = chain(state, token, factor)
                whole = chain(whole, token, factor)
                seen[count] = token
                places[count] = at - first
                size = types.int64(lengths[at])
                word = 1 - (size >> _ALONE_BIT)
                length += (size & _CHARACTERS) + (spaced & word)
                spaced = word
                count += _ONE
                at += _ONE
            if count > start:
                hashes[chunk] = mix(state)
                characters[chunk] = min(length, _MOST_CHARACTERS)
                starts[chunk], ends[chunk] = start - begin, count - begin
                chunk += _ONE
        text_offsets[page + 1] = count
        chunk_offsets[page + 1] = chunk
        identities[page] = identity_of(whole, types.int64(count - begin))
        salts[page] = identities[page] ^ unseen
