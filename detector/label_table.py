"""A set of 64-bit hashes, sorted, with a bucket index: where a label pack looks hashes up.

L_f and L_c are joined with every page of a crawl (Ardi, Heidemann 2014, §3.3: simple object
matching). Hashes are uniform, so their top bits say within a few places where one stands in the
sorted order: one look into the index, one into the hashes.

Never changes, and never trusts its arrays, which may come from a file that somebody else wrote:
a wrong index finds nothing, it does not read past the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from detector.kernels import COUNTS, OUT_COUNTS, OUT_OFFSETS, OUT_WORD_ROWS, WORDS, kernel

ABSENT = -1
MOST_HASHES = (1 << 32) - 1
# Two to four hashes a bucket: 1 to 2 bytes a label, and most buckets lie in one cache line.
_FILL_BITS = 1
_WORD_BITS = 64
_GROUP = 32
_ONE = np.uint64(1)


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
        wanted = np.require(hashes, np.uint64, ["C", "A"])
        places = np.empty(wanted.size, np.int64)
        spans = np.empty((2, _GROUP), np.uint64)
        _find(self.hashes, self.buckets, bucket_bits(len(self)), wanted, spans, places)
        return places


def bucket_bits(count: int) -> int:
    """How many top bits of a hash choose its bucket, for so many hashes.

    >>> [bucket_bits(count) for count in (0, 3, 4, 8, 75_000_000)]
    [0, 0, 1, 2, 25]
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


@kernel(types.int64(WORDS, types.uint64, types.uint64, types.uint64))
def _place(hashes: Any, low: Any, high: Any, wanted: Any) -> Any:
    """Binary search: a bucket of a forged pack may hold all of its hashes."""
    end = high
    while low < high:
        middle = (low + high) >> _ONE
        if hashes[middle] < wanted:
            low = middle + _ONE
        else:
            high = middle
    if low < end and hashes[low] == wanted:
        return types.int64(low)
    return types.int64(ABSENT)


@kernel(types.void(WORDS, COUNTS, types.int64, WORDS, OUT_WORD_ROWS, OUT_OFFSETS))
def _find(hashes: Any, buckets: Any, bits: Any, wanted: Any, spans: Any, places: Any) -> None:
    """Look up in groups: all index reads of a group, then all first hashes, then the search.

    Each look is a miss of the cache. The misses of a group do not wait for each other, as those
    of one hash would.
    """
    count = types.uint64(hashes.size)
    # A word cannot be shifted by 64: one half of the shift is always done.
    shift = types.uint64(_WORD_BITS - 1 - bits)
    for start in range(0, wanted.size, _GROUP):
        size = min(_GROUP, wanted.size - start)
        for i in range(size):
            bucket = (wanted[start + i] >> _ONE) >> shift
            spans[0, i] = min(types.uint64(buckets[bucket]), count)
            spans[1, i] = min(types.uint64(buckets[bucket + _ONE]), count)
        touched = types.uint64(0)
        for i in range(size):
            if spans[0, i] < spans[1, i]:
                touched ^= hashes[spans[0, i]]
        # Kept, so that the compiler cannot drop the reads; the place overwrites it.
        places[start] = types.int64(touched)
        for i in range(size):
            places[start + i] = _place(hashes, spans[0, i], spans[1, i], wanted[start + i])
