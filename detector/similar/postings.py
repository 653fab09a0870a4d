"""How a page's terms enter the inverted index and leave it, each in constant time.

Lists have room for a power of two; a full one moves to twice the room, one that is three quarters
empty to half of it. Room that was freed is kept by its size and used again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, WORDS, part, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.similar.overlap import SHARES
from reusewatch.detector.similar.store import (
    BLOCK,
    BLOCKS,
    FREE_BLOCKS,
    FREE_POSTINGS,
    FREE_TERM,
    LIST_SIZES,
    LIVE_TERMS,
    NEED_BLOCKS,
    NEED_POSTINGS,
    NEED_TERMS,
    POSTINGS,
    TERM_STORE,
    TERMS,
)
from reusewatch.detector.window.buckets import home, number, put, seek, take
from reusewatch.detector.window.store import ROWS_TYPE


@part(types.int64(TERM_STORE, types.int64, types.uint64))
def term_of(store: Any, bits: Any, term: Any) -> Any:
    """The number of a term; −1 if no page of the window has it."""
    hashed = mix(term)
    at = seek(store.table, bits, hashed, home(store.table, hashed))
    while at >= 0:
        found = number(store.table, bits, at)
        if store.terms[found].hash == term:
            return found
        at = seek(store.table, bits, hashed, at)
    return -1


@part(types.int64(TERM_STORE, types.int64))
def _new_list(store: Any, bits: Any) -> Any:
    at = store.free_lists[0, bits]
    if at < 0:
        store.counts[POSTINGS] += 1 << bits
        return store.counts[POSTINGS] - (1 << bits)
    store.free_lists[0, bits] = types.int64(store.postings[at]) - 1
    store.free_lists[1, bits] -= 1
    store.counts[FREE_POSTINGS] -= 1 << bits
    return at


@part(types.void(TERM_STORE, types.int64, types.int64))
def _free_list(store: Any, at: Any, bits: Any) -> None:
    store.postings[at] = store.free_lists[0, bits] + 1
    store.free_lists[0, bits] = at
    store.free_lists[1, bits] += 1
    store.counts[FREE_POSTINGS] += 1 << bits


@part(types.void(TERM_STORE, types.int64, types.int64))
def _move(store: Any, term: Any, bits: Any) -> None:
    """Give a list room for 2^bits."""
    old, count = types.int64(store.terms[term].start), store.terms[term].count
    new = _new_list(store, bits)
    for i in range(count):
        store.postings[new + i] = store.postings[old + i]
    _free_list(store, old, types.int64(store.terms[term].bits))
    store.terms[term].start, store.terms[term].bits = new, bits


@part(types.int64(TERM_STORE, types.int64, types.uint64))
def _new_term(store: Any, bits: Any, term: Any) -> Any:
    """A term that the window did not have."""
    counts = store.counts
    found = counts[FREE_TERM]
    if found >= 0:
        counts[FREE_TERM] = store.terms[found].next
    else:
        found = counts[TERMS]
        counts[TERMS] += 1
    counts[LIVE_TERMS] += 1
    store.terms[found].hash = term
    store.terms[found].count = store.terms[found].bits = 0
    store.terms[found].start = _new_list(store, 0)
    put(store.table, bits, mix(term), found)
    return found


@part(types.void(TERM_STORE, types.int64, types.int64))
def _drop_term(store: Any, bits: Any, term: Any) -> None:
    """A term that the window has no more."""
    take(store.table, bits, mix(store.terms[term].hash), term)
    _free_list(store, types.int64(store.terms[term].start), types.int64(store.terms[term].bits))
    store.terms[term].next = store.counts[FREE_TERM]
    store.counts[FREE_TERM] = term
    store.counts[LIVE_TERMS] -= 1


@part(
    types.boolean(TERM_STORE, types.int64, WORDS, types.int64, types.int64, OUT_OFFSETS),
    allocates=True,
)
def find_terms(store: Any, bits: Any, terms: Any, begin: Any, end: Any, numbers: Any) -> Any:
    """A page's terms by number, and whether there is room for the page.

    Where there is not, the store is told what is needed; nothing else changes. So that a page
    enters wholly or not at all.
    """
    counts, lists = store.counts, np.zeros(LIST_SIZES, np.int64)
    new = types.int64(0)
    for i in range(begin, end):
        found = term_of(store, bits, terms[i])
        numbers[i - begin] = found
        if found < 0:
            new += 1
        elif store.terms[found].count == 1 << store.terms[found].bits:
            lists[store.terms[found].bits + 1] += 1
    lists[0] += new
    counts[NEED_TERMS], counts[NEED_POSTINGS] = new, 0
    for size in range(LIST_SIZES):
        counts[NEED_POSTINGS] += max(lists[size] - store.free_lists[1, size], 0) << size
    blocks = (end - begin + BLOCK - 1) // BLOCK
    counts[NEED_BLOCKS] = blocks if store.free_blocks[blocks] < 0 else 0
    return (
        counts[LIVE_TERMS] + new <= store.terms.size
        and counts[BLOCKS] + counts[NEED_BLOCKS] <= store.owner.size
        and counts[POSTINGS] + counts[NEED_POSTINGS] <= store.postings.size
    )


@part(types.int64(TERM_STORE, types.int64, types.int64))
def _new_cells(store: Any, count: Any, row: Any) -> Any:
    """Room for a page's cells: the first of them."""
    blocks = (count + BLOCK - 1) // BLOCK
    block = store.free_blocks[blocks]
    if block >= 0:
        store.free_blocks[blocks] = types.int64(store.cell_term[block * BLOCK]) - 1
        store.counts[FREE_BLOCKS] -= blocks
    else:
        block = store.counts[BLOCKS]
        store.counts[BLOCKS] += blocks
    for i in range(blocks):
        store.owner[block + i] = row
    return block * BLOCK


