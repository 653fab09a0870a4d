"""From code points to the hash of a word, a byte or a code point at a time.

A word is hashed as its UTF-8, in whatever charset and however written the page has it. All bytes of
a character go into the hash at once: text in other scripts than Latin is as fast as its characters
are many, and not as its bytes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, Tuple, int64, part, uint64
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning.mixing import fold_product
from reusewatch.detector.scanning.tables import (
    FOLDED_BYTES,
    FOLDED_BYTES_MOST,
    FOLDED_LONG,
    FOLDED_POINT,
    FOLDED_POINTS,
    Tables,
)

_POINT = uint64(FOLDED_POINT)
_POINT_MASK = uint64((1 << FOLDED_POINT) - 1)
_LONG = uint64(FOLDED_LONG)
_NO_LONG = uint64((1 << FOLDED_LONG) - 1)
_PACKED_MASK = uint64((1 << FOLDED_BYTES) - 1)
_BYTES, _POINTS = uint64(FOLDED_BYTES), uint64(FOLDED_POINTS)
_MOST = uint64(FOLDED_BYTES_MOST)
# Syllables are in order of their letters: leading, vowel, trailing, of which the first is none.
HANGUL, HANGUL_END = 0xAC00, 0xD7A4
_LEADING, _VOWEL, _TRAILING = uint64(0x1100), uint64(0x1161), uint64(0x11A7)
_TRAILINGS = uint64(28)
_VOWELS = uint64(21)
_FULL = uint64(64)
_EIGHT = uint64(3)
_THREE_BYTES, _SIX_BYTES = uint64(24), uint64(48)
# Of a letter of Hangul: its three bytes without what the code point says below its first four bits.
_HANGUL_BYTES = uint64(0x8080E1)
_SIX_BITS, _EIGHT_BITS, _SIXTEEN_BITS, _SIX_ONES = uint64(6), uint64(8), uint64(16), uint64(0x3F)
_SECOND, _THIRD, _FOURTH = 8, 16, 24
_ZERO = uint64(0)


@part(inline=True)
def properties_of(code: Int, look: Tables) -> Int:
    """What a code point is, and what it says of its word: see `tables`."""
    return int64(look.kinds[uint64(look.kind_page[uint64(code >> 8)]) << 8 | uint64(code & 0xFF)])


@part(inline=True)
def push(h: Int, w: Int, used: Int, value: Int, bits: Int, first: Int) -> Tuple:
    """Add up to seven bytes, the first the lowest."""
    w |= value << used
    used += bits
    if used >= _FULL:
        h = fold_product(h ^ w, first)
        used -= _FULL
        # What did not fit: at least one bit did, so that no shift is by 64.
        w = value >> (bits - used)
    return h, w, used


@part(inline=True)
def encoded(code: Int) -> Tuple:
    """A code point's UTF-8 as one number, its first byte the lowest; and how many bits."""
    last = ch.FOLLOWS | (code & ch.SIX_BITS)
    if code < ch.ASCII_END:
        return uint64(code), uint64(8)
    if code < ch.TWO_END:
        return uint64(ch.FIRST_OF_TWO | code >> 6 | last << _SECOND), uint64(16)
    before = ch.FOLLOWS | (code >> 6 & ch.SIX_BITS)
    if code < ch.THREE_END:
        value = ch.FIRST_OF_THREE | code >> 12 | before << _SECOND | last << _THIRD
        return uint64(value), uint64(24)
    second = ch.FOLLOWS | (code >> 12 & ch.SIX_BITS)
    value = ch.FIRST_OF_FOUR | code >> 18 | second << _SECOND | before << _THIRD | last << _FOURTH
    return uint64(value), uint64(32)


@part(inline=True)
def push_character(
    h: Int, w: Int, used: Int, size: Int, code: Int, look: Tables, first: Int
) -> Tuple:  # fmt: skip
    """Add a code point, folded; and how many code points the word has with it."""
    folded = look.folds[uint64(look.fold_page[uint64(code >> 8)]) << 8 | uint64(code & 0xFF)]
    if folded == _ZERO:
        if HANGUL <= code < HANGUL_END:
            h, w, used = _push_hangul(h, w, used, code - HANGUL, first)
            return h, w, used, size + 1
        value, bits = encoded(code)
        h, w, used = push(h, w, used, value, bits, first)
        return h, w, used, size + 1
    if folded >> _LONG == _ZERO:
        bits = (folded >> _BYTES & _MOST) << _EIGHT
        h, w, used = push(h, w, used, folded & _PACKED_MASK, bits, first)
        return h, w, used, size + int64(folded >> _POINTS)
    return _push_long(h, w, used, size, folded & _NO_LONG, first)


@part()
def _push_long(h: Int, w: Int, used: Int, size: Int, folded: Int, first: Int) -> Tuple:
    """Add up to three code points of which one has three bytes or more."""
    while folded != _ZERO:
        value, bits = encoded(int64(folded & _POINT_MASK))
        h, w, used = push(h, w, used, value, bits, first)
        folded >>= _POINT
        size += 1
    return h, w, used, size


@part(inline=True)
def _of_three(code: Int) -> Int:
    """The UTF-8 of a letter of Hangul, of which each has three bytes and the same first one."""
    second, third = code >> _SIX_BITS & _SIX_ONES, code & _SIX_ONES
    return _HANGUL_BYTES | second << _EIGHT_BITS | third << _SIXTEEN_BITS


@part(inline=True)
def _push_hangul(h: Int, w: Int, used: Int, syllable: Int, first: Int) -> Tuple:
    """Add a syllable as its letters (The Unicode Standard, 3.12)."""
    # Without a sign a division is a multiplication.
    block = uint64(syllable) // _TRAILINGS
    leading = _of_three(_LEADING + block // _VOWELS)
    vowel = _of_three(_VOWEL + block % _VOWELS)
    h, w, used = push(h, w, used, leading | vowel << _THREE_BYTES, _SIX_BYTES, first)
    trailing = uint64(syllable) - block * _TRAILINGS
    if trailing != 0:
        h, w, used = push(h, w, used, _of_three(_TRAILING + trailing), _THREE_BYTES, first)
    return h, w, used


@part()
def finish(h: Int, w: Int, secrets: NDArray[np.uint64]) -> Int:
    """The word's hash: see `mixing.word_hash`."""
    return fold_product(fold_product(h ^ w, secrets[1]) ^ secrets[0], secrets[2])


@part()
def push_bytes(h: Int, w: Int, used: Int, text: NDArray[np.uint8], end: Int, first: Int) -> Tuple:
    """Add bytes as they are; and how many characters they begin."""
    size = 0
    for i in range(end):
        size += int64((text[i] & ch.FIRST_OF_TWO) != ch.FOLLOWS)
        h, w, used = push(h, w, used, uint64(text[i]), uint64(8), first)
    return h, w, used, size
