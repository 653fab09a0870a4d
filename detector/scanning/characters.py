"""Characters that mean something in markup and in addresses, by name, and short words as numbers.

A kernel compares numbers: a byte with a character, the bytes of a short name, one after the other
in one number, with a word.
"""

from __future__ import annotations

TAB, LINE_FEED, FORM_FEED, RETURN, SPACE = b"\t\n\f\r "
BANG, QUOTE, HASH, AMPERSAND, APOSTROPHE, PARENTHESIS, STAR = b"!\"#&'(*"
PLUS, DASH, DOT, SLASH = b"+-./"
DIGIT_0, DIGIT_9, COLON, SEMICOLON, LESS, EQUALS, GREATER, QUESTION, AT = b"09:;<=>?@"
UPPER_A, UPPER_Z, OPENING, BACKSLASH, BRACKET, UNDERSCORE, BRACE = b"AZ[\\]_{"
LOWER_A, LOWER_F, LOWER_H, LOWER_P, LOWER_S, LOWER_T, LOWER_X, LOWER_Z = b"afhpstxz"
LOWER = 0x20
"""The bit that makes a letter of ASCII a small one."""

# UTF-8: a first byte, and those that follow it, of which each holds six bits.
ASCII_END = 0x80
"""The first byte, and the first code point, that is no character of ASCII."""
FOLLOWS, FOLLOWS_LAST = 0x80, 0xBF
FIRST_OF_TWO, FIRST_OF_THREE, FIRST_OF_FOUR = 0xC0, 0xE0, 0xF0
SIX_BITS = 0x3F
TWO_END, THREE_END = 0x800, 0x10000
"""The first code points that need three bytes, and four."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def word(text: bytes) -> int:
    """A name of up to eight bytes as one number, its first byte the highest.

    >>> hex(word(b"src"))
    '0x737263'
    """
    return int.from_bytes(text, "big")


CDATA = word(b"![CDATA[")
HTTP, HTTPS = map(word, (b"http", b"https"))
