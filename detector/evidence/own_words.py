"""The words that only one of two pages has: each side's that the other has fewer times.

In the order in which they first stand there, at most so many of a side, each once. Found by hashes;
strings are made of those few by whoever shows them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OUT_OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    part,
    tuple_of,
)
from reusewatch.detector.sketching.grams import find, table_bits

MOST_OWN = 10
"""Words of a side that are told."""


def own_words(
    here: NDArray[np.uint64], there: NDArray[np.uint64], salt: int, most: int = MOST_OWN
) -> tuple[list[int], list[int]]:
    """The positions of words that only one side has; the salt depends on both pages as a whole."""
    ours, theirs = np.empty(most, np.int64), np.empty(most, np.int64)
    both = np.concatenate((here, there))
    counts = _own_words(both, here.size, np.uint64(salt), (ours, theirs))
    return ours[: counts[0]].tolist(), theirs[: counts[1]].tolist()


_OWN = tuple_of(types.int64, types.int64)(
    WORDS, types.int64, types.uint64, tuple_of(OUT_OFFSETS, OUT_OFFSETS)
)  # fmt: skip
_NUMBERED = tuple_of(OUT_OFFSETS, types.int64, OUT_WORDS, OUT_OFFSETS)


@part(types.int64(
    WORDS, types.int64, types.int64, _NUMBERED, types.uint64, types.int64, OUT_OFFSETS
))  # fmt: skip
def _first_own(
    words: Any, begin: Any, end: Any, numbered: Any, salt: Any, sign: Any, out: Any
) -> Any:
    """Where the words of a side first stand that it has more often, in order; how many are told."""
    table, mask, known, more = numbered
    left = 0
    for count in more:
        left += count * sign > 0
    left, told = min(left, out.size), 0
    for at in range(begin, end):
        if told == left:
            break
        number = table[find(table, mask, known, words[at], salt)]
        if number >= 0 and more[number] * sign > 0:
            out[told] = at - begin
            told += 1
            more[number] = 0  # told once
    return told


@part(_OWN, allocates=True)
def own(words: Any, here: Any, salt: Any, out: Any) -> Any:
    """How many more times a word stands here than there, and then each side's in order.

    What both sides begin with, and what they end with, says nothing: of pages that are near to each
    other that is most, and the table small.
    """
    ours, theirs = out
    there = words.size - here
    shorter = min(here, there)
    same = 0
    while same < shorter and words[same] == words[here + same]:
        same += 1
    tail = 0
    while tail < shorter - same and words[here - tail - 1] == words[words.size - tail - 1]:
        tail += 1
    size = words.size - 2 * (same + tail)
    mask = (1 << table_bits(size)) - 1
    table = np.full(mask + 1, -1, np.int64)
    known, more = np.empty(size, np.uint64), np.zeros(size, np.int64)
    count = 0
    for at in range(same, here - tail):
        slot = find(table, mask, known, words[at], salt)
        if table[slot] < 0:
            table[slot], known[count] = count, words[at]
            count += 1
        more[table[slot]] += 1
    for at in range(here + same, words.size - tail):
        slot = find(table, mask, known, words[at], salt)
        if table[slot] < 0:
            table[slot], known[count] = count, words[at]
            count += 1
        more[table[slot]] -= 1
    numbered = table, mask, known, more[:count]
    mine = _first_own(words, 0, here, numbered, salt, 1, ours)
    return mine, _first_own(words, here, words.size, numbered, salt, -1, theirs)


@kernel(_OWN)
def _own_words(words: Any, here: Any, salt: Any, out: Any) -> Any:
    return own(words, here, salt, out)
