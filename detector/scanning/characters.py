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
LOWER_A, LOWER_F, LOWER_H, LOWER_S, LOWER_X, LOWER_Z = b"afhsxz"
LOWER = 0x20
"""The bit that makes a letter of ASCII a small one."""
ASCII_END = 0x80
"""The first byte that is no character of ASCII, but a part of one."""


def word(text: bytes) -> int:
    """A name of up to eight bytes as one number, its first byte the highest.

    >>> hex(word(b"src"))
    '0x737263'
    """
    return int.from_bytes(text, "big")


HREF, SRC, REL, NAME, CONTENT = map(word, (b"href", b"src", b"rel", b"name", b"content"))
CDATA = word(b"![CDATA[")
HTTP, HTTPS = map(word, (b"http", b"https"))
