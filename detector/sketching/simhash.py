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
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_WORD_ROWS,
    OUT_WORDS,
    PAIR,
    WORDS,
    kernel,
    part,
    wide,
)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
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
_HALF = np.uint64(32)
_THIRD = np.uint64(29)
_ZERO = np.uint64(0)


def simhashes(tokens: Ragged, scheme: HashScheme) -> NDArray[np.uint64]:
    """384 bits of each page, a row of six words a page; all zero for a page without tokens."""
    rows = np.empty((len(tokens), WORDS_PER_PAGE), np.uint64)
    constants = scheme.numbers("projection", 2 * _LANES)
    _simhashes(tokens.values, tokens.offsets, constants, rows)
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


@part(types.void(OUT_WORDS, WORDS, types.int64))
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


@kernel(types.void(WORDS, OFFSETS, WORDS, OUT_WORD_ROWS))
def _simhashes(tokens: Any, offsets: Any, constants: Any, out: Any) -> None:
    """Counters stand upright: row i holds bit i of all 384 counts, so one operation adds to 64."""
    wide()
    rows = np.zeros(_COUNTS + 64 * _LANES, np.uint64)
    for row in range(_CARRY):  # not by slices: see `tokens`
        rows[row] = constants[row]
    for page in range(offsets.size - 1):
        at, stop = offsets[page], offsets[page + 1]
        size = stop - at
        end = _SIXTEENS
        while size >> ((end - _COUNTS) // _LANES):  # as many rows as a count of `size` has bits
            end += _LANES
        for row in range(_COUNTS, end):
            rows[row] = _ZERO
        while at + 16 <= stop:
            _add_sixteen(rows, tokens, at)
            _ripple(rows, _SIXTEENS, end)
            at += 16
        while at < stop:
            for lane in range(_LANES):
                rows[_CARRY + lane] = projection(tokens[at], rows[lane], rows[_SPREAD + lane])
            _ripple(rows, _COUNTS, end)
            at += 1
        # The sum 2 × count − size is positive iff count exceeds half of size, rounded down.
        for word in range(WORDS_PER_PAGE):
            out[page, word] = _above(rows, end, word, size >> 1)
