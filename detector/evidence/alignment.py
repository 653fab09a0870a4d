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
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_OFFSET_ROWS,
    OUT_OFFSETS,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
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
    return align_one(here, there.values, there.offsets, seeds)


def align_one(
    here: NDArray[np.uint64], there: NDArray[np.uint64], offsets: NDArray[np.int64], seeds: Seeds
) -> Runs:
    """The same, of donors' words and where each donor's begin; trusts the offsets."""
    k = gram_length(here.size)
    if seeds.lists.size > max(0, here.size - k + 1):
        raise ValueError(f"seeds at {seeds.lists.size} positions of a page of {here.size} words")
    columns = np.empty((4, here.size // k + 1), np.int64)
    count, work = _align_one(
        here, there, offsets, k, (seeds.lists, seeds.starts, seeds.places, seeds.pairs), columns
    )
    if count < 0:
        raise ValueError(f"a seed outside of the donors' {there.size} words")
    ours, theirs, lengths, donors = columns[:, :count]
    return Runs(ours, theirs, lengths, donors, work)


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


@part(types.int64(types.int64))
def _bits(number: Any) -> Any:
    """Of how many bits a number is, of which none is below 0."""
    bits = 0
    while number:
        number >>= 1
        bits += 1
    return bits


_SEEDS = tuple_of(OFFSETS, OFFSETS, OFFSETS, OFFSETS)
_BITS = 64


@part(types.int64(_SEEDS, OUT_OFFSETS), allocates=True)
def _by_rarity(seeds: Any, order: Any) -> Any:
    """The positions that have seeds, the rarest first, and how many these are."""
    lists, _, _, pairs = seeds
    rarity = np.empty(pairs.size, np.uint8)
    for i in range(pairs.size):
        rarity[i] = _bits(pairs[i])
    ends = np.zeros(_BITS + 2, np.int64)
    for p in range(lists.size):
        if lists[p] >= 0:
            ends[rarity[lists[p]] + 1] += 1
    for bits in range(_BITS + 1):
        ends[bits + 1] += ends[bits]
    for p in range(lists.size):
        if lists[p] >= 0:
            bits = rarity[lists[p]]
            order[ends[bits]] = p
            ends[bits] += 1
    return ends[_BITS]


@part(types.void(OUT_OFFSET_ROWS, types.Array(types.int32, 1, "C"), OUT_OFFSET_ROWS))
def _put_in_order(grown: Any, taken: Any, out: Any) -> None:
    """The runs as they follow each other in the subject, by which of them took each word."""
    p = 0
    for run in range(grown.shape[0]):
        while taken[p] == 0:
            p += 1
        which = taken[p] - 1
        for column in range(4):
            out[column, run] = grown[which, column]
        p += grown[which, 2]


_ALIGNED = tuple_of(types.int64, types.int64)(
    WORDS, WORDS, OFFSETS, types.int64, _SEEDS, OUT_OFFSET_ROWS
)  # fmt: skip


@part(_ALIGNED, allocates=True)
def aligned(here: Any, there: Any, offsets: Any, k: Any, seeds: Any, out: Any) -> Any:
    """The runs by their place in the subject; −1 of them where a seed leads outside."""
    lists, starts, places, _ = seeds
    for place in places:
        if place < 0 or place >= there.size:
            return -1, 0
    order = np.empty(lists.size, np.int64)
    found = _by_rarity(seeds, order)
    grown = np.empty((out.shape[1], 4), np.int64)
    taken = np.zeros(here.size, np.int32)  # by the run of this number, from 1 on
    count, work = 0, 0
    for p in order[:found]:
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
        grown[count, 0], grown[count, 1] = begin, place - offsets[donor]
        grown[count, 2], grown[count, 3] = best, donor
        count += 1
        taken[begin : begin + best] = count
    _put_in_order(grown[:count], taken, out)
    return count, work


@kernel(_ALIGNED)
def _align_one(here: Any, there: Any, offsets: Any, k: Any, seeds: Any, out: Any) -> Any:
    return aligned(here, there, offsets, k, seeds, out)
