"""What the gram postings hold: documents and their postings, two rings, the oldest leaving first.

A *document* is an identity set: a token sequence, whichever pages have it. A *posting* is one gram
of it: a key of 48 bits, and where the gram stands. A gram leads to its newest posting by a table
(`detector.window.buckets`), and from there to the older ones; the postings of a document stand side
by side, so that a posting leads to its document by a count (`links`). A site leads to a sample of
its documents (`site_peers`).

A document takes 88 bytes and 19 in tables, a posting 9 and about 6 in the table of grams or, where
the same gram came before, 4 for its place: of a page of 400 words with one gram of eight some 850
bytes where no gram is shared.

Two grams of 2^26 share a key by chance once in four million looks: one gram of a page then counts
wrongly, and no figure hangs on one gram.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_WORDS,
    packed,
    records,
)
from reusewatch.detector.window.buckets import empty_tables

OWNED = 1
"""A bit of a document's flags: its page belongs to who runs the crawl, and is a donor always."""
GONE = 2
"""A document that left before its turn; its room is free when its turn comes."""
SCALE = 8
"""The bit of the flags at which it begins by how many bits the places of a document's grams are
shorter than they are: 16 bits are kept of each, all of pages of 64 kB."""

DOCUMENT = np.dtype(
    [
        # The page that had these words first, by time and then by id; whose it is.
        ("page", "u8"), ("text", "u8"), ("site", "u8"), ("ip", "u8"), ("at", "i8"),
        # Its postings, counted from the first ever.
        ("begin", "i8"),
        # Its grams; those that are posted; those of them that every page's sample has.
        ("grams", "u4"), ("kept", "u4"), ("ranged", "u4"),
        # Sightings at other pages than the one before; bits as above; of the chain of its site
        # the next document, and how many there are from here on, 0 of a document in no chain.
        ("sightings", "u4"), ("flags", "u2"), ("peers", "u2"), ("peer", "i4"),
    ]
)  # fmt: skip
POSTING = np.dtype([("low", "u4"), ("high", "u2"), ("start", "u2")])
"""`low` and `high` are the key, `start` the byte in the page's body where the gram begins, as
`SCALE` says."""
MOST_POSTINGS = (1 << 30) - 1
"""A slot of the grams' table has two bits and more of a key beside the place."""

BLOCK = 64
"""Postings that have a record together."""
BLOCKS = np.dtype(
    [
        # A bit each: of those but the first, where another document begins; which have one of the
        # same gram before, or behind them; and of which gram several sites may have documents.
        ("begins", "u8"), ("linked", "u8"), ("followed", "u8"), ("mixed", "u8"),
        # The document of the first, and the first link of those that are linked: `links`.
        ("document", "u4"), ("link", "u4"),
    ]
)  # fmt: skip

(FIRST_DOCUMENT, END_DOCUMENT, FIRST_POSTING, END_POSTING, NEWEST, MAX_AGE, MAX_BYTES, LIVE, LATE,
 WARM, DISTINCT, ABSENT, FORGOTTEN, END_LINK, COUNT) = range(15)  # fmt: skip
"""Numbers that change, in one array: where each stands. Documents and postings are counted from
the first ever, and links; in a ring the n-th stands at n modulo its size. `DISTINCT`: grams in the
table; `ABSENT`: documents that left before their turn and still take room; `FORGOTTEN`: all that
ever did."""

BY_TEXT, BY_PAGE = 0, 1
DOCUMENT_BYTES, POSTING_BYTES = 107, 18
"""What one of each takes, tables included, as the bound counts it."""
_SMALLEST = 1024
_NEVER = -(1 << 62)


class Store(NamedTuple):
    """The arrays, as kernels take them."""

    documents: NDArray[Any]
    postings: NDArray[Any]
    blocks: NDArray[Any]
    links: NDArray[np.uint32]
    # Grams that were popular when they were asked for, in any order: `asking`.
    popular: NDArray[np.uint64]
    popular_since: NDArray[np.int64]
    grams: NDArray[np.uint32]
    by_text: NDArray[np.uint32]
    by_page: NDArray[np.uint32]
    by_site: NDArray[np.uint32]
    numbers: NDArray[np.int64]


DOCUMENTS = records(DOCUMENT)
STORE = packed(
    Store,
    [DOCUMENTS, records(POSTING), records(BLOCKS), OUT_COUNTS, OUT_WORDS, OUT_OFFSETS,
     *[OUT_COUNTS] * 4, OUT_OFFSETS],
)  # fmt: skip


def whole_blocks(postings: int) -> int:
    """So many postings and what fills the last block."""
    return -(-postings // BLOCK) * BLOCK


def empty_store(
    documents: int = _SMALLEST, postings: int = _SMALLEST * 16, grams: int = _SMALLEST * 16,
    links: int = _SMALLEST,
) -> Store:  # fmt: skip
    """Room for so many of each; nothing in it."""
    numbers = np.zeros(COUNT, np.int64)
    numbers[NEWEST] = _NEVER
    size = whole_blocks(postings)
    return Store(
        documents=np.zeros(documents, DOCUMENT),
        postings=np.zeros(size, POSTING),
        blocks=np.zeros(size // BLOCK, BLOCKS),
        links=np.zeros(links, np.uint32),
        popular=np.zeros(size // BLOCK, np.uint64),
        popular_since=np.zeros(size // BLOCK, np.int64),
        grams=empty_tables(1, grams)[0],
        by_text=empty_tables(1, documents)[0],
        by_page=empty_tables(1, documents)[0],
        by_site=empty_tables(1, documents)[0],
        numbers=numbers,
    )
