"""The words that only one of two pages has: each side's that the other has fewer times.

In the order in which they first stand there, at most so many of a side, each once. Found by hashes;
strings are made of those few by whoever shows them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, WORDS, kernel, tuple_of
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


@kernel(tuple_of(types.int64, types.int64)(
    WORDS, types.int64, types.uint64, tuple_of(OUT_OFFSETS, OUT_OFFSETS)
))  # fmt: skip
def _own_words(words: Any, here: Any, salt: Any, out: Any) -> Any:
    """How many more times a word stands here than there, and then each side's in order."""
    ours, theirs = out
    mask = (1 << table_bits(words.size)) - 1
    table = np.full(mask + 1, -1, np.int64)
    more = np.zeros(words.size, np.int64)  # by the word's first position
    firsts = np.empty(words.size, np.int64)
    for at in range(words.size):
        slot = find(table, mask, words, words[at], salt)
        if table[slot] < 0:
            table[slot] = at
        firsts[at] = table[slot]
        more[table[slot]] += 1 if at < here else -1
    mine, others = 0, 0
    for at in range(here):
        if mine == ours.size:
            break
        if more[firsts[at]] > 0:
            ours[mine] = at
            mine += 1
            more[firsts[at]] = 0  # told once
    for at in range(here, words.size):
        if others == theirs.size:
            break
        if more[firsts[at]] < 0:
            theirs[others] = at - here
            others += 1
            more[firsts[at]] = 0
    return mine, others
