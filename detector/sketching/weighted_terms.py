"""Weighted terms: the rendering phase of Das et al. (§3, Table 1, §3.1.2).

A term weighs what its field weighs, for each occurrence. Weights are divided by the page's
total W_r; terms below the dynamic threshold T are dropped; what is left is normalized again,
so that the weights of a page add up to 1.

The paper calls T a function of W_r and does not say which. Here it is a share of W_r: in raw
weight the threshold rises with the page, so that short pages keep every term and long ones
shed the terms that weigh next to nothing. A share of 1/1000 also means that no page keeps more
than 1000 terms. A page of so many words that none reaches T keeps its heaviest, up to as many.
The paper's stop words and stemming are left out: they are a language's, pages are of all.

Has no document frequencies: the global order, the filters and the overlap belong to the index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OFFSETS,
    OUT_OFFSETS,
    OUT_SHARES,
    OUT_WORDS,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.ragged import Ragged, trimmed
from reusewatch.detector.sketching.word_counts import WordCounts

LEAST_SHARE = 1 / 1000
"""T as a share of W_r."""


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Weighted terms of many pages, heaviest first, then in order of first occurrence.

    `totals` is W_r, the weight of all terms before the threshold.
    """

    hashes: Ragged
    weights: NDArray[np.float32]
    totals: NDArray[np.float64]


def weighted_terms(counted: WordCounts, *, least_share: float = LEAST_SHARE) -> Terms:
    """Each page's terms with their normalized weights."""
    if not 0 < least_share <= 1:
        raise ValueError(f"a share of a page's weight is above 0 and at most 1, not {least_share}")
    pages, size = len(counted.words), counted.halves.size
    offsets, totals = np.empty(pages + 1, np.int64), np.empty(pages, np.int64)
    hashes, weights = np.empty(size, np.uint64), np.empty(size, np.float32)
    columns = (counted.words.values, counted.words.offsets, counted.halves)
    _weighted_terms(columns, least_share, (offsets, hashes, weights, totals))
    count = offsets[-1]
    return Terms(Ragged(trimmed(hashes, count), offsets), trimmed(weights, count), totals / 2)


@part(types.void(OUT_OFFSETS, types.int64, OUT_OFFSETS, OUT_OFFSETS), allocates=True)
def _heaviest_first(halves: Any, count: Any, order: Any, spare: Any) -> None:
    """Sort `order` by falling weight, equal ones as they are: by digits, so in linear time."""
    most = 0
    for i in range(count):
        order[i] = i
        most = max(most, halves[i])
    shift = 0
    starts = np.empty(257, np.int64)
    while most >> shift:
        # Of most pages no term weighs more than a few dozen.
        top = min(most >> shift, 255)
        for digit in range(top + 2):
            starts[digit] = 0
        for i in range(count):
            starts[types.uint64(top + 1 - ((halves[i] >> shift) & 255))] += 1
        for digit in range(top):
            starts[digit + 1] += starts[digit]
        for i in range(count):
            term = types.uint64(order[i])
            place = types.uint64(top - ((halves[term] >> shift) & 255))
            spare[types.uint64(starts[place])] = order[i]
            starts[place] += 1
        # Not by slices: see `tokens`.
        for i in range(count):
            order[i] = spare[i]
        shift += 8


_OUT = tuple_of(OUT_OFFSETS, OUT_WORDS, OUT_SHARES, OUT_OFFSETS)


@kernel(types.void(tuple_of(WORDS, OFFSETS, COUNTS), types.float64, _OUT))
def _weighted_terms(columns: Any, least_share: Any, result: Any) -> None:
    words, offsets, weights = columns
    starts, out_hashes, out_weights, totals = result
    longest = 0
    for page in range(offsets.size - 1):
        longest = max(longest, offsets[page + 1] - offsets[page])
    halves = np.empty(longest, np.int64)
    order, spare = np.empty(longest, np.int64), np.empty(longest, np.int64)
    limit = types.int64(1.0 / least_share)
    out = 0
    starts[0] = 0
    for page in range(offsets.size - 1):
        first, count, total = types.uint64(offsets[page]), offsets[page + 1] - offsets[page], 0
        for term in range(types.uint64(count)):
            halves[term] = weights[first + term]
            total += halves[term]
        _heaviest_first(halves, count, order, spare)
        most = halves[order[0]] if count else 0
        least = min(least_share * total, types.float64(most))
        kept, all_kept = 0, 0
        while kept < min(count, limit) and halves[order[kept]] >= least:
            all_kept += halves[order[kept]]
            kept += 1
        for i in range(kept):
            term = types.uint64(order[i])
            out_hashes[types.uint64(out)] = words[first + term]
            out_weights[types.uint64(out)] = halves[term] / all_kept
            out += 1
        starts[page + 1] = out
        totals[page] = total
