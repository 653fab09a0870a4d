"""Grams: a page's k-token runs as a set (Najork 2012, §2), with where each first stands.

A document of n terms has n − k + 1 overlapping k-grams, and none where n < k; a gram that
stands twice is one member. Patch grams are chosen from these by who else has them, elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.ragged import Ragged, as_column, trimmed

GRAM_K = 5
SHORT = 256
"""Pages of up to so many grams keep all of them, whatever the share of others: of 200 grams an
eighth is 25, and a page that has four tenths of them elsewhere would seem to have less than three
tenths in one of seven cases."""
TABLE = types.Array(types.int32, 1, "C")
"""Numbers by slot, for `number_of`; −1 is free."""
# As many as a float's share is exact to.
_SAMPLE_BITS = 53
_UNSAMPLED_BITS = np.uint64(64 - _SAMPLE_BITS)
_ONE = np.uint64(1)


@dataclass(frozen=True, slots=True, eq=False)
class Grams:
    """Gram sets of many pages, in order of first position; `positions` counts within the page."""

    hashes: Ragged
    positions: NDArray[np.uint32]


def gram_sets(
    phrases: Ragged,
    salts: NDArray[np.uint64],
    *,
    wrapped: int = 0,
    sample: float = 1.0,
    short: int = 0,
) -> Grams:
    """The distinct phrases of each page, without the last `wrapped` ones.

    The circular reading has the straight one's phrases and k − 1 more at its end, so that for
    the same k its hashes serve here with `wrapped=k - 1`. `salts` are the pages' identity hashes.
    A `sample` below 1 keeps that share of all grams, chosen by hash: the same in every page but
    for those of up to `short` grams, which keep all.
    """
    if not 0 <= sample <= 1:
        raise ValueError(f"a sample is a share from 0 to 1, not {sample}")
    offsets = np.empty(len(phrases) + 1, np.int64)
    hashes = np.empty(phrases.values.size, np.uint64)
    positions = np.empty(phrases.values.size, np.uint32)
    salts = as_column(salts, np.uint64)
    if salts.size != len(phrases):
        raise ValueError(f"{salts.size} salts for {len(phrases)} pages")
    taken, out = (wrapped, sampled_below(sample), short), (offsets, hashes, positions)
    _gram_sets(phrases.values, phrases.offsets, salts, taken, out)
    count = offsets[-1]
    return Grams(Ragged(trimmed(hashes, count), offsets), trimmed(positions, count))


@part(types.int64(types.int64))
def table_bits(size: Any) -> Any:
    """Of a table that stays at most half full with `size` entries."""
    bits = 1
    while (1 << bits) < 2 * size:
        bits += 1
    return bits


@part(types.int64(OUT_OFFSETS, types.int64, WORDS, types.uint64, types.uint64))
def find(table: Any, mask: Any, known: Any, value: Any, salt: Any) -> Any:
    """The slot of `value`: the one that holds its index in `known`, or the free one for it.

    The salt must depend on the whole page. Against a slot that follows from the value alone, a
    page can be written whose values all want one slot, and reading it takes quadratic time.
    """
    slot = types.int64(mix(value ^ salt) & types.uint64(mask))
    while table[slot] >= 0 and known[table[slot]] != value:
        slot = (slot + 1) & mask
    return slot


@part(types.int64(TABLE, types.int64, OUT_WORDS, types.uint64, types.uint64, types.int64))
def number_of(table: Any, mask: Any, known: Any, value: Any, salt: Any, count: Any) -> Any:
    """The number of `value` among the `count` that are known; `count` where it is new, and it is
    known from now on. The salt is one as in `find`; `known` has room for one more.

    Whether a word is new nobody can foresee, and a wrong guess costs more than all else here: so a
    free slot counts as that of the next number, which has the value already.
    """
    return number_from(table, mask, known, value, mix(value ^ salt), count)


@part(types.int64(TABLE, types.int64, OUT_WORDS, types.uint64, types.uint64, types.int64))
def number_from(table: Any, mask: Any, known: Any, value: Any, mixed: Any, count: Any) -> Any:
    """The same of what `value` and the salt are mixed to."""
    known[types.uint64(count)] = value
    # Indices without a sign need no check for counting from the end.
    slot, low = mixed & types.uint64(mask), types.uint64(mask)
    number = types.int64(table[slot])
    number = count if number < 0 else number
    while known[types.uint64(number)] != value:
        slot = (slot + _ONE) & low
        number = types.int64(table[slot])
        number = count if number < 0 else number
    table[slot] = number
    return number


def sampled_below(sample: float) -> int:
    """The bound below which the 53 highest bits of a gram lie that is in the sample."""
    return int(sample * (1 << _SAMPLE_BITS))


def in_sample(grams: NDArray[np.uint64], sample: float) -> NDArray[np.bool_]:
    """Which grams a page keeps that does not keep all."""
    found: NDArray[np.bool_] = (grams >> _UNSAMPLED_BITS) < np.uint64(sampled_below(sample))
    return found


_TAKEN = tuple_of(types.int64, types.int64, types.int64)
_OUT = tuple_of(OUT_OFFSETS, OUT_WORDS, OUT_COUNTS)


@kernel(types.void(WORDS, OFFSETS, WORDS, _TAKEN, _OUT))
def _gram_sets(phrases: Any, offsets: Any, salts: Any, taken: Any, out: Any) -> None:
    wrapped, sampled, short = taken
    starts, hashes, positions = out
    longest = 0
    for page in range(offsets.size - 1):
        longest = max(longest, offsets[page + 1] - offsets[page])
    table = np.empty(1 << table_bits(longest), np.int32)
    count = types.uint64(0)
    starts[0] = 0
    for page in range(offsets.size - 1):
        first = types.uint64(offsets[page])
        straight = max(offsets[page + 1] - offsets[page] - wrapped, 0)
        bound = types.int64(1) << _SAMPLE_BITS if straight <= short else sampled
        # Written either way: nobody can foresee which ones are in the sample.
        stop = count
        for position in range(types.uint64(straight)):
            gram = phrases[first + position]
            hashes[stop] = gram
            positions[stop] = position
            stop += types.uint64(types.int64(gram >> _UNSAMPLED_BITS) < bound)
        mask = (1 << table_bits(types.int64(stop - count))) - 1
        table[: mask + 1] = -1
        for at in range(count, stop):
            positions[count] = positions[at]
            known = types.int64(count)
            count += types.uint64(
                number_of(table, mask, hashes, hashes[at], salts[page], known) == known
            )
        starts[page + 1] = count
