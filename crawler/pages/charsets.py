"""Which character encoding a body is in: mark, header, meta, and only then detection.

Labels are read as browsers read them (WHATWG Encoding, §4.2): `iso-8859-1` means windows-1252.
The body itself is not decoded here.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Literal

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

From = Literal["bom", "header", "meta", "detected", "given"]
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# The standard's prescan looks at this many bytes.
_PRESCAN = 1024
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(
    rb"<meta\s[^>]{0,900}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)
_XML = re.compile(rb"\A\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})")
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s;\"',]{1,40})", re.IGNORECASE)
_DETECTED_BYTES = 1 << 16


def charset_of(body: bytes, content_type: str) -> tuple[str, From]:
    """The character encoding of a body, by a name that Python knows, and who said so.

    >>> charset_of(b"<p>", "text/html; charset=ISO-8859-1")
    ('windows-1252', 'header')
    >>> charset_of(b'<meta charset="koi8-r">', "text/html")
    ('koi8-r', 'meta')
    """
    for mark, name in _MARKS:
        if body.startswith(mark):
            return name, "bom"
    match = _HEADER.search(content_type)
    if match and (name := by_label(match[1])):
        return name, "header"
    if name := _from_meta(body[:_PRESCAN]):
        return name, "meta"
    return _detected(body), "detected"


@lru_cache(maxsize=1024)
def by_label(label: str) -> str:
    """The encoding that a label names; empty for a label that no browser knows.

    >>> by_label("LATIN1"), by_label("nonsense")
    ('windows-1252', '')
    """
    label = label.strip().lower()
    name: str | None = map_encoding_to_html5(label, fallback_utf8=False)
    if name is None:
        return ""
    name = name.lower().replace("_", "-")
    name = name.replace("cp125", "windows-125")
    try:
        codecs.lookup(name)
    except LookupError:
        return ""
    return name


def _from_meta(begin: bytes) -> str:
    match = _XML.match(begin) or _META.search(_COMMENT.sub(b"", begin))
    name = by_label(match[1].decode("ascii")) if match else ""
    # A meta that could be read as ASCII is in no UTF-16 (HTML, prescan, step "charset").
    return "utf-8" if name.startswith("utf-16") else name


def _detected(body: bytes) -> str:
    """What the bytes look like. All ASCII, and all that decodes as UTF-8, is UTF-8."""
    begin = body[:_DETECTED_BYTES]
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(begin, final=len(begin) == len(body))
    except UnicodeDecodeError:
        return by_label(detect_encoding(begin)) or "windows-1252"
    # UTF-16 without a mark decodes as UTF-8 full of NULs.
    if begin.count(0) > len(begin) // 8:
        return by_label(detect_encoding(begin)) or "utf-8"
    return "utf-8"
