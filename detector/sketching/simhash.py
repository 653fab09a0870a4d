"""Algorithm C: random projections of a page's tokens (Charikar; Henzinger 2006, §2 and §3.3).

Every token has a fixed random vector of b = 384 entries from {−1, 1}. The vectors of all token
occurrences are added; positive sums become 1, the others 0. The share of bits in which two
pages agree follows the angle between their token counts. Candidates share one of 12 pieces.

Order of tokens plays no part, their frequency does. Never decides what is near: thresholds
are the caller's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OFFSETS,
    OUT_COUNTS,
    OUT_OFFSETS,
    OUT_WORD_ROWS,
    OUT_WORDS,
    PAIR,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
    wide,
)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged, as_column
from reusewatch.detector.sketching.agreement import BITS

WORDS_PER_PAGE = BITS // 64
PIECES = 12
"""Distance k needs k + 1 pieces, as k flipped bits cannot touch them all: 12 find up to 11."""

# A vector has eight 64-bit lanes; six are used.
_LANES = 8
# Rows of the scratch: two rows of constants, a carry, then the bits of the counters, lowest first.
_SPREAD = 1 * _LANES
_CARRY = 2 * _LANES
_COUNTS = 3 * _LANES
_TWOS = _COUNTS + _LANES
_FOURS = _TWOS + _LANES
_EIGHTS = _FOURS + _LANES
_SIXTEENS = _EIGHTS + _LANES
# Of a count.
_BITS = 32
_LISTS = tuple_of(OUT_WORDS, OUT_OFFSETS, OUT_WORDS, OUT_COUNTS)
_ONE, _FIFTEEN, _ONE_BIT = np.uint64(1), np.uint64(15), np.uint32(1)
_HALF = np.uint64(32)
_THIRD = np.uint64(29)
_ZERO = np.uint64(0)


def simhashes(tokens: Ragged, scheme: HashScheme) -> NDArray[np.uint64]:
    """384 bits of each page, a row of six words a page; all zero for a page without tokens."""
    return simhashes_of_counts(tokens, np.ones(tokens.values.size, np.uint32), scheme)


def simhashes_of_counts(
    words: Ragged, counts: NDArray[np.uint32], scheme: HashScheme
) -> NDArray[np.uint64]:
    """The same of words that stand there so often each."""
    if counts.size != words.values.size:
        raise ValueError(f"{counts.size} counts for {words.values.size} words")
    rows = np.empty((len(words), WORDS_PER_PAGE), np.uint64)
    constants = scheme.numbers("projection", 2 * _LANES)
    counts = as_column(counts, np.uint32)
    _simhashes(words.values, words.offsets, counts, constants, rows)
    return rows


def pieces(simhashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The 12 pieces of 4 bytes of each page, a row a page."""
    rows = np.require(simhashes, "<u8", ["C", "A"])
    return rows.view("<u4").astype(np.uint32, copy=False)


def simhash_hex(simhash: NDArray[np.uint64]) -> str:
    """One page's simhash in 96 hex digits, first word first."""
    return "".join(f"{int(word):016x}" for word in simhash)


@part(types.uint64(types.uint64, types.uint64, types.uint64))
def projection(token: Any, factor: Any, spread: Any) -> Any:
    """64 entries of a token's random vector; a bit of 1 stands for +1, of 0 for −1."""
    bits = token * factor
    bits ^= bits >> _HALF
    bits *= spread
    return bits ^ (bits >> _THIRD)


@part(PAIR(types.uint64, types.uint64, types.uint64))
def add(one: Any, two: Any, three: Any) -> Any:
    """64 full adders side by side: the sum bits and the carry bits."""
    half = one ^ two
    return half ^ three, (one & two) | (half & three)


@part(types.void(OUT_WORDS, types.int64, types.int64))
def _ripple(rows: Any, low: Any, end: Any) -> None:
    """Add the carry row to the counters, from the row `low` upwards."""
    for row in range(low, end, _LANES):
        for lane in range(_LANES):
            bit, carry = rows[row + lane], rows[_CARRY + lane]
            rows[row + lane] = bit ^ carry
            rows[_CARRY + lane] = bit & carry


@part(types.void(OUT_WORDS, OUT_WORDS, types.int64))
def _add_sixteen(rows: Any, tokens: Any, at: Any) -> None:
    """Add 16 tokens' vectors to the low rows by a tree of adders (Harley, Seal); sixteens carry.

    Tokens are read before the loop and all rows are one array: otherwise LLVM cannot tell that
    lanes do not overlap, and does them one by one.
    """
    t0, t1, t2, t3 = tokens[at], tokens[at + 1], tokens[at + 2], tokens[at + 3]
    t4, t5, t6, t7 = tokens[at + 4], tokens[at + 5], tokens[at + 6], tokens[at + 7]
    t8, t9, t10, t11 = tokens[at + 8], tokens[at + 9], tokens[at + 10], tokens[at + 11]
    t12, t13, t14, t15 = tokens[at + 12], tokens[at + 13], tokens[at + 14], tokens[at + 15]
    for lane in range(_LANES):
        f, s = rows[lane], rows[_SPREAD + lane]
        ones, twos = rows[_COUNTS + lane], rows[_TWOS + lane]
        fours, eights = rows[_FOURS + lane], rows[_EIGHTS + lane]
        ones, two_a = add(ones, projection(t0, f, s), projection(t1, f, s))
        ones, two_b = add(ones, projection(t2, f, s), projection(t3, f, s))
        twos, four_a = add(twos, two_a, two_b)
        ones, two_a = add(ones, projection(t4, f, s), projection(t5, f, s))
        ones, two_b = add(ones, projection(t6, f, s), projection(t7, f, s))
        twos, four_b = add(twos, two_a, two_b)
        fours, eight_a = add(fours, four_a, four_b)
        ones, two_a = add(ones, projection(t8, f, s), projection(t9, f, s))
        ones, two_b = add(ones, projection(t10, f, s), projection(t11, f, s))
        twos, four_a = add(twos, two_a, two_b)
        ones, two_a = add(ones, projection(t12, f, s), projection(t13, f, s))
        ones, two_b = add(ones, projection(t14, f, s), projection(t15, f, s))
        twos, four_b = add(twos, two_a, two_b)
        fours, eight_b = add(fours, four_a, four_b)
        eights, sixteen = add(eights, eight_a, eight_b)
        rows[_COUNTS + lane], rows[_TWOS + lane] = ones, twos
        rows[_FOURS + lane], rows[_EIGHTS + lane] = fours, eights
        rows[_CARRY + lane] = sixteen


