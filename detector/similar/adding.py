"""Pages of weighted terms enter the window and leave it, a batch in one call.

A page has one version here, that of its latest fetch; one that comes late is passed over, so that
the window does not depend on the order of arrival. Of two fetches at one time the one whose content
has the larger hash stays. Who leaves is decided by `expiry`, as for every window.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import (
    BYTES,
    COUNTS,
    OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.similar.overlap import SHARES
from reusewatch.detector.similar.postings import find_terms, place_terms, remove_terms
from reusewatch.detector.similar.store import MOST_TERMS, TERM_STORE
from reusewatch.detector.window.adding import misdated
from reusewatch.detector.window.buckets import number_bits, take
from reusewatch.detector.window.expiry import dequeue, expired
from reusewatch.detector.window.store import BY_PAGE, GRAVES, LIVE_ROWS, NEWEST, ROWS_TYPE, STORE
from reusewatch.detector.window.versions import latest, new_row

_HALF = np.uint64(32)


@kernel(types.void(WORDS, COUNTS, OFFSETS, OUT_WORDS))
def contents(terms: Any, weights: Any, offsets: Any, out: Any) -> None:
    """A hash of each page's terms and weights, in any order; `weights` are bit patterns."""
    for page in range(offsets.size - 1):
        total = types.uint64(0)
        for i in range(offsets[page], offsets[page + 1]):
            total += mix(mix(terms[i]) ^ (types.uint64(weights[i]) << _HALF))
        out[page] = total


@part(types.void(STORE, TERM_STORE))
def _expire(window: Any, store: Any) -> None:
    """All that must leave now leaves; rows are free when the caller buries them."""
    slots = window.row_tables[BY_PAGE]
    row = expired(window)
    while row >= 0:
        dequeue(window, row)
        remove_terms(store, number_bits(store.table), window.rows, row)
        take(slots, number_bits(slots), mix(window.rows[row].page), row)
        window.rows[row].state = 0
        window.rows[row].next = window.numbers[GRAVES]
        window.numbers[GRAVES] = row
        window.numbers[LIVE_ROWS] -= 1
        row = expired(window)


@kernel(types.int64(STORE, TERM_STORE, ROWS_TYPE, tuple_of(BYTES, OFFSETS),
                    tuple_of(WORDS, SHARES, OFFSETS), types.int64, types.int64))  # fmt: skip
def add_terms(
    window: Any, store: Any, arrivals: Any, urls: Any, columns: Any, now: Any, page: Any
) -> Any:
    """Add the pages from number `page` on; the first for which there was no room, or how many."""
    text, ends = urls
    terms, weights, offsets = columns
    bits, term_bits = number_bits(window.row_tables[BY_PAGE]), number_bits(store.table)
    numbers = np.empty(MOST_TERMS, np.int64)
    while page < arrivals.size:
        at, content = arrivals[page].last, arrivals[page].file
        if misdated(at, now):
            page += 1
            continue
        row = latest(window, bits, arrivals[page].page)
        if row >= 0:
            last, known = window.rows[row].last, window.rows[row].file
            if at < last or (at == last and content <= known):
                page += 1
                continue
        if row < 0 or content != known:
            begin, end = offsets[page], offsets[page + 1]
            if row >= 0:  # before its terms are looked up: some may be no other page's
                remove_terms(store, term_bits, window.rows, row)
            if not find_terms(store, term_bits, terms, begin, end, numbers):
                return page
            if row < 0:
                url = text[ends[page] : ends[page + 1]]
                row = new_row(window, bits, arrivals, page, url, False)
            place_terms(store, term_bits, window.rows, row, terms, weights, begin, end, numbers)
        window.rows[row].last, window.rows[row].file = at, content
        window.numbers[NEWEST] = max(window.numbers[NEWEST], at)
        _expire(window, store)
        page += 1
    return page
