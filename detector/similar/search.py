"""Prefix filter, positional filter and verification over the window (Das et al., §3.1.3, 3.1.4).

The bounds are derived in `detector.similar.overlap`. A search looks at a bounded number of list
entries: where the lists of a prefix are longer, it stops opening them, counts what it did not look
at, and what was not opened counts as still to come, so that no page that was met is lost by that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import (
    OUT_OFFSETS,
    OUT_SHARES,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.similar.overlap import SHARES
from reusewatch.detector.similar.postings import term_of
from reusewatch.detector.similar.store import BLOCK, TERM_STORE, TOTALS
from reusewatch.detector.window.buckets import number_bits
from reusewatch.detector.window.store import LINKS, ROWS_TYPE

SUMS = types.Array(types.float64, 2, "C")
_AHEAD = 1
"""Entries of lists that one page's check against its own terms is worth."""


@kernel(tuple_of(OUT_OFFSETS, OUT_OFFSETS)(TERM_STORE, WORDS))
def known_terms(store: Any, terms: Any) -> Any:
    """Numbers of a page's terms, −1 where no page has one, and how many pages have each."""
    bits = number_bits(store.table)
    numbers, frequencies = np.empty(terms.size, np.int64), np.zeros(terms.size, np.int64)
    for i in range(terms.size):
        numbers[i] = term_of(store, bits, terms[i])
        if numbers[i] >= 0:
            frequencies[i] = store.terms[numbers[i]].count
    return numbers, frequencies


_LISTS = (TERM_STORE, types.int64, types.int64, types.float64, SUMS, LINKS, types.int64)


@part(tuple_of(types.int64, LINKS)(*_LISTS, types.boolean), allocates=True)
def _open(
    store: Any, term: Any, count: Any, weight: Any, sums: Any, met: Any, size: Any, more: Any
) -> Any:
    """Go through a list: overlap so far and weight used up, by row. New pages only if `more`."""
    start = types.int64(store.terms[term].start)
    if more and size + count > met.size:
        larger = np.empty(2 * (size + count), np.int32)
        for i in range(size):  # not by slices: see `tokens`
            larger[i] = met[i]
        met = larger
    for i in range(start, start + count):
        cell = types.int64(store.postings[i])
        row, other = store.owner[cell // BLOCK], store.cell_weight[cell]
        if sums[row, 1] == 0.0:
            if not more:
                continue
            met[size] = row
            size += 1
        sums[row, 0] += min(weight, other)
        sums[row, 1] += other
    return size, met


@kernel(tuple_of(LINKS, TOTALS, types.int64)(
    TERM_STORE, OUT_OFFSETS, OUT_OFFSETS, SHARES, types.float64, types.int64, SUMS,
))  # fmt: skip
def candidates(
    store: Any, numbers: Any, order: Any, weights: Any, least: Any, most: Any, sums: Any
) -> Any:
    """Rows that share a term of the prefix, a bound on the MWO of each, and entries not looked at.

    `sums` are zeros, a row each; `most` bounds the entries looked at.
    """
    rest = types.float64(0.0)
    for i in range(weights.size):
        rest += weights[i]
    met, size, seen, k = np.empty(1024, np.int32), types.int64(0), types.int64(0), 0
    unseen = types.int64(0)
    while k < order.size and rest > 0.0:
        term, weight = numbers[order[k]], types.float64(weights[order[k]])
        count = types.int64(store.terms[term].count) if term >= 0 else types.int64(0)
        needed = rest >= least
        if seen + count > most or (not needed and count > _AHEAD * size):
            break
        if count:
            size, met = _open(store, term, count, weight, sums, met, size, needed)
        seen += count
        rest -= weight
        k += 1
    left = rest
    while k < order.size and left >= least and left > 0.0:
        term = numbers[order[k]]
        count = types.int64(store.terms[term].count)
        part = min(count, most - seen)
        if part > 0:
            # Its weight stays in `rest`: pages further down the list have it too.
            start = types.int64(store.terms[term].start)
            larger = np.empty(size + part, np.int32)
            for i in range(size):
                larger[i] = met[i]
            met = larger
            for i in range(start, start + part):
                row = store.owner[types.int64(store.postings[i]) // BLOCK]
                if sums[row, 1] == 0.0:
                    sums[row, 1] = -1.0
                    met[size] = row
                    size += 1
        seen += part
        unseen += count - part
        left -= weights[order[k]]
        k += 1
    bounds = np.empty(size, np.float64)
    for i in range(size):
        row = met[i]
        used = max(sums[row, 1], 0.0)
        bounds[i] = sums[row, 0] + min(rest, store.totals[row] - used)
    return met[:size], bounds, unseen


@kernel(types.void(TERM_STORE, ROWS_TYPE, LINKS, OUT_SHARES, TOTALS))
def verify(store: Any, rows: Any, met: Any, asked: Any, out: Any) -> None:
    """MWO with each row; `asked` has the weights that are looked for, by term number."""
    for i in range(met.size):
        total = types.float64(0.0)
        for cell in range(types.int64(rows[met[i]].start), types.int64(rows[met[i]].end)):
            total += min(store.cell_weight[cell], asked[store.cell_term[cell]])
        out[i] = min(total, 1.0)
