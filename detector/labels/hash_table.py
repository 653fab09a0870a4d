"""A set of 64-bit hashes, sorted, with a bucket index: where a label pack looks hashes up.

L_f and L_c are joined with every page of a crawl (Ardi, Heidemann 2014, §3.3: simple object
matching). Hashes are uniform: the top bits choose a bucket, the bits below say within a few places
where in it a hash stands. So a look-up costs two misses of the cache, whatever the size.

Never changes, and never trusts its arrays, which may come from a file that somebody else wrote:
a wrong index finds nothing, it does not read past the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OUT_COUNTS,
    OUT_OFFSETS,
    WORDS,
    kernel,
    part,
    types,
)
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.ragged import as_column

MOST_HASHES = (1 << 32) - 1
# 4 to 8 hashes a bucket: about a byte a label, and the guess is off by one. With 64 and more the
# index would stay in the cache, but walking from worse guesses costs more than the miss that saves.
_FILL_BITS = 2
_WORD_BITS = 64
_GROUP = 32
_WALK = 32
_ONE, _HALF = np.uint64(1), np.uint64(32)
OUT_OFFSET_ROWS = types.Array(types.int64, 2, "C")


@dataclass(frozen=True, slots=True, eq=False)
class HashTable:
    """Distinct sorted `hashes`; bucket b holds the places `buckets[b]` to `buckets[b + 1]`."""

    hashes: NDArray[np.uint64]
    buckets: NDArray[np.uint32]

    def __post_init__(self) -> None:
        if len(self.hashes) > MOST_HASHES:
            raise ValueError(f"{len(self.hashes)} hashes; a table holds {MOST_HASHES}")
        # The kernel shifts hashes to buckets: a shorter index would be read past its end.
        if len(self.buckets) != bucket_count(len(self.hashes)):
            raise ValueError(f"{len(self.buckets)} buckets for {len(self.hashes)} hashes")

    @classmethod
    def of(cls, hashes: NDArray[np.uint64]) -> HashTable:
        """The table of distinct, sorted hashes."""
        return cls(hashes, bucket_index(hashes))

    def __len__(self) -> int:
        return len(self.hashes)

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The place of each hash in the sorted order; `ABSENT` where it has none."""
        if not len(self):  # as most overlays of a pack
            return np.full(len(hashes), ABSENT, np.int64)
        wanted = as_column(hashes, np.uint64)
        places = np.empty(wanted.size, np.int64)
        spans = np.empty((3, _GROUP), np.int64)
        _find(self.hashes, self.buckets, bucket_bits(len(self)), wanted, spans, places)
        return places


def bucket_bits(count: int) -> int:
    """How many top bits of a hash choose its bucket, for so many hashes.

    >>> [bucket_bits(count) for count in (0, 4, 8, 16, 75_000_000)]
    [0, 0, 1, 2, 24]
    """
    return max(count.bit_length() - 1 - _FILL_BITS, 0)


def bucket_count(count: int) -> int:
    """How many entries the index of so many hashes has."""
    return (1 << bucket_bits(count)) + 1


def bucket_index(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Where the buckets of sorted hashes begin, and last how many hashes there are."""
    index = np.empty(bucket_count(len(hashes)), np.uint32)
    _index(hashes, bucket_bits(len(hashes)), index)
    return index


@kernel(types.void(WORDS, types.int64, OUT_COUNTS))
def _index(hashes: Any, bits: Any, out: Any) -> None:
    """One pass over the hashes: each bucket begins where the first hash is that is not below it."""
    shift = types.uint64(_WORD_BITS - 1 - bits)
    place = 0
    for bucket in range(out.size - 1):
        out[bucket] = place
        while place < hashes.size and (hashes[place] >> _ONE) >> shift == types.uint64(bucket):
            place += 1
    out[out.size - 1] = hashes.size


@part(types.int64(WORDS, types.int64, types.int64, types.int64, types.uint64))
def _place(hashes: Any, low: Any, high: Any, guess: Any, wanted: Any) -> Any:
    """Walk from the guess to the first hash that is not below the one wanted.

    A few steps are enough for uniform hashes. A bucket of a forged pack may hold all of its hashes,
    anywhere: there the walk gives up and the rest is halved.
    """
    end = high
    if low < high:
        if hashes[guess] < wanted:
            low = guess + 1
            stop = min(low + _WALK, high)
            while low < stop and hashes[low] < wanted:
                low += 1
            if low < stop:
                high = low
        else:
            high = guess
            stop = max(high - _WALK, low)
            while high > stop and hashes[high - 1] >= wanted:
                high -= 1
            if high > stop:
                low = high
    while low < high:
        middle = (low + high) >> 1
        if hashes[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low < end and hashes[low] == wanted:
        return low
    return types.int64(ABSENT)


@kernel(types.void(WORDS, COUNTS, types.int64, WORDS, OUT_OFFSET_ROWS, OUT_OFFSETS))
def _find(hashes: Any, buckets: Any, bits: Any, wanted: Any, spans: Any, places: Any) -> None:
    """Look up in groups: the guesses of a group, then what stands there, then the search.

    What stands at a guess is a miss of the cache and of the page table. The misses of a group do
    not wait for each other, as those of one hash after the other would.
    """
    count = types.int64(hashes.size)
    # A word cannot be shifted by 64: one place of the shift is always done.
    shift = types.uint64(_WORD_BITS - 1 - bits)
    for start in range(0, wanted.size, _GROUP):
        size = min(_GROUP, wanted.size - start)
        for i in range(size):
            value = wanted[start + i]
            bucket = (value >> _ONE) >> shift
            low = min(types.int64(buckets[bucket]), count)
            high = max(min(types.int64(buckets[bucket + _ONE]), count), low)
            within = (value << types.uint64(bits)) >> _HALF
            spans[0, i] = low
            spans[1, i] = high
            spans[2, i] = low + types.int64((within * types.uint64(high - low)) >> _HALF)
        touched = types.uint64(0)
        for i in range(size):
            if spans[0, i] < spans[1, i]:
                touched ^= hashes[spans[2, i]]
        # Kept, so that the compiler cannot drop the reads; the place overwrites it.
        places[start] = types.int64(touched)
        for i in range(size):
            places[start + i] = _place(
                hashes, spans[0, i], spans[1, i], spans[2, i], wanted[start + i]
            )
