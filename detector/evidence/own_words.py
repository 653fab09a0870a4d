"""The words that only one of two pages has: each side's that the other has fewer times.

In the order in which they first stand there, at most so many of a side, each once. Found by hashes;
strings are made of those few by whoever shows them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OUT_OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.sketching.grams import TABLE, number_of, table_bits

MOST_OWN = 10
"""Words of a side that are told."""


def own_words(
    here: NDArray[np.uint64], there: NDArray[np.uint64], salt: int, most: int = MOST_OWN
) -> tuple[list[int], list[int]]:
    """The positions of words that only one side has; the salt depends on both pages as a whole."""
    ours, theirs = np.empty(most, np.int64), np.empty(most, np.int64)
    counts = _own_words(here, there, np.uint64(salt), (ours, theirs))
    return ours[: counts[0]].tolist(), theirs[: counts[1]].tolist()


_OWN = tuple_of(types.int64, types.int64)(
    WORDS, WORDS, types.uint64, tuple_of(OUT_OFFSETS, OUT_OFFSETS)
)  # fmt: skip
_NUMBERED = tuple_of(TABLE, types.int64, OUT_WORDS, types.int64, OUT_OFFSETS)


@part(types.int64(WORDS, _NUMBERED, types.uint64, types.int64, OUT_OFFSETS))
def _first_own(words: Any, numbered: Any, salt: Any, sign: Any, out: Any) -> Any:
    """Where the words of a side first stand that it has more often, in order; how many are told."""
    table, mask, known, count, more = numbered
    left = 0
    for number in range(count):
        left += more[number] * sign > 0
    left, told = min(left, out.size), 0
    for at in range(words.size):
        if told == left:
            break
        number = number_of(table, mask, known, words[at], salt, count)
        if more[number] * sign > 0:
            out[told] = at
            told += 1
            more[number] = 0  # told once
    return told


@part(_OWN, allocates=True)
def own(here: Any, there: Any, salt: Any, out: Any) -> Any:
    """How many more times a word stands here than there, and then each side's in order.

    What both sides begin with, and what they end with, says nothing: of pages that are near to each
    other that is most, and the table small.
    """
    ours, theirs = out
    shorter = min(here.size, there.size)
    same = 0
    while same < shorter and here[same] == there[same]:
        same += 1
    tail = 0
    while tail < shorter - same and here[here.size - tail - 1] == there[there.size - tail - 1]:
        tail += 1
    size = here.size + there.size - 2 * (same + tail)
    mask = (1 << table_bits(size)) - 1
    table = np.full(mask + 1, -1, np.int32)
    # The last is of words that are not among them.
    known, more = np.empty(size + 1, np.uint64), np.zeros(size + 1, np.int64)
    count = 0
    for at in range(same, here.size - tail):
        number = number_of(table, mask, known, here[at], salt, count)
        count += number == count
        more[number] += 1
    for at in range(same, there.size - tail):
        number = number_of(table, mask, known, there[at], salt, count)
        count += number == count
        more[number] -= 1
    numbered = table, mask, known, count, more
    mine = _first_own(here, numbered, salt, 1, ours)
    return mine, _first_own(there, numbered, salt, -1, theirs)


@kernel(_OWN)
def _own_words(here: Any, there: Any, salt: Any, out: Any) -> Any:
    return own(here, there, salt, out)
