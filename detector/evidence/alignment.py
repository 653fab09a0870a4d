"""Alignment: the runs of words that a page has in common with its donors.

Seeds are taken by their rarity, the rarest first: a gram that stands once on both sides says where
the copy is, one that stands everywhere says nothing. Each is extended both ways until the words
differ, a page ends, or a word of the subject is in a run already. Of the places of one gram the one
with the longest run wins, the first of equals. So runs do not overlap in the subject, none can be
extended, and no seed is left that touches none of them.

Linear: a word that a run takes is looked at once for each place that was tried, of which there are
at most `MOST_PLACES`, and a seed that fails costs as many looks as a gram has words for each.
Sorts seeds by powers of two of their pairs, which takes linear time and is all that rarity is for.
Knows words by their hashes only; what they say, and whether it matters, others decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_OFFSETS,
    WORDS,
    kernel,
    part,
    tuple_of,
)
from reusewatch.detector.evidence.shared_grams import Seeds, gram_length
from reusewatch.detector.ragged import Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Runs by their place in the subject: `here`, `there` and `length` count words.

    `there` is a position in its donor, whose number is `donor`. `work` is how many words were
    compared: what is linear.
    """

    here: NDArray[np.int64]
    there: NDArray[np.int64]
    length: NDArray[np.int64]
    donor: NDArray[np.int64]
    work: int

    def __len__(self) -> int:
        return len(self.here)


def align(here: NDArray[np.uint64], there: Ragged, seeds: Seeds) -> Runs:
    """The runs that grow of the seeds."""
    k = gram_length(here.size)
    if seeds.lists.size > max(0, here.size - k + 1):
        raise ValueError(f"seeds at {seeds.lists.size} positions of a page of {here.size} words")
    if seeds.places.size and not 0 <= seeds.places.min() <= seeds.places.max() < there.values.size:
        raise ValueError(f"a seed outside of the donors' {there.values.size} words")
    found = np.flatnonzero(seeds.lists >= 0)
    # The bits of the number of pairs: of bytes, numpy's stable sort is a radix sort.
    rarity = np.frexp(seeds.pairs[seeds.lists[found]].astype(np.float64))[1].astype(np.uint8)
    order = found[np.argsort(rarity, kind="stable")]
    columns = tuple(np.empty(here.size // k + 1, np.int64) for _ in range(4))
    count, work = _align(
        np.ascontiguousarray(here, np.uint64), there.values, there.offsets, order, k,
        (seeds.lists, seeds.starts, seeds.places), columns,
    )  # fmt: skip
    ours, theirs, lengths, donors = (column[:count] for column in columns)
    rising = np.argsort(ours, kind="stable")
    theirs = theirs[rising] - there.offsets[donors[rising]]
    return Runs(ours[rising], theirs, lengths[rising], donors[rising], work)


@part(types.int64(OFFSETS, types.int64))
def _page_of(offsets: Any, place: Any) -> Any:
    """The page whose words the place is among."""
    low, high = 0, offsets.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if offsets[middle] <= place:
            low = middle
        else:
            high = middle
    return low


_SEEDS = tuple_of(OFFSETS, OFFSETS, OFFSETS)
_OUT = tuple_of(*([OUT_OFFSETS] * 4))


@kernel(tuple_of(types.int64, types.int64)(
    WORDS, WORDS, OFFSETS, OFFSETS, types.int64, _SEEDS, _OUT
))  # fmt: skip
def _align(here: Any, there: Any, offsets: Any, order: Any, k: Any, seeds: Any, out: Any) -> Any:
    lists, starts, places = seeds
    ours, theirs, lengths, donors = out
    taken = np.zeros(here.size, np.uint8)
    count, work = 0, 0
    for p in order:
        # Runs have k words or more: one between these two would have less.
        if taken[p] != 0 or taken[p + k - 1] != 0:
            continue
        best, begin, place, donor = 0, 0, 0, 0
        for at in range(starts[lists[p]], starts[lists[p] + 1]):
            q = places[at]
            page = _page_of(offsets, q)
            first, last = offsets[page], offsets[page + 1]
            right = 0
            while (
                p + right < here.size
                and q + right < last
                and taken[p + right] == 0
                and here[p + right] == there[q + right]
            ):
                right += 1
            work += right + 1
            # The seed was one of hashes only.
            if right < k:
                continue
            left = 0
            while (
                p - left > 0
                and q - left > first
                and taken[p - left - 1] == 0
                and here[p - left - 1] == there[q - left - 1]
            ):
                left += 1
            work += left
            if left + right > best:
                best, begin, place, donor = left + right, p - left, q - left, page
        if best == 0:
            continue
        taken[begin : begin + best] = 1
        ours[count], theirs[count] = begin, place
        lengths[count], donors[count] = best, donor
        count += 1
    return count, work
