"""Whether saved terms hold together: which cells, lists and blocks are whose. Changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_BYTES, kernel, part, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.similar.store import (
    BLOCK,
    BLOCKS,
    FREE_BLOCKS,
    FREE_POSTINGS,
    FREE_TERM,
    LIVE_TERMS,
    MOST_TERMS,
    POSTINGS,
    TERM_STORE,
    TERMS,
)
from reusewatch.detector.window.auditing import held_once, taken_once
from reusewatch.detector.window.store import LIVE, ROWS, STORE


@part(types.boolean(TERM_STORE), allocates=True)
def _terms_sound(store: Any) -> Any:
    """Whether each term is free, or live and found by its hash."""
    counts, terms, live = store.counts, store.terms, 0
    hashes, alive = np.empty(counts[TERMS], np.uint64), np.zeros(counts[TERMS], np.uint8)
    for term in range(alive.size):
        hashes[term] = mix(terms[term].hash)
        alive[term] = 1 if terms[term].count else 0
        live += alive[term]
    if live != counts[LIVE_TERMS] or held_once(store.table, hashes, alive) != live:
        return False
    term, free = counts[FREE_TERM], 0
    while term >= 0:
        if alive[term]:
            return False
        alive[term], free = 2, free + 1
        term = types.int64(terms[term].next)
    return live + free == alive.size


@part(types.boolean(TERM_STORE, types.int64), allocates=True)
def _lists_sound(store: Any, cells: Any) -> Any:
    """Whether each list has room of its own, and its cells name their places in it."""
    terms, postings, free = store.terms, store.postings, 0
    taken = np.zeros(store.counts[POSTINGS], np.uint8)
    for term in range(store.counts[TERMS]):
        start, count = types.int64(terms[term].start), types.int64(terms[term].count)
        if count == 0:
            continue
        room = 1 << types.int64(terms[term].bits)
        if count > room or not taken_once(start, start + room, taken):
            return False
        for place in range(count):
            cell = types.int64(postings[start + place])
            if cell >= cells or store.cell_term[cell] != term or store.cell_place[cell] != place:
                return False
    for bits in range(store.free_lists.shape[1]):
        at, many = store.free_lists[0, bits], 0
        while at >= 0:
            if not taken_once(at, at + (1 << bits), taken):
                return False
            at, many = types.int64(postings[at]) - 1, many + 1
        if many != store.free_lists[1, bits]:
            return False
        free += many << bits
    return free == store.counts[FREE_POSTINGS]


@part(types.int64(TERM_STORE, OUT_BYTES))
def _free_blocks(store: Any, taken: Any) -> Any:
    """How many blocks the lists of free ones have; −1 where one of them is not free."""
    free = 0
    for blocks in range(store.free_blocks.size):
        at = store.free_blocks[blocks]
        while at >= 0:
            if blocks == 0 or not taken_once(at, at + blocks, taken):
                return -1
            at, free = types.int64(store.cell_term[at * BLOCK]) - 1, free + blocks
    return free


@part(types.boolean(STORE, TERM_STORE), allocates=True)
def _cells_sound(window: Any, store: Any) -> Any:
    """Whether each page has blocks of its own, of which each cell stands in the list of a term."""
    rows, counts, free = window.rows, store.counts, 0
    taken = np.zeros(counts[BLOCKS], np.uint8)
    for row in range(window.numbers[ROWS]):
        first, end = types.int64(rows[row].start), types.int64(rows[row].end)
        if first == end:
            continue
        begin, blocks = first // BLOCK, (end - first + BLOCK - 1) // BLOCK
        if (
            not rows[row].state & LIVE or not 0 < end - first <= MOST_TERMS or first % BLOCK
            or not taken_once(begin, begin + blocks, taken)
        ):  # fmt: skip
            return False
        for block in range(begin, begin + blocks):
            if store.owner[block] != row:
                return False
        for cell in range(first, end):
            term, place = types.int64(store.cell_term[cell]), types.int64(store.cell_place[cell])
            if not 0 <= term < counts[TERMS] or place >= store.terms[term].count:
                return False
            if store.postings[types.int64(store.terms[term].start) + place] != cell:
                return False
            free -= 1
    for term in range(counts[TERMS]):  # a list has no cell that is no page's
        free += store.terms[term].count
    return free == 0 and _free_blocks(store, taken) == counts[FREE_BLOCKS]


@kernel(types.int64(STORE, TERM_STORE))
def audit_terms(window: Any, store: Any) -> Any:
    """0 of terms that hold together; else which of `PARTS` do not, counted from 1."""
    if not _terms_sound(store):
        return 1
    if not _lists_sound(store, store.counts[BLOCKS] * BLOCK):
        return 2
    return 0 if _cells_sound(window, store) else 3


PARTS = ("terms and their table", "lists of cells", "cells of pages")
