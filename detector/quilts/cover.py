"""The greedy cover: donors that together have a page's patch grams, the fewest that greed finds.

Najork 2012, §2; Fetterly et al. 2005, §3.4. The donor with the most grams that are not covered yet
is next; of several the one that was there first. Linear in the pairs of a gram and a donor but for
the heap, in which each donor stands with what it covered when it was looked at last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import part, records, types
from reusewatch.detector.quilts.scratch import DONORS, INTS, PAIRS, PATCHES, SCRATCH
from reusewatch.detector.quilts.store import DOCUMENTS, OWNED

SOURCE = np.dtype([("document", "i4"), ("brought", "i4"), ("shared", "i4"), ("share", "f8")])
"""A source: the patch grams that it adds to the cover, all that it shares with the page, and the
first of both as a share of the page's grams."""
SOURCES = records(SOURCE)


@part(types.void(SCRATCH, DOCUMENTS))
def rank_donors(scratch: Any, documents: Any) -> None:
    """Order the donors: owned ones, then who was there first, ties by page id."""
    size, order = scratch.tallies[DONORS], scratch.order
    for at in range(size):
        order[at] = at
    for root in range(size // 2 - 1, -1, -1):
        _sink_later(scratch, documents, root, size)
    for last in range(size - 1, 0, -1):
        order[0], order[last] = order[last], order[0]
        _sink_later(scratch, documents, 0, last)
    for at in range(size):
        scratch.rank[order[at]] = at


@part(types.boolean(SCRATCH, DOCUMENTS, types.int64, types.int64))
def _is_later(scratch: Any, documents: Any, one: Any, other: Any) -> Any:
    first, second = documents[scratch.donors[one]], documents[scratch.donors[other]]
    mine, theirs = types.int64(first.flags) & OWNED, types.int64(second.flags) & OWNED
    if mine != theirs:
        return mine < theirs
    return first.at > second.at or (first.at == second.at and first.page > second.page)


@part(types.void(SCRATCH, DOCUMENTS, types.int64, types.int64))
def _sink_later(scratch: Any, documents: Any, at: Any, size: Any) -> None:
    order = scratch.order
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and _is_later(scratch, documents, order[child + 1], order[child]):
            child += 1
        if not _is_later(scratch, documents, order[child], order[at]):
            return
        order[at], order[child] = order[child], order[at]
        at = child


@part(types.void(SCRATCH))
def _file_by_donor(scratch: Any) -> None:
    """The grams of each donor, side by side; donors are known by their ranks from here on."""
    size, begins = scratch.tallies[DONORS], scratch.begins
    begins[0] = 0
    for rank in range(size):
        scratch.left[rank] = scratch.shared[scratch.order[rank]]
        begins[rank + 1] = begins[rank] + scratch.left[rank]
    for pair in range(scratch.tallies[PAIRS]):
        rank = scratch.rank[scratch.pair_donor[pair]]
        scratch.of_donor[begins[rank]] = scratch.pair_gram[pair]
        begins[rank] += 1
        scratch.pair_donor[pair] = rank
    for rank in range(size, 0, -1):
        begins[rank] = begins[rank - 1]
    begins[0] = 0


@part(types.boolean(INTS, INTS, types.int64, types.int64), inline=True)
def _is_over(heap: Any, left: Any, one: Any, other: Any) -> Any:
    """Whether a donor has more grams left than another, or as many and was there first."""
    return left[one] > left[other] or (left[one] == left[other] and heap[one] < heap[other])


@part(types.void(INTS, INTS, types.int64, types.int64))
def _sink(heap: Any, left: Any, at: Any, size: Any) -> None:
    """The donor with the most grams left is on top, of several the one of the lowest rank."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        other = child + 1
        if other < size and _is_over(heap, left, other, child):
            child = other
        if not _is_over(heap, left, child, at):
            return
        heap[at], heap[child] = heap[child], heap[at]
        left[at], left[child] = left[child], left[at]
        at = child


@part(types.void(SCRATCH, types.int64))
def _take(scratch: Any, rank: Any) -> None:
    """A donor's grams are covered: all others have so much less to bring."""
    for at in range(scratch.begins[rank], scratch.begins[rank + 1]):
        gram = scratch.of_donor[at]
        if scratch.covered[gram]:
            continue
        scratch.covered[gram] = 1
        for pair in range(scratch.gram_begin[gram], scratch.gram_begin[gram + 1]):
            scratch.left[scratch.pair_donor[pair]] -= 1


@part(types.int64(SCRATCH, types.int64, types.float64, SOURCES, types.int64))
def cover(scratch: Any, kept: Any, phi: Any, sources: Any, listed: Any) -> Any:
    """List the sources of a page behind those that are listed; returns how many there are then.

    Of its `kept` grams each source brings at least the share `phi`: what greed would add after
    one that does not brings no more.
    """
    _file_by_donor(scratch)
    scratch.covered[:kept] = 0
    size, done = scratch.tallies[DONORS], 0
    heap, heap_left, left = scratch.heap, scratch.heap_left, scratch.left
    for rank in range(size):
        heap[rank], heap_left[rank] = rank, left[rank]
    for at in range(size // 2 - 1, -1, -1):
        _sink(heap, heap_left, at, size)
    while size > 0 and done < scratch.tallies[PATCHES]:
        rank = types.int64(heap[0])
        brought = types.int64(left[rank])
        if heap_left[0] != brought:  # others have covered some of its grams since
            heap_left[0] = brought
            _sink(heap, heap_left, 0, size)
            continue
        if brought == 0 or brought < phi * kept:
            break
        _take(scratch, rank)
        done += brought
        sources[listed].document = scratch.donors[scratch.order[rank]]
        sources[listed].brought = brought
        sources[listed].shared = scratch.begins[rank + 1] - scratch.begins[rank]
        sources[listed].share = brought / max(kept, 1)
        listed += 1
    return listed
