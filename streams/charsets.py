"""Which character encoding a page is in, where nobody has said: what its bytes look like.

A source settles what can be settled by looking: a mark, a header, a meta, bytes that are UTF-8. The
rest is detected by whoever reads the page, so that a crawl host needs no detector, and a page is
read the same wherever it came from.
"""

from __future__ import annotations

import codecs

from reusewatch.streams.charset_labels import LABELS
from reusewatch.streams.records import Page

_DETECTED_BYTES = 1 << 16


def charset_of(page: Page) -> str:
    """The encoding to read a page in."""
    return page.charset or detected(page.body)


def by_label(label: str) -> str:
    """The encoding that a label names; empty for a label that no browser knows.

    >>> by_label("LATIN1"), by_label("nonsense")
    ('windows-1252', '')
    """
    return LABELS.get(label.strip().lower(), "")


def is_utf8(body: bytes) -> bool:
    """Whether the start of a body is UTF-8, ASCII included, and no UTF-16 without a mark."""
    begin = body[:_DETECTED_BYTES]
    # UTF-16 without a mark decodes as UTF-8 full of NULs.
    return _decodes(begin, cut=len(begin) < len(body)) and begin.count(0) <= len(begin) // 8


def detected(body: bytes) -> str:
    """What the bytes look like; windows-1252 where they look like nothing.

    >>> detected("Grüße".encode())
    'utf-8'
    """
    if is_utf8(body):
        return "utf-8"
    from resiliparse.parse.encoding import detect_encoding

    begin = body[:_DETECTED_BYTES]
    otherwise = "utf-8" if _decodes(begin, cut=len(begin) < len(body)) else "windows-1252"
    return by_label(detect_encoding(begin)) or otherwise


def _decodes(begin: bytes, *, cut: bool) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(begin, final=not cut)
    except UnicodeDecodeError:
        return False
    return True
