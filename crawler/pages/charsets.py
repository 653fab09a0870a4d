"""Which character encoding a response says that it is in: by a mark, its header, its meta.

Labels are read as browsers read them (WHATWG Encoding, §4.2): `iso-8859-1` means windows-1252.
Where none says it, bytes that are UTF-8 are taken for that, and all else is left open: it is for
whoever reads the page to detect (`reusewatch.streams.charsets`). The body is not decoded here.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Literal

from reusewatch.streams.charsets import by_label, is_utf8

From = Literal["bom", "header", "meta", "detected", "given"]
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKED = tuple(mark for mark, _ in _MARKS)
# Servers write few types: each is taken apart once.
_TYPES = 256
# The standard's prescan looks at this many bytes.
_PRESCAN = 1024
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(
    rb"<meta\s[^>]{0,900}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE
)
_XML = re.compile(rb"\A\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})")
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([^\s;\"',]{1,40})", re.IGNORECASE)


def charset_of(body: bytes, content_type: str) -> tuple[str, From] | tuple[None, None]:
    """The character encoding of a body, by a name that Python knows, and who said so.

    >>> charset_of(b"<p>", "text/html; charset=ISO-8859-1")
    ('windows-1252', 'header')
    >>> charset_of(b'<meta charset="koi8-r">', "text/html")
    ('koi8-r', 'meta')
    >>> charset_of(b"<p>\\xe4", "text/html")
    (None, None)
    """
    if body.startswith(_MARKED):
        return next(name for mark, name in _MARKS if body.startswith(mark)), "bom"
    if name := _from_header(content_type):
        return name, "header"
    if name := _from_meta(body[:_PRESCAN]):
        return name, "meta"
    return ("utf-8", "detected") if is_utf8(body) else (None, None)


@lru_cache(maxsize=_TYPES)
def _from_header(content_type: str) -> str:
    match = _HEADER.search(content_type)
    return by_label(match[1]) if match else ""


def _from_meta(begin: bytes) -> str:
    match = _XML.match(begin) or _META.search(_COMMENT.sub(b"", begin))
    name = by_label(match[1].decode("ascii")) if match else ""
    # A meta that could be read as ASCII is in no UTF-16 (HTML, prescan, step "charset").
    return "utf-8" if name.startswith("utf-16") else name
