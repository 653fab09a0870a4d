"""Room for weighted terms: arrays grow with the window, and close their gaps before they do.

Freed room is kept by its size, and sizes change as the web does; where a quarter of an array is
free, what is used moves together instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_COUNTS, kernel, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.large_arrays import longer
from reusewatch.detector.similar.store import (
    BLOCK,
    BLOCKS,
    FREE_BLOCKS,
    FREE_POSTINGS,
    LIVE_TERMS,
    NEED_BLOCKS,
    NEED_POSTINGS,
    NEED_TERMS,
    POSTINGS,
    TERM_STORE,
    TERMS,
    TermStore,
)
from reusewatch.detector.window.buckets import empty_tables, number_bits, put
from reusewatch.detector.window.store import LIVE, ROWS, STORE, Store

_SMALL = 1 << 20


def with_term_room(window: Store, store: TermStore) -> TermStore:
    """The same terms, with room for what the next page was found to need, and some more.

    A page that counted on room that closing the gaps took away asks once more.
    """
    counts = store.counts
    need = int(counts[LIVE_TERMS] + counts[NEED_TERMS])
    if need > len(store.terms):
        store = _more_terms(store, _more(need))
    used, free = int(counts[BLOCKS]), int(counts[FREE_BLOCKS])
    if used + int(counts[NEED_BLOCKS]) > len(store.owner):
        store = _more_cells(window, store, used, free)
    used, free = int(counts[POSTINGS]), int(counts[FREE_POSTINGS])
    if used + int(counts[NEED_POSTINGS]) > len(store.postings):
        store = _more_postings(store, used, free)
    return store


def with_rows(store: TermStore, rows: int) -> TermStore:
    """The same terms, for a window of so many rows."""
    if len(store.totals) >= rows:
        return store
    return store._replace(totals=longer(store.totals, rows))


def _more(need: int) -> int:
    """Twice as many while small; later a quarter more, as room without use is memory too."""
    return 2 * need if need < _SMALL else need + need // 4


def _more_terms(store: TermStore, size: int) -> TermStore:
    table = empty_tables(1, size)[0]
    _enter_terms(store, table)
    return store._replace(terms=longer(store.terms, size), table=table)


def _more_cells(window: Store, store: TermStore, used: int, free: int) -> TermStore:
    need = int(store.counts[NEED_BLOCKS])
    if 4 * free <= used:
        blocks = _more(used + need)
        return store._replace(
            cell_term=longer(store.cell_term, blocks * BLOCK),
            cell_weight=longer(store.cell_weight, blocks * BLOCK),
            cell_place=longer(store.cell_place, blocks * BLOCK),
            owner=longer(store.owner, blocks),
        )
    blocks = _more(used - free + need)
    closed = store._replace(
        cell_term=np.zeros(blocks * BLOCK, np.int32),
        cell_weight=np.zeros(blocks * BLOCK, np.float32),
        cell_place=np.zeros(blocks * BLOCK, np.uint32),
        owner=np.zeros(blocks, np.int32),
    )
    _close_cells(window, store, closed)
    return closed


def _more_postings(store: TermStore, used: int, free: int) -> TermStore:
    need = int(store.counts[NEED_POSTINGS])
    if 4 * free <= used:
        return store._replace(postings=longer(store.postings, _more(used + need)))
    postings = np.zeros(_more(used - free + need), np.uint32)
    _close_lists(store, postings)
    return store._replace(postings=postings)


@kernel(types.void(TERM_STORE, OUT_COUNTS))
def _enter_terms(store: Any, table: Any) -> None:
    bits = number_bits(table)
    for term in range(store.counts[TERMS]):
        if store.terms[term].count:
            put(table, bits, mix(store.terms[term].hash), term)


@kernel(types.void(TERM_STORE, OUT_COUNTS))
def _close_lists(store: Any, postings: Any) -> None:
    """Copy all lists into another array, without gaps."""
    at = types.int64(0)
    for term in range(store.counts[TERMS]):
        count = store.terms[term].count
        if count:
            start = types.int64(store.terms[term].start)
            for i in range(count):  # not by slices: see `tokens`
                postings[at + i] = store.postings[start + i]
            store.terms[term].start = at
            at += 1 << store.terms[term].bits
    store.counts[POSTINGS], store.counts[FREE_POSTINGS] = at, 0
    for size in range(store.free_lists.shape[1]):
        store.free_lists[0, size], store.free_lists[1, size] = -1, 0


@kernel(types.void(STORE, TERM_STORE, TERM_STORE))
def _close_cells(window: Any, store: Any, closed: Any) -> None:
    """Copy all pages' cells into other arrays, without gaps; lists name their new places."""
    block = types.int64(0)
    for row in range(window.numbers[ROWS]):
        first, end = types.int64(window.rows[row].start), types.int64(window.rows[row].end)
        if not window.rows[row].state & LIVE or first == end:
            continue
        blocks, at = (end - first + BLOCK - 1) // BLOCK, block * BLOCK
        for i in range(end - first):
            term, place = store.cell_term[first + i], store.cell_place[first + i]
            closed.cell_term[at + i], closed.cell_place[at + i] = term, place
            closed.cell_weight[at + i] = store.cell_weight[first + i]
            store.postings[types.int64(store.terms[term].start) + types.int64(place)] = at + i
        for i in range(blocks):
            closed.owner[block + i] = row
        window.rows[row].start, window.rows[row].end = at, at + end - first
        block += blocks
    store.counts[BLOCKS], store.counts[FREE_BLOCKS] = block, 0
    for i in range(store.free_blocks.size):
        store.free_blocks[i] = -1
