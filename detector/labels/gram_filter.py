"""A filter before the grams of a label pack: which of a page's grams may be there at all.

A page has a gram for every word, and hardly any of them is labeled. Of a filter each costs one look
at a word of 64 bits, and of a hundred that are not in the pack it lets two through to the table
(Bloom 1970; blocked as Putze, Sanders, Singler 2007: all bits of a gram lie in one word). Misses no
gram, whatever the filter says of others; stands in the pack, and is mapped with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    part,
    types,
)
from reusewatch.detector.ragged import Ragged

BITS_EACH = 12
"""Bits of the filter for each gram."""
_HALF, _BITS, _SIX = np.uint64(32), np.uint64(63), np.uint64(6)


def filter_words(count: int) -> int:
    """Words of 64 bits of a filter for so many grams."""
    return max(1, -(-count * BITS_EACH // 64))


def filter_of(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The filter of these grams."""
    found = np.zeros(filter_words(len(hashes)), np.uint64)
    _fill(np.ascontiguousarray(hashes, np.uint64), found)
    return found


def candidates(
    passed: NDArray[np.uint64], phrases: Ragged, *, wrapped: int = 0
) -> NDArray[np.int64]:
    """Which of these phrases may be in the filter, as places in their column; of each page without
    the last `wrapped` ones, which only a circular reading has."""
    found = np.empty(phrases.values.size, np.int64)
    count = _pass(np.ascontiguousarray(passed, np.uint64), phrases.values, phrases.offsets,
                  wrapped, found)  # fmt: skip
    return found[:count]


@part(types.uint64(types.uint64), inline=True)
def _bits(value: Any) -> Any:
    """Four bits of a word, by the lower half of a hash; the word is chosen by the upper."""
    one = types.uint64(1)
    return (
        (one << (value & _BITS))
        | (one << ((value >> _SIX) & _BITS))
        | (one << ((value >> (_SIX + _SIX)) & _BITS))
        | (one << ((value >> (_SIX + _SIX + _SIX)) & _BITS))
    )


@kernel(types.void(WORDS, OUT_WORDS))
def _fill(hashes: Any, words: Any) -> None:
    size = types.uint64(words.size)
    for i in range(hashes.size):
        value = hashes[i]
        words[((value >> _HALF) * size) >> _HALF] |= _bits(value)


@kernel(types.int64(WORDS, WORDS, OFFSETS, types.int64, OUT_OFFSETS))
def _pass(words: Any, phrases: Any, offsets: Any, wrapped: Any, out: Any) -> Any:
    size = types.uint64(words.size)
    count = 0
    for page in range(offsets.size - 1):
        for i in range(offsets[page], max(offsets[page + 1] - wrapped, offsets[page])):
            value = phrases[i]
            bits = _bits(value)
            out[count] = i
            # Without a branch: where it is taken cannot be foreseen, and most are not kept.
            count += (words[((value >> _HALF) * size) >> _HALF] & bits) == bits
    return count
