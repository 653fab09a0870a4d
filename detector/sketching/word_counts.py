"""How often each word stands on a page: counted once, for all sketches that ask only that.

A word is a token of one hash. Of each is counted how often a reader sees it, which is how often it
votes in a simhash, and what it weighs as a term (Das et al., Table 1), wherever it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    BYTES,
    OFFSETS,
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    tuple_of,
    types,
    wide,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.fields import SEEN_BITS, Field
from reusewatch.detector.ragged import Ragged, as_column, trimmed
from reusewatch.detector.sketching.grams import number_from, table_bits

WEIGHTS = {
    Field.URL: 2.0,
    Field.HEADING: 2.0,
    Field.TITLE: 2.0,
    Field.ANCHOR_SAME: 1.0,
    Field.ANCHOR_OTHER: 0.5,
    Field.KEYWORDS: 3.0,
    Field.DESCRIPTION: 3.0,
    Field.BODY: 1.0,
}
"""Table 1."""

# Sums of halves are exact in integers, whatever the order they are added in. A byte for each field:
# a tuple is looked up in memory.
_HALVES = np.uint64(sum(int(2 * weight) << 8 * field for field, weight in WEIGHTS.items()))
_SEEN = np.uint64(SEEN_BITS)
_EIGHT, _BYTE, _ONE = np.uint64(3), np.uint64(0xFF), np.uint64(1)
_HIGH, _LOW = np.uint64(32), np.uint64((1 << 32) - 1)
# Words that are mixed in vectors before the first of them is looked for.
_AT_A_TIME = 1024


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """The distinct words of pages, in order of first occurrence: how often each is seen, and what
    all of it weighs, in halves."""

    words: Ragged
    seen: NDArray[np.uint32]
    halves: NDArray[np.uint32]


def word_counts(tokens: Ragged, fields: NDArray[np.uint8], salts: NDArray[np.uint64]) -> WordCounts:
    """The words of each page. `salts` depend on all of a page's tokens, as in `grams.find`."""
    if fields.size != tokens.values.size:
        raise ValueError(f"{fields.size} fields for {tokens.values.size} tokens")
    if fields.size and int(fields.max()) >= len(WEIGHTS):
        raise ValueError(f"there is no field {int(fields.max())}")
    if salts.size != len(tokens):
        raise ValueError(f"{salts.size} salts for {len(tokens)} pages")
    offsets, words = np.empty(len(tokens) + 1, np.int64), np.empty(fields.size, np.uint64)
    seen, halves = np.empty(fields.size, np.uint32), np.empty(fields.size, np.uint32)
    given = (tokens.values, tokens.offsets, as_column(fields, np.uint8), salts)
    _word_counts(given, (offsets, words, seen, halves))
    count = offsets[-1]
    counted = Ragged(trimmed(words, count), offsets)
    return WordCounts(counted, trimmed(seen, count), trimmed(halves, count))


_GIVEN = tuple_of(WORDS, OFFSETS, BYTES, WORDS)
_OUT = tuple_of(OUT_OFFSETS, OUT_WORDS, OUT_COUNTS, OUT_COUNTS)


@kernel(types.void(_GIVEN, _OUT))
def _word_counts(given: Any, out: Any) -> None:
    wide()
    tokens, offsets, fields, salts = given
    mixed = np.empty(_AT_A_TIME, np.uint64)
    starts, words, seen, halves = out
    longest = 0
    for page in range(offsets.size - 1):
        longest = max(longest, offsets[page + 1] - offsets[page])
    table = np.empty(1 << table_bits(longest), np.int32)
    # Of each word what it weighs, and above that how often it is seen: one number is added.
    known, sums = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    at = types.uint64(0)
    starts[0] = 0
    for page in range(offsets.size - 1):
        first, stop, salt = offsets[page], offsets[page + 1], salts[page]
        mask, count = (1 << table_bits(types.int64(stop - first))) - 1, 0
        table[: mask + 1] = -1
        for begin in range(first, stop, _AT_A_TIME):
            some = tokens[begin : min(begin + _AT_A_TIME, stop)]
            for i in range(some.size):
                mixed[i] = mix(some[i] ^ salt)
            for i in range(some.size):
                sums[types.uint64(count)] = 0
                number = number_from(table, mask, known, some[i], mixed[i], count)
                count += number == count
                field = types.uint64(fields[begin + i])
                weight = _HALVES >> (field << _EIGHT) & _BYTE
                sums[types.uint64(number)] += weight | (_SEEN >> field & _ONE) << _HIGH
        for number in range(types.uint64(count)):
            words[at + number] = known[number]
            seen[at + number] = sums[number] >> _HIGH
            halves[at + number] = sums[number] & _LOW
        at += types.uint64(count)
        starts[page + 1] = at
