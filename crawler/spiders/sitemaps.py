"""The pages that a host names in its sitemaps (sitemaps.org).

Sitemaps are those that its robots.txt names, else /sitemap.xml; one may name others. How many are
read, how much of each is unpacked, and how many pages are taken of it, is bounded: they are read
piece by piece, no tree is made, and reading ends at the bound.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from lxml import etree
from scrapy.http import Response
from scrapy.utils.sitemap import sitemap_urls_from_robots

from reusewatch.streams.urls import MAX_URL

MOST_SITEMAPS = 50
MOST_PAGES = 50_000
MOST_BYTES = 50 << 20  # of one sitemap, unpacked, as the protocol has it
MOST_MEMBERS = 10_000  # of one gzip file: an empty one unpacks to nothing and costs all the same
_GZIP = b"\x1f\x8b"
_SLICE = 1 << 16
# Small, as zlib copies what it was fed and has not read: all behind the end of each member.
_FED = 1 << 12


def named_in_robots(response: Response) -> list[str]:
    """The sitemaps that a robots.txt names; without any, where one is looked for."""
    text = response.body if response.status == 200 else b""
    found = list(sitemap_urls_from_robots(text, base_url=response.url))
    return found[:MOST_SITEMAPS] or [urljoin(response.url, "/sitemap.xml")]


@dataclass(frozen=True, slots=True)
class Named:
    """What a sitemap names; `cut`: there is more."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    cut: bool = False


class _Enough(Exception):
    """As many as are taken."""


class _Locations:
    """What the parser tells of a sitemap."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.root = ""
        self._open: list[str] = []
        self._text = ""

    def start(self, tag: str, attributes: Any) -> None:
        """An element begins."""
        name = tag.rpartition("}")[2]
        self.root = self.root or name
        self._open.append(name)
        self._text = ""

    def data(self, text: str) -> None:
        """Text, maybe not all of it."""
        if len(self._text) < MAX_URL:
            self._text += text

    def end(self, tag: str) -> None:
        """An element ends."""
        # Of a page or a sitemap, not of its pictures.
        if self._open[-1] == "loc" and len(self._open) == 3 and (url := self._text.strip()):
            if len(self.found) >= self.most:
                raise _Enough
            self.found.append(url)
        self._open.pop()

    def close(self) -> None:
        """The sitemap has ended."""

    @property
    def most(self) -> int:
        """How many are taken."""
        return MOST_SITEMAPS if self.is_index else MOST_PAGES

    @property
    def is_index(self) -> bool:
        """Whether it names sitemaps."""
        return self.root == "sitemapindex"


def read_sitemap(response: Response) -> Named:
    """The pages and the sitemaps that a sitemap names; of what is none, nothing."""
    told = _Locations()
    parser = etree.XMLParser(target=told, recover=True, resolve_entities=False, no_network=True)
    cut, size = False, 0
    try:
        for part in _parts(response.body):
            size += len(part)
            if size > MOST_BYTES:
                raise _Enough
            parser.feed(part)
        parser.close()
    except _Enough:
        cut = True
    except (etree.XMLSyntaxError, zlib.error):
        pass  # what had been told before that counts
    if told.is_index:
        return Named(sitemaps=tuple(told.found), cut=cut)
    return Named(tuple(told.found) if told.root == "urlset" else (), cut=cut)


def _parts(body: bytes) -> Iterator[bytes]:
    if not body.startswith(_GZIP):
        yield from (body[at : at + _SLICE] for at in range(0, len(body), _SLICE))
        return
    at = members = 0
    while body.startswith(_GZIP, at):
        if members == MOST_MEMBERS:
            raise _Enough
        members += 1
        at = yield from _member(body, at)


def _member(body: bytes, at: int) -> Generator[bytes, None, int]:
    """What a member of a gzip file unpacks to, and where it ends."""
    unpacker = zlib.decompressobj(wbits=31)
    while at < len(body) and not unpacker.eof:
        packed = body[at : at + _FED]
        at += len(packed)
        while packed and not unpacker.eof:
            yield unpacker.decompress(packed, _SLICE)
            packed = unpacker.unconsumed_tail
    return at - len(unpacker.unused_data)
