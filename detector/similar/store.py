"""What the index of weighted terms holds, as raw arrays.

A *cell* is one term of one page: which term, its weight, and its place in the term's list. The
cells of a page stand together, in blocks of eight, each of which knows its page's row. A term's
*list* (the inverted index, Das et al., §3) is the cells that have it, without order, so that any
of them leaves at once: the last one takes its place.

A cell takes 12 bytes, its share of a block's owner and of rounding up to blocks 1 or 2, its entry
in a list 4 and up to as much again for room to grow; a term 24 and 5 in the table; a page's row,
queue and URL about 130 (`detector.window.store`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_SHARES,
    packed,
    records,
    types,
)
from reusewatch.detector.window.buckets import empty_tables
from reusewatch.detector.window.store import LINKS

BLOCK = 8
MOST_TERMS = 1024
"""Terms of a page; the rendering phase keeps at most 1000."""
LIST_SIZES = 32

TERM = np.dtype(
    [("hash", "u8"), ("start", "u4"), ("count", "i4"), ("bits", "i4"), ("next", "i4")]
)  # fmt: skip
"""A term: its `hash`, where its list of pages starts, how many pages it is of (its document
frequency), room for 2^`bits` of them, and the `next` one of those that are free."""

# Numbers that change: how far arrays are used, what of it is free, what the next page lacks.
(
    TERMS, FREE_TERM, LIVE_TERMS, BLOCKS, FREE_BLOCKS, POSTINGS, FREE_POSTINGS,
    NEED_TERMS, NEED_BLOCKS, NEED_POSTINGS, NUMBERS,
) = range(11)  # fmt: skip


class TermStore(NamedTuple):
    """The arrays, as kernels take them."""

    terms: NDArray[Any]
    table: NDArray[np.uint32]
    cell_term: NDArray[np.int32]
    cell_weight: NDArray[np.float32]
    cell_place: NDArray[np.uint32]
    owner: NDArray[np.int32]
    postings: NDArray[np.uint32]
    totals: NDArray[np.float64]
    free_blocks: NDArray[np.int64]
    free_lists: NDArray[np.int64]
    counts: NDArray[np.int64]


TERMS_TYPE = records(TERM)
TOTALS = types.Array(types.float64, 1, "C")
TERM_STORE = packed(
    TermStore,
    [
        TERMS_TYPE, OUT_COUNTS, LINKS, OUT_SHARES, OUT_COUNTS, LINKS, OUT_COUNTS, TOTALS,
        OUT_OFFSETS, types.Array(types.int64, 2, "C"), OUT_OFFSETS,
    ],
)  # fmt: skip

_FIRST = 1024


def empty_terms() -> TermStore:
    """An index of nothing."""
    counts = np.zeros(NUMBERS, np.int64)
    counts[FREE_TERM] = -1
    lists = np.zeros((2, LIST_SIZES), np.int64)
    lists[0] = -1
    return TermStore(
        terms=np.zeros(_FIRST, TERM),
        table=empty_tables(1, _FIRST)[0],
        cell_term=np.zeros(_FIRST, np.int32),
        cell_weight=np.zeros(_FIRST, np.float32),
        cell_place=np.zeros(_FIRST, np.uint32),
        owner=np.zeros(_FIRST // BLOCK, np.int32),
        postings=np.zeros(_FIRST, np.uint32),
        totals=np.zeros(_FIRST, np.float64),
        free_blocks=np.full(MOST_TERMS // BLOCK + 1, -1, np.int64),
        free_lists=lists,
        counts=counts,
    )
