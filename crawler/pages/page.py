"""A response becomes a page: its encodings undone, its charset looked for, its place found.

The one way for all sources: archives, saved trees, live crawls. The body stays bytes.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS, Limits
from reusewatch.crawler.pages.charsets import From, charset_of
from reusewatch.crawler.pages.encodings import decode
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.records import Origin, Page, Sighting
from reusewatch.streams.urls import place

_PAGE_TYPES = frozenset(
    {
        "text/html",
        "text/plain",
        "application/xhtml+xml",
        "application/vnd.wap.xhtml+xml",
    }
)
# What servers and archives write where they know no type.
_UNSAID = frozenset(
    {"", "no-type", "unk", "unknown", "unknown/unknown", "application/unknown", "*/*"}
)
# Servers write few: each is taken apart once.
_TYPES = 256
# How HTML starts (WHATWG MIME Sniffing, §7.1).
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\x0c\r ]{0,512}(?:<\?xml[^>]{0,200}\?>\s{0,64})?"
    rb"(?:<!--|<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br"
    rb"|p)[ \t\n\r/>])",
    re.IGNORECASE,
)


@lru_cache(maxsize=_TYPES)
def media_type(content_type: str) -> str:
    """The type without its parameters.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return content_type.partition(";")[0].partition(",")[0].strip().lower()


@lru_cache(maxsize=_TYPES)
def may_be_page(content_type: str) -> bool:
    """Whether a body of this type is a page, or may turn out to be one."""
    kind = media_type(content_type)
    return kind in _PAGE_TYPES or kind in _UNSAID


@lru_cache(maxsize=_TYPES)
def is_page(content_type: str) -> bool:
    """Whether a body of this type is a page, whatever it looks like."""
    return media_type(content_type) in _PAGE_TYPES


def page_from_response(
    url: str,
    *,
    fetched_at: datetime,
    status: int | None,
    content_type: str,
    content_encoding: str = "",
    body: bytes,
    origin: Origin,
    scheme: HashScheme,
    limits: Limits = DEFAULT_LIMITS,
    ip: str | None = None,
    charset: str | None = None,
    truncated: bool = False,
) -> Page | None:
    """The page that a response is, whatever its status; None where it is no page.

    `charset` is given where the source is known to be in one. A body without encodings that is
    over the limit is cut and marked; one that decompresses beyond it is refused. Raises BadPage.
    """
    if not may_be_page(content_type):
        return None
    where = place(url, scheme)
    body = _decoded(body, content_encoding, limits)
    kind = media_type(content_type)
    if kind in _UNSAID:
        if not looks_like_html(body):
            return None
        kind = "text/html"
    name, said_by = _charset(body, content_type, charset)
    return Page(
        id=where.page_id,
        url=url,
        site=where.site,
        host=where.host,
        fetched_at=fetched_at,
        content_type=kind,
        body=body[: limits.max_body_bytes],
        origin=origin,
        ip=ip,
        status=status,
        charset=name,
        charset_from=said_by,
        truncated=truncated or len(body) > limits.max_body_bytes,
    )


def page_of_revisit(
    url: str,
    *,
    fetched_at: datetime,
    status: int | None,
    content_type: str,
    origin: Origin,
    scheme: HashScheme,
    revisit_of: Sighting,
    ip: str | None = None,
) -> Page:
    """A page whose payload was stored before. Raises BadPage."""
    where = place(url, scheme)
    return Page(
        id=where.page_id,
        url=url,
        site=where.site,
        host=where.host,
        fetched_at=fetched_at,
        content_type=media_type(content_type),
        body=b"",
        origin=origin,
        ip=ip,
        status=status,
        revisit_of=revisit_of,
    )


def looks_like_html(body: bytes) -> bool:
    """Whether a body of unknown type starts as HTML does."""
    return _HTML.match(body) is not None


def _decoded(body: bytes, content_encoding: str, limits: Limits) -> bytes:
    return decode(
        body,
        content_encoding,
        max_bytes=limits.max_body_bytes,
        max_encodings=limits.max_encodings,
    )


def _charset(
    body: bytes, content_type: str, given: str | None
) -> tuple[str, From] | tuple[None, None]:
    if given is not None:
        return given, "given"
    return charset_of(body, content_type)
