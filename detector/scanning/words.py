"""From code points to the hash of a word, a byte or a code point at a time.

A word is hashed as its UTF-8, in whatever charset and however written the page has it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, Tuple, int64, part, uint64
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning.mixing import fold_product
from reusewatch.detector.scanning.tables import Tables

_CODE_MASK = uint64((1 << 21) - 1)
_SECOND = uint64(21)
_THIRD = uint64(42)
_TOP = uint64(63)
# Syllables are in order of their letters: leading, vowel, trailing, of which the first is none.
HANGUL, HANGUL_END = 0xAC00, 0xD7A4
_LEADING, _VOWEL, _TRAILING = 0x1100, 0x1161, 0x11A7
_TRAILINGS = 28
_VOWELS_TRAILINGS = 21 * _TRAILINGS
_FULL = uint64(64)
_BYTE = uint64(8)
_LOW = uint64(0xFF)
_ZERO = uint64(0)


@part()
def properties_of(code: Int, look: Tables) -> Int:
    """What a code point is, and what it says of its word: see `tables`."""
    return int64(look.kinds[int64(look.kind_page[code >> 8]) << 8 | (code & 0xFF)])


@part()
def _push(h: Int, w: Int, used: Int, byte: Int, first: Int) -> Tuple:
    w |= uint64(byte) << used
    used += _BYTE
    if used == _FULL:
        return fold_product(h ^ w, first), _ZERO, _ZERO
    return h, w, used


@part()
def push_plain(h: Int, w: Int, used: Int, code: Int, first: Int) -> Tuple:
    """Add a code point as UTF-8."""
    if code < ch.ASCII_END:
        return _push(h, w, used, code, first)
    if code < ch.TWO_END:
        h, w, used = _push(h, w, used, ch.FIRST_OF_TWO | code >> 6, first)
        return _push(h, w, used, ch.FOLLOWS | (code & ch.SIX_BITS), first)
    if code < ch.THREE_END:
        h, w, used = _push(h, w, used, ch.FIRST_OF_THREE | code >> 12, first)
    else:
        h, w, used = _push(h, w, used, ch.FIRST_OF_FOUR | code >> 18, first)
        h, w, used = _push(h, w, used, ch.FOLLOWS | (code >> 12 & ch.SIX_BITS), first)
    h, w, used = _push(h, w, used, ch.FOLLOWS | (code >> 6 & ch.SIX_BITS), first)
    return _push(h, w, used, ch.FOLLOWS | (code & ch.SIX_BITS), first)


@part()
def folded_of(code: Int, look: Tables) -> Int:
    """What a code point is folded to, see `tables`; 0, itself."""
    return look.folds[int64(look.fold_page[code >> 8]) << 8 | (code & 0xFF)]


@part()
def points_of(folded: Int) -> Int:
    """How many code points it is folded to. A Hangul syllable counts as one, however written."""
    if folded >> _TOP != 0:
        many = 0
        while folded & _LOW != 0:
            many += 1
            folded >>= _BYTE
        return many
    return 1 + int64(folded >> _SECOND != 0) + int64(folded >> _THIRD != 0)


@part()
def push_folded(h: Int, w: Int, used: Int, code: Int, folded: Int, first: Int) -> Tuple:
    """Add a code point, folded."""
    if folded == 0:
        if HANGUL <= code < HANGUL_END:
            return _push_hangul(h, w, used, code - HANGUL, first)
        return push_plain(h, w, used, code, first)
    if folded >> _TOP != 0:
        while folded & _LOW != 0:
            h, w, used = _push(h, w, used, int64(folded & _LOW), first)
            folded >>= _BYTE
        return h, w, used
    while folded != 0:
        h, w, used = push_plain(h, w, used, int64(folded & _CODE_MASK), first)
        folded >>= _SECOND
    return h, w, used


@part()
def _push_hangul(h: Int, w: Int, used: Int, syllable: Int, first: Int) -> Tuple:
    """Add a syllable as its letters (The Unicode Standard, 3.12)."""
    h, w, used = push_plain(h, w, used, _LEADING + syllable // _VOWELS_TRAILINGS, first)
    vowel = syllable % _VOWELS_TRAILINGS // _TRAILINGS
    h, w, used = push_plain(h, w, used, _VOWEL + vowel, first)
    if syllable % _TRAILINGS != 0:
        h, w, used = push_plain(h, w, used, _TRAILING + syllable % _TRAILINGS, first)
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
        h, w, used = _push(h, w, used, int64(text[i]), first)
    return h, w, used, size