@part(types.uint64(OUT_WORDS, types.int64, types.int64, types.int64))
def _above(rows: Any, end: Any, lane: Any, threshold: Any) -> Any:
    """Which of a lane's 64 counters exceed the threshold: compared from the highest bit down."""
    above, equal = _ZERO, ~_ZERO
    for row in range(end - _LANES, _COUNTS - _LANES, -_LANES):
        bits = rows[row + lane]
        if (threshold >> ((row - _COUNTS) // _LANES)) & 1:
            equal &= bits
        else:
            above |= equal & bits
            equal &= ~bits
    return above


@part()
def _take_bit(words: Any, counts: Any, many: Any, at: Any, lists: Any) -> Any:
    """List the words whose counts are odd, and halve the counts: how many words are left."""
    listed, _, left, bits = lists
    stay = types.uint64(0)
    for i in range(many):
        # Written either way: nobody can foresee how often a word stands there.
        word, count = words[i], counts[i]
        listed[at] = word
        at += types.uint64(count & _ONE_BIT)
        left[stay], bits[stay] = word, count >> _ONE_BIT
        stay += types.uint64(count > _ONE_BIT)
    # In whole sixteens: a word of zero adds nothing to any counter.
    while at & _FIFTEEN:
        listed[at] = _ZERO
        at += _ONE
    return at, stay


@part(types.int64(WORDS, COUNTS, _LISTS))
def _listed(words: Any, counts: Any, lists: Any) -> Any:
    """List the words of each bit of their counts, the lowest first; how many lists there are."""
    _, ends, left, bits = lists
    at, many = _take_bit(words, counts, types.uint64(words.size), _ZERO, lists)
    level = 0
    ends[level] = at
    while many > _ZERO:
        level += 1
        at, many = _take_bit(left, bits, many, at, lists)
        ends[level] = at
    return level + 1


@part(types.void(OUT_WORDS, types.int64))
def _double(rows: Any, end: Any) -> None:
    """Twice each counter."""
    for row in range(end - _LANES, _COUNTS, -_LANES):
        for lane in range(_LANES):
            rows[row + lane] = rows[row - _LANES + lane]
    for lane in range(_LANES):
        rows[_COUNTS + lane] = _ZERO


@part(types.int64(COUNTS))
def _sum(counts: Any) -> Any:
    size = types.int64(0)
    for i in range(counts.size):
        size += counts[i]
    return size


@kernel(types.void(WORDS, OFFSETS, COUNTS, WORDS, OUT_WORD_ROWS))
def _simhashes(words: Any, offsets: Any, counts: Any, constants: Any, out: Any) -> None:
    """Counters stand upright: row i holds bit i of all 384 counts, so one operation adds to 64.

    A word that stands there c times is added once for each bit of c, the highest first, and all
    counters are doubled from bit to bit.
    """
    wide()
    rows = np.zeros(_COUNTS + 64 * _LANES, np.uint64)
    for row in range(_CARRY):  # not by slices: see `tokens`
        rows[row] = constants[row]
    most, longest = 0, 0
    for page in range(offsets.size - 1):
        most = max(most, _sum(counts[offsets[page] : offsets[page + 1]]))
        longest = max(longest, offsets[page + 1] - offsets[page])
    # No more are listed than stand there, and what fills up sixteens; one more is written over.
    listed, ends = np.empty(most + 16 * _BITS + 1, np.uint64), np.empty(_BITS + 1, np.int64)
    lists = (listed, ends, np.empty(longest, np.uint64), np.empty(longest, np.uint32))
    for page in range(offsets.size - 1):
        own = counts[offsets[page] : offsets[page + 1]]
        size, end = _sum(own), _SIXTEENS
        while size >> ((end - _COUNTS) // _LANES):  # as many rows as a count of `size` has bits
            end += _LANES
        for row in range(_COUNTS, end):
            rows[row] = _ZERO
        level = _listed(words[offsets[page] : offsets[page + 1]], own, lists)
        while level > 0:
            level -= 1
            _double(rows, end)
            for at in range(ends[level - 1] if level else 0, ends[level], 16):
                _add_sixteen(rows, listed, at)
                _ripple(rows, _SIXTEENS, end)
        # The sum 2 × count − size is positive iff count exceeds half of size, rounded down.
        for word in range(WORDS_PER_PAGE):
            out[page, word] = _above(rows, end, word, size >> 1)
