"""Shingles: the phrases that stand for a page (Fetterly et al. 2005, §3.2; Henzinger 2006, §2).

Every run of k tokens is a phrase and has a hash. m min-wise functions each keep one phrase,
the one of the smallest value: the share of agreeing min-values of two pages estimates the
Jaccard resemblance of their phrase sets. Fetterly et al. read the page as a circle (k = 5),
Henzinger's Algorithm B does not (k = 8). Six runs of 14 min-values are hashed into
supershingles; two pages of which two agree are near-duplicates.

A min-wise function is a product with an odd number modulo 2^64, hence a bijection: a min-value
leads back to its phrase. Phrase hashes are well mixed before, which makes each function
unbiased on its own; the factors being drawn at random makes the functions independent.

Knows tokens by their hashes only, and never compares more than the two pages it is given.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_WORD_ROWS,
    OUT_WORDS,
    WORD_ROWS,
    WORDS,
    kernel,
    part,
    types,
    wide,
)
from reusewatch.detector.compiling.mixers import chain, mix
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged, as_column

PHRASE_K = 5
"""Words of a phrase in Fetterly et al.'s circular reading."""
SHINGLE_K = 8
"""Words of a shingle in Henzinger's Algorithm B."""
MIN_VALUES = 84
SUPERSHINGLES = 6

# Eight 64-bit lanes make a vector; 84 functions and 4 idle ones fill eleven of them.
_LANES = 88
_RUN = MIN_VALUES // SUPERSHINGLES
# Shingles that stand in the first cache at once.
_AT_A_TIME = 1024
_LEAST = types.Array(types.int64, 1, "C")

NO_PHRASE = (1 << 64) - 1
"""Every min-value of a page without phrases."""
_MOST = np.uint64(NO_PHRASE)
_GREATEST = np.int64((1 << 63) - 1)
_SIGN = np.uint64(1 << 63)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


def phrases(tokens: Ragged, k: int, scheme: HashScheme, *, circular: bool) -> Ragged:
    """Hash of each phrase, in order of position.

    Circular, n tokens make n phrases, a single word repeating k times; otherwise n − k + 1, and
    none where n < k, so that short pages have nothing in common rather than everything.
    """
    if k < 1:
        raise ValueError(f"a phrase has at least one word, not {k}")
    counts = tokens.counts if circular else np.maximum(tokens.counts - (k - 1), 0)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    hashes = np.empty(offsets[-1], np.uint64)
    _phrases(tokens.values, tokens.offsets, scheme.numbers(f"phrase {k}", k), offsets, hashes)
    return Ragged(hashes, offsets)


def min_values(phrases: Ragged, scheme: HashScheme) -> NDArray[np.uint64]:
    """The m min-values of each page, a row a page; `NO_PHRASE` where a page has no phrases."""
    rows = np.empty((len(phrases), MIN_VALUES), np.uint64)
    _min_values(phrases.values, phrases.offsets, _factors(scheme), rows)
    return rows


def shingle_values(tokens: Ragged, scheme: HashScheme) -> NDArray[np.uint64]:
    """The min-values of each page's shingles, straight on: nobody asks for the shingles themselves,
    so they are nowhere but in the first cache."""
    rows = np.empty((len(tokens), MIN_VALUES), np.uint64)
    words = scheme.numbers(f"phrase {SHINGLE_K}", SHINGLE_K)
    _shingle_values(tokens.values, tokens.offsets, words, _factors(scheme), rows)
    return rows


def supershingles(min_values: NDArray[np.uint64], scheme: HashScheme) -> NDArray[np.uint64]:
    """Hashes of the non-overlapping runs of 14 min-values, a row of six a page."""
    rows = np.empty((len(min_values), SUPERSHINGLES), np.uint64)
    seeds, factor = scheme.numbers("supershingle", SUPERSHINGLES), scheme.numbers("run", 1)[0]
    _supershingles(as_column(min_values, np.uint64), seeds, factor, rows)
    return rows


def phrases_behind(min_values: NDArray[np.uint64], scheme: HashScheme) -> NDArray[np.uint64]:
    """The phrase hash behind each min-value of one page."""
    return min_values * inverses(scheme)


def phrase_positions(
    min_values: NDArray[np.uint64], phrases: NDArray[np.uint64], scheme: HashScheme
) -> NDArray[np.int64]:
    """Where in a page each min-value's phrase first stands; −1 where it does not.

    `phrases` are the hashes of the page's phrases in order of position.
    """
    if not phrases.size:
        return np.full(min_values.shape, -1, np.int64)
    known, first = np.unique(phrases, return_index=True)
    wanted = phrases_behind(min_values, scheme)
    at = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    return np.where(known[at] == wanted, first[at], -1).astype(np.int64)


def _factors(scheme: HashScheme) -> NDArray[np.uint64]:
    return scheme.numbers("min-wise", _LANES)


def inverses(scheme: HashScheme) -> NDArray[np.uint64]:
    """The factors that undo the functions: times the i-th, an i-th min-value is its phrase."""
    odd = _factors(scheme)[:MIN_VALUES]
    found = odd  # an odd number is its own inverse modulo 8: three bits are right
    for _ in range(5):  # each step doubles the bits that are right: 6, 12, 24, 48, 96
        found = found * (np.uint64(2) - odd * found)
    return found


