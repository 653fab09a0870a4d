"""UTF-8 by the Encoding standard: from bytes to code points, and back.

What is no UTF-8 becomes U+FFFD, as many times as a browser shows it, and ends a word. A
character's first byte says how many follow it, and each that follows holds six bits of it
(`characters` has the names).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, Tuple, part
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning.page_bytes import byte_at
from reusewatch.detector.scanning.references import REPLACEMENT

# Two bytes that begin with one of the two below `_TWO_LEAST` would hold a character of ASCII.
_TWO_LEAST, _TWO_MOST = 0xC2, 0xDF
_THREE_MOST = 0xEF
_FOUR_MOST = 0xF4
# What may follow these is narrower: no overlong form, no surrogate, nothing above U+10FFFF.
_THREE_LEAST_SECOND = 0xA0
_BEFORE_SURROGATES, _BEFORE_SURROGATES_SECOND = 0xED, 0x9F
_FOUR_LEAST_SECOND, _FOUR_MOST_SECOND = 0x90, 0x8F


@part()
def code_point(buf: NDArray[np.uint8], at: Int, limit: Int) -> Tuple:
    """(code point, end) of the non-ASCII character at `at`; U+FFFD for what is none."""
    c = byte_at(buf, at)
    low, high, more = ch.FOLLOWS, ch.FOLLOWS_LAST, 0
    if _TWO_LEAST <= c <= _TWO_MOST:
        more, code = 1, c - ch.FIRST_OF_TWO
    elif ch.FIRST_OF_THREE <= c <= _THREE_MOST:
        more, code = 2, c - ch.FIRST_OF_THREE
        if c == ch.FIRST_OF_THREE:
            low = _THREE_LEAST_SECOND
        elif c == _BEFORE_SURROGATES:
            high = _BEFORE_SURROGATES_SECOND
    elif ch.FIRST_OF_FOUR <= c <= _FOUR_MOST:
        more, code = 3, c - ch.FIRST_OF_FOUR
        if c == ch.FIRST_OF_FOUR:
            low = _FOUR_LEAST_SECOND
        elif c == _FOUR_MOST:
            high = _FOUR_MOST_SECOND
    else:
        return REPLACEMENT, at + 1
    i = at + 1
    while more > 0:
        if i >= limit or not low <= byte_at(buf, i) <= high:
            return REPLACEMENT, i
        code = code << 6 | (byte_at(buf, i) & ch.SIX_BITS)
        low, high = ch.FOLLOWS, ch.FOLLOWS_LAST
        more -= 1
        i += 1
    return code, i


@part(inline=True)
def short_code_point(buf: NDArray[np.uint8], at: Int, limit: Int) -> Tuple:
    """The same of what nearly all text is: two bytes, or three of which none is narrower; (0, at)
    for anything else."""
    c = byte_at(buf, at)
    if at + 2 >= limit:
        return 0, at
    second = byte_at(buf, at + 1) ^ ch.FOLLOWS
    if _TWO_LEAST <= c <= _TWO_MOST and second <= ch.SIX_BITS:
        return (c - ch.FIRST_OF_TWO) << 6 | second, at + 2
    third = byte_at(buf, at + 2) ^ ch.FOLLOWS
    if (
        ch.FIRST_OF_THREE < c <= _THREE_MOST and c != _BEFORE_SURROGATES
        and (second | third) <= ch.SIX_BITS
    ):  # fmt: skip
        return ((c - ch.FIRST_OF_THREE) << 6 | second) << 6 | third, at + 3
    return 0, at


@part()
def put_utf8(to: NDArray[np.uint8], n: Int, code: Int) -> Int:
    """Append a code point; the new length."""
    if code < ch.ASCII_END:
        to[n] = code
        return n + 1
    if code < ch.TWO_END:
        to[n] = ch.FIRST_OF_TWO | code >> 6
        to[n + 1] = ch.FOLLOWS | (code & ch.SIX_BITS)
        return n + 2
    if code < ch.THREE_END:
        to[n] = ch.FIRST_OF_THREE | code >> 12
        to[n + 1] = ch.FOLLOWS | (code >> 6 & ch.SIX_BITS)
        to[n + 2] = ch.FOLLOWS | (code & ch.SIX_BITS)
        return n + 3
    to[n] = ch.FIRST_OF_FOUR | code >> 18
    to[n + 1] = ch.FOLLOWS | (code >> 12 & ch.SIX_BITS)
    to[n + 2] = ch.FOLLOWS | (code >> 6 & ch.SIX_BITS)
    to[n + 3] = ch.FOLLOWS | (code & ch.SIX_BITS)
    return n + 4