@part(types.void(TERM_STORE, types.int64, ROWS_TYPE, types.int64, WORDS, SHARES, types.int64,
                   types.int64, OUT_OFFSETS))  # fmt: skip
def place_terms(
    store: Any, bits: Any, rows: Any, row: Any, terms: Any, weights: Any, begin: Any, end: Any,
    numbers: Any,
) -> None:  # fmt: skip
    """Enter a page's terms, whose numbers `find_terms` found."""
    count = end - begin
    rows[row].start = rows[row].end = 0
    store.totals[row] = 0.0
    if count == 0:
        return
    first = _new_cells(store, count, row)
    rows[row].start, rows[row].end = first, first + count
    for i in range(count):
        term, cell = numbers[i], first + i
        if term < 0:
            term = term_of(store, bits, terms[begin + i])
        if term < 0:
            term = _new_term(store, bits, terms[begin + i])
        place = types.int64(store.terms[term].count)
        if place == 1 << store.terms[term].bits:
            _move(store, term, types.int64(store.terms[term].bits) + 1)
        store.postings[types.int64(store.terms[term].start) + place] = cell
        store.terms[term].count = place + 1
        store.cell_term[cell], store.cell_place[cell] = term, place
        store.cell_weight[cell] = weights[begin + i]
        store.totals[row] += weights[begin + i]


@part(types.void(TERM_STORE, types.int64, types.int64))
def _leave_list(store: Any, bits: Any, cell: Any) -> None:
    """The last of the list takes a cell's place."""
    term, place = types.int64(store.cell_term[cell]), types.int64(store.cell_place[cell])
    start, count = types.int64(store.terms[term].start), store.terms[term].count - 1
    last = store.postings[start + count]
    store.postings[start + place] = last
    store.cell_place[last] = place
    store.terms[term].count = count
    if count == 0:
        _drop_term(store, bits, term)
        return
    smaller = types.int64(store.terms[term].bits) - 1
    if smaller >= 0 and count * 4 <= 2 << smaller:
        room = store.counts[POSTINGS] + (1 << smaller) <= store.postings.size
        if room or store.free_lists[0, smaller] >= 0:
            _move(store, term, smaller)


@part(types.void(TERM_STORE, types.int64, ROWS_TYPE, types.int64))
def remove_terms(store: Any, bits: Any, rows: Any, row: Any) -> None:
    """Take a page's terms out."""
    first, end = types.int64(rows[row].start), types.int64(rows[row].end)
    if first == end:
        return
    for cell in range(first, end):
        _leave_list(store, bits, cell)
    blocks = (end - first + BLOCK - 1) // BLOCK
    store.cell_term[first] = store.free_blocks[blocks] + 1
    store.free_blocks[blocks] = first // BLOCK
    store.counts[FREE_BLOCKS] += blocks
    rows[row].start = rows[row].end = 0