@kernel(types.void(WORDS, OFFSETS, WORDS, OFFSETS, OUT_WORDS))
def _phrases(tokens: Any, offsets: Any, factors: Any, starts: Any, out: Any) -> None:
    """mix(Σ factor × token): for a secret key, a universal hash of k tokens.

    Slices and zero-based indices, because only then LLVM makes vectors of the inner loops.
    """
    wide()
    k = factors.size
    for page in range(offsets.size - 1):
        source = tokens[offsets[page] : offsets[page + 1]]
        target = out[starts[page] : starts[page + 1]]
        straight = min(max(source.size - k + 1, 0), target.size)
        target[:] = _ZERO
        for j in range(k):
            factor = factors[j]
            shifted = source[min(j, source.size) :]
            for position in range(straight):
                target[position] += factor * shifted[position]
            for position in range(straight, target.size):  # past the end of the circle
                target[position] += factor * source[(position + j) % source.size]
        for position in range(target.size):
            target[position] = mix(target[position])


@part(types.int64(types.uint64))
def _signed(phrase: Any) -> Any:
    """p + 2^63: its products with odd factors are ordered as signed numbers as p's as unsigned.

    f (p + 2^63) = f p + 2^63. Without AVX-512 there is no unsigned comparison of 64-bit lanes.
    """
    return types.int64(phrase ^ _SIGN)


@part(types.void(WORDS, types.int64, types.int64, WORDS, _LEAST), inline=True)
def _take_least(phrases: Any, position: Any, end: Any, factors: Any, least: Any) -> None:
    """Functions in the inner loop, eight phrases a turn: a row is loaded and stored once for eight.

    `least` is of constant length and padded, so that the inner loop is whole vectors.
    """
    while position + 8 <= end:
        p0, p1 = _signed(phrases[position]), _signed(phrases[position + 1])
        p2, p3 = _signed(phrases[position + 2]), _signed(phrases[position + 3])
        p4, p5 = _signed(phrases[position + 4]), _signed(phrases[position + 5])
        p6, p7 = _signed(phrases[position + 6]), _signed(phrases[position + 7])
        for i in range(_LANES):
            f = types.int64(factors[i])
            low = min(p0 * f, p1 * f, p2 * f, p3 * f)
            high = min(p4 * f, p5 * f, p6 * f, p7 * f)
            least[i] = min(least[i], low, high)
        position += 8
    while position < end:
        p0 = _signed(phrases[position])
        for i in range(_LANES):
            least[i] = min(least[i], p0 * types.int64(factors[i]))
        position += 1


@kernel(types.void(WORDS, OFFSETS, WORDS, OUT_WORD_ROWS))
def _min_values(phrases: Any, offsets: Any, factors: Any, out: Any) -> None:
    wide()
    least = np.empty(_LANES, np.int64)
    for page in range(offsets.size - 1):
        least[:] = _GREATEST
        _take_least(phrases, offsets[page], offsets[page + 1], factors, least)
        for i in range(MIN_VALUES):
            out[page, i] = types.uint64(least[i]) ^ _SIGN


@kernel(types.void(WORDS, OFFSETS, WORDS, WORDS, OUT_WORD_ROWS))
def _shingle_values(tokens: Any, offsets: Any, words: Any, factors: Any, out: Any) -> None:
    """`_phrases` and `_min_values` by turns, without a step that writes what another one reads."""
    wide()
    w0, w1, w2, w3 = words[0], words[1], words[2], words[3]
    w4, w5, w6, w7 = words[4], words[5], words[6], words[7]
    least, shingles = np.empty(_LANES, np.int64), np.empty(_AT_A_TIME, np.uint64)
    for page in range(offsets.size - 1):
        least[:] = _GREATEST
        end = offsets[page + 1] - (SHINGLE_K - 1)
        for begin in range(offsets[page], end, _AT_A_TIME):
            size = min(end - begin, _AT_A_TIME)
            t = tokens[begin : begin + size + SHINGLE_K - 1]
            for i in range(size):
                low = w0 * t[i] + w1 * t[i + 1] + w2 * t[i + 2] + w3 * t[i + 3]
                high = w4 * t[i + 4] + w5 * t[i + 5] + w6 * t[i + 6] + w7 * t[i + 7]
                shingles[i] = mix(low + high)
            _take_least(shingles, 0, size, factors, least)
        for i in range(MIN_VALUES):
            out[page, i] = types.uint64(least[i]) ^ _SIGN


@kernel(types.void(WORD_ROWS, WORDS, types.uint64, OUT_WORD_ROWS))
def _supershingles(min_values: Any, seeds: Any, factor: Any, out: Any) -> None:
    for page in range(min_values.shape[0]):
        # Two functions cannot both be at their greatest for one phrase: this row has none.
        empty = min_values[page, 0] == _MOST and min_values[page, 1] == _MOST
        for run in range(SUPERSHINGLES):
            state = seeds[run]
            for i in range(run * _RUN, (run + 1) * _RUN):
                state = chain(state, min_values[page, i], factor)
            out[page, run] = _ZERO if empty else max(mix(state), _ONE)
