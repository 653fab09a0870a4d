"""Requests as they are noted: JSON of a fixed shape, since a note may come from anybody's hand.

Scrapy pickles requests. Whoever could write into such a file would run code of his in the crawl.
"""

from __future__ import annotations

import codecs
from typing import Any, Literal

import msgspec
from scrapy import Spider
from scrapy.http import Request
from scrapy.utils.request import request_from_dict


class Note(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What makes a request, by the names of `Request.to_dict`; the callbacks are those of
    `spiders.sites`."""

    url: str
    callback: Literal["parse", "parse_robots"] | None = None
    errback: Literal["_missed", "_no_robots"] | None = None
    headers: dict[str, list[str]] = {}
    method: str = "GET"
    body: bytes = b""
    cookies: dict[str, str] = {}
    meta: dict[str, Any] = {}
    encoding: str = "utf-8"
    priority: int = 0
    dont_filter: bool = False
    flags: list[str] = []
    cb_kwargs: dict[str, Any] = {}


def packed(request: Request, spider: Spider | None) -> bytes:
    """The note of a request."""
    said = request.to_dict(spider=spider)
    said["headers"] = {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in said["headers"].items()
    }
    return msgspec.json.encode(Note(**said))


def unpacked(note: bytes) -> Note:
    """Raises ValueError where it is none, or no request could be made of it."""
    try:
        found = msgspec.json.decode(note, type=Note)
        codecs.lookup(found.encoding)
        Request(found.url, method=found.method, headers=_headers(found))
    except (msgspec.MsgspecError, UnicodeError, LookupError, TypeError) as error:
        raise ValueError(str(error)) from error
    return found


def request_of(note: Note, spider: Spider) -> Request:
    """The request, for this spider."""
    fields = msgspec.structs.asdict(note) | {"headers": _headers(note)}
    return request_from_dict(fields, spider=spider)


def _headers(note: Note) -> dict[bytes, list[bytes]]:
    return {
        name.encode("latin-1"): [value.encode("latin-1") for value in values]
        for name, values in note.headers.items()
    }
