"""Character references, decoded in place (HTML standard, 13.2.5.72 to 13.2.5.80).

All named ones, longest match first; those that may lack their semicolon; numeric ones with the
remapping of 0x80 to 0x9F. Each looks ahead a bounded way, or as far as it consumes.
"""

# Kernels: a call costs its arguments, a set a search.
# ruff: noqa: PLR0911

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, Tuple, int64, part, uint64
from reusewatch.detector.scanning import characters as ch
from reusewatch.detector.scanning.page_bytes import byte_at
from reusewatch.detector.scanning.tables import PLAIN, REFERENCE_SLOTS, SPREAD, Tables

# "CounterClockwiseContourIntegral" without its semicolon; "Aacute".
_LONGEST = 31
_LONGEST_BARE = 6
_SPREAD = uint64(SPREAD)
_SLOTS_MASK = REFERENCE_SLOTS - 1
REPLACEMENT = 0xFFFD
_WINDOWS_1252 = np.array(
    [
        *(0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021),
        *(0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D, 0x8F),
        *(0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014),
        *(0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178),
    ]
)


@part(inline=True)
def starts_reference(buf: NDArray[np.uint8], at: Int, limit: Int, look: Tables) -> Bool:
    """Whether the `&` at `at` may start a reference; else it is a character."""
    if at + 1 >= limit:
        return False
    c = byte_at(buf, at + 1)
    return c == ch.HASH or look.ascii[c] > PLAIN


@part()
def reference(
    buf: NDArray[np.uint8], at: Int, limit: Int, in_attribute: Bool, look: Tables
) -> Tuple:
    """What the `&` at `at` starts: (end, code point, second code point or 0).

    The end is `at` itself where it starts no reference and is a plain ampersand.
    """
    i = at + 1
    if i >= limit:
        return at, 0, 0
    if byte_at(buf, i) == ch.HASH:
        return _numeric(buf, at, limit)
    # A name is letters and digits.
    stop = min(limit, i + _LONGEST)
    while i < stop and look.ascii[byte_at(buf, i)] > PLAIN:
        i += 1
    length = i - at - 1
    if length < 2:
        return at, 0, 0
    if i < limit and byte_at(buf, i) == ch.SEMICOLON:
        slot = _find(buf, at + 1, length + 1, look)
        if slot >= 0:
            return i + 1, look.reference_first[slot], look.reference_second[slot]
    length = min(length, _LONGEST_BARE)
    while length >= 2:
        slot = _find(buf, at + 1, length, look)
        if slot >= 0:
            i = at + 1 + length
            # `?a=b&copy=1` in an address is no copyright sign.
            if (
                in_attribute
                and i < limit
                and (byte_at(buf, i) == ch.EQUALS or look.ascii[byte_at(buf, i)] > PLAIN)
            ):
                return at, 0, 0
            return i, look.reference_first[slot], look.reference_second[slot]
        length -= 1
    return at, 0, 0


@part()
def _find(buf: NDArray[np.uint8], start: Int, length: Int, look: Tables) -> Int:
    value = uint64(0)
    for i in range(start, start + length):
        value = (value ^ uint64(byte_at(buf, i))) * _SPREAD
    slot = int64(value >> uint64(51))
    while look.reference_length[slot] != 0:
        if look.reference_length[slot] == length:
            name = look.reference_at[slot]
            k = 0
            while k < length and look.names[name + k] == byte_at(buf, start + k):
                k += 1
            if k == length:
                return slot
        slot = (slot + 1) & _SLOTS_MASK
    return -1


@part()
def _numeric(buf: NDArray[np.uint8], at: Int, limit: Int) -> Tuple:
    i = at + 2
    hexadecimal = i < limit and (byte_at(buf, i) | ch.LOWER) == ch.LOWER_X
    if hexadecimal:
        i += 1
    first = i
    value = 0
    while i < limit:
        c = byte_at(buf, i)
        if ch.DIGIT_0 <= c <= ch.DIGIT_9:
            digit = c - ch.DIGIT_0
        elif hexadecimal and ch.LOWER_A <= (c | ch.LOWER) <= ch.LOWER_F:
            digit = (c | ch.LOWER) - ch.LOWER_A + 10
        else:
            break
        # Saturates: a million digits are one code point out of range.
        value = min(value * (16 if hexadecimal else 10) + digit, 0x110000)
        i += 1
    if i == first:
        return at, 0, 0
    if i < limit and byte_at(buf, i) == ch.SEMICOLON:
        i += 1
    if value == 0 or value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        value = REPLACEMENT
    elif 0x80 <= value <= 0x9F:
        value = _WINDOWS_1252[value - 0x80]
    return i, value, 0
