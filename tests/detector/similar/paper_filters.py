"""The filters of Das et al. as they are written (§3, formulas 1 to 3), to be compared with.

They bound how many terms two pages share, not what the terms weigh: pages are missed whose overlap
is in a few heavy terms (see `detector.similar.overlap`). A candidate's own prefix is cut from its
terms in the global order of this moment, so each is sorted: this way is not fast either.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, kernel, part, tuple_of, types
from reusewatch.detector.similar.index import MwoIndex
from reusewatch.detector.similar.store import BLOCK, TERM_STORE
from reusewatch.detector.window.store import LINKS, ROWS, ROWS_TYPE

_PASSED = types.Array(types.boolean, 1, "C")


@kernel(types.int64(types.int64, types.float64))
def prefix_length(size: Any, threshold: Any) -> Any:
    """|r| − ⌊t·|r|⌋ + 1 (1), at most all terms.

    >>> prefix_length(10, 0.9), prefix_length(10, 0.5), prefix_length(10, 0.0)
    (2, 6, 10)
    """
    return min(size - types.int64(np.floor(threshold * size)) + 1, size)


@kernel(types.float64(types.int64, types.int64, types.float64))
def overlap_threshold(size: Any, other: Any, threshold: Any) -> Any:
    """The least number of common terms, t/(1+t)·(|r| + |r′|) (2).

    >>> overlap_threshold(10, 20, 0.5)
    10.0
    """
    return threshold / (1.0 + threshold) * (size + other)


@part(types.Array(types.int64, 1, "C")(TERM_STORE, types.int64, types.int64), allocates=True)
def _ordered_cells(store: Any, first: Any, end: Any) -> Any:
    """A page's cells in the global order (`term_order.canonical`)."""
    frequencies, hashes = np.empty(end - first, np.int64), np.empty(end - first, np.uint64)
    for i in range(end - first):
        term = store.cell_term[first + i]
        frequencies[i], hashes[i] = store.terms[term].count, store.terms[term].hash
    by_term = np.argsort(hashes, kind="mergesort")
    return first + by_term[np.argsort(frequencies[by_term], kind="mergesort")]


@kernel(tuple_of(LINKS, _PASSED)(
    TERM_STORE, ROWS_TYPE, OUT_OFFSETS, OUT_OFFSETS, types.float64, types.int64,
))  # fmt: skip
def paper_candidates(
    store: Any, rows: Any, numbers: Any, order: Any, threshold: Any, used_rows: Any
) -> Any:
    """The candidate set C, and which of it are in the mezzanine set M."""
    place = np.zeros(store.terms.size, np.int64)
    seen = np.zeros(used_rows, np.bool_)
    met, size = np.empty(used_rows, np.int32), 0
    for p in range(prefix_length(order.size, threshold)):
        term = numbers[order[p]]
        if term < 0:
            continue
        place[term] = p + 1
        start = types.int64(store.terms[term].start)
        for i in range(start, start + store.terms[term].count):
            row = store.owner[types.int64(store.postings[i]) // BLOCK]
            if not seen[row]:
                seen[row] = True
                met[size] = row
                size += 1
    passed, kept = np.zeros(size, np.bool_), 0
    for i in range(size):
        first, end = types.int64(rows[met[i]].start), types.int64(rows[met[i]].end)
        cells, shared, many = _ordered_cells(store, first, end), False, False
        least = overlap_threshold(order.size, end - first, threshold)
        for k in range(prefix_length(end - first, threshold)):
            p, q = place[store.cell_term[cells[k]]], k + 1
            if p:
                shared = True
                many |= 1 + min(order.size - p, end - first - q) >= least
        if shared:
            met[kept], passed[kept] = met[i], many
            kept += 1
    return met[:kept], passed[:kept]


class _Filtering(MwoIndex):
    def _filtered(self, asked: Any, threshold: float) -> Any:
        window, used = self._window, int(self._window.numbers[ROWS])
        met, passed = paper_candidates(
            self._store, window.rows, asked.numbers, asked.order, threshold, used
        )
        return met, np.flatnonzero(passed), 0


def with_paper_filters(index: MwoIndex) -> MwoIndex:
    """The same pages, filtered as the paper has it, which misses some of them."""
    filtering = copy(index)
    filtering.__class__ = _Filtering
    return filtering
