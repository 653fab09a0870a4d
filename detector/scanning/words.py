"""From bytes to code points to the hash of a word, a byte or a code point at a time.

Decoding is the Encoding standard's UTF-8: what is no UTF-8 becomes U+FFFD, as many times as a
browser shows it, and ends a word.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, Tuple, int64, part, uint64
from reusewatch.detector.scanning.mixing import fold_product
from reusewatch.detector.scanning.page_bytes import byte_at
from reusewatch.detector.scanning.references import REPLACEMENT
from reusewatch.detector.scanning.tables import Tables

_CODE_MASK = uint64((1 << 21) - 1)
_SECOND = uint64(21)
_THIRD = uint64(42)
_TOP = uint64(63)
HANGUL, HANGUL_END = 0xAC00, 0xD7A4
_FULL = uint64(64)
_BYTE = uint64(8)
_LOW = uint64(0xFF)
_ZERO = uint64(0)


@part()
def code_point(buf: NDArray[np.uint8], at: Int, limit: Int) -> Tuple:
    """(code point, end) of the non-ASCII character at `at`; U+FFFD for what is none."""
    c = byte_at(buf, at)
    low, high, more = 0x80, 0xBF, 0
    if 0xC2 <= c <= 0xDF:
        more, code = 1, c & 0x1F
    elif 0xE0 <= c <= 0xEF:
        more, code = 2, c & 0x0F
        # Overlong forms, and surrogates.
        if c == 0xE0:
            low = 0xA0
        elif c == 0xED:
            high = 0x9F
    elif 0xF0 <= c <= 0xF4:
        more, code = 3, c & 0x07
        if c == 0xF0:
            low = 0x90
        elif c == 0xF4:
            high = 0x8F
    else:
        return REPLACEMENT, at + 1
    i = at + 1
    while more > 0:
        if i >= limit or not low <= byte_at(buf, i) <= high:
            return REPLACEMENT, i
        code = code << 6 | (byte_at(buf, i) & 0x3F)
        low, high = 0x80, 0xBF
        more -= 1
        i += 1
    return code, i


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
    if code < 0x80:
        return _push(h, w, used, code, first)
    if code < 0x800:
        h, w, used = _push(h, w, used, 0xC0 | code >> 6, first)
        return _push(h, w, used, 0x80 | (code & 0x3F), first)
    if code < 0x10000:
        h, w, used = _push(h, w, used, 0xE0 | code >> 12, first)
    else:
        h, w, used = _push(h, w, used, 0xF0 | code >> 18, first)
        h, w, used = _push(h, w, used, 0x80 | (code >> 12 & 0x3F), first)
    h, w, used = _push(h, w, used, 0x80 | (code >> 6 & 0x3F), first)
    return _push(h, w, used, 0x80 | (code & 0x3F), first)


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
    h, w, used = push_plain(h, w, used, 0x1100 + syllable // 588, first)
    h, w, used = push_plain(h, w, used, 0x1161 + syllable % 588 // 28, first)
    if syllable % 28 != 0:
        h, w, used = push_plain(h, w, used, 0x11A7 + syllable % 28, first)
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
        size += int64((text[i] & 0xC0) != 0x80)
        h, w, used = _push(h, w, used, int64(text[i]), first)
    return h, w, used, size
