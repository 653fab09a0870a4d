"""The links of a page, as far as a crawl goes along with them.

A tree of a page with a million links takes a gigabyte and a minute. Here no tree is made: the tags
are told one by one while the page is read, and reading ends at so many links or bytes, or looks at
what is open. What is read for links is bounded by itself, since a page of many bytes may be one
that is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from lxml import etree
from scrapy.http import TextResponse
from scrapy.linkextractors import IGNORED_EXTENSIONS
from scrapy.utils.response import get_base_url
from scrapy.utils.url import url_has_any_extension
from w3lib.url import safe_url_string

from reusewatch.streams.urls import MAX_URL

# A page of a million links would fill the memory with requests.
MAX_LINKS = 5_000
MAX_BYTES = 4 << 20
# Addresses that are looked at, whatever they lead to.
MAX_TAGS = 20_000
# For an end tag of what is not open libxml2 looks through all that is: a page of 4 MB, half of it
# elements within each other and half such ends, would stop the crawl for minutes. This is a second.
MAX_LOOKS = 1 << 29
_SLICE = 1 << 16
_TAGS = frozenset({"a", "area"})
_EXTENSIONS = frozenset(f".{name}" for name in IGNORED_EXTENSIONS)
# What browsers leave out of the ends of an address, and everywhere in it.
_BLANK = " \t\n\r\f\v"
_NOWHERE = {ord(letter): None for letter in "\t\n\r"}


@dataclass(frozen=True, slots=True)
class Links:
    """URLs without fragment, each once, in their order; `cut`: there may be more."""

    urls: tuple[str, ...]
    cut: bool


class _Enough(Exception):
    """As many links as are taken."""


class _Tags:
    """What the parser tells of a page."""

    def __init__(self, base: str, encoding: str, most: int) -> None:
        self.found: dict[str, None] = {}
        self._given: set[str] = set()
        self._base = base
        self._encoding = encoding
        self._most = most
        # How many elements are open.
        self.depth = 0

    def start(self, tag: str, attributes: Any) -> None:
        """A tag begins."""
        self.depth += 1
        if tag not in _TAGS or not (given := attributes.get("href")) or given in self._given:
            return
        if len(self._given) >= MAX_TAGS:
            raise _Enough
        self._given.add(given)
        url = _url_of(self._base, given, self._encoding)
        if url is None or url in self.found:
            return
        if len(self.found) >= self._most:
            raise _Enough
        self.found[url] = None

    def end(self, tag: str) -> None:
        """An element ends, whether or not the page says so."""
        self.depth -= 1

    def close(self) -> None:
        """The page has ended."""


def links_of(
    response: TextResponse, *, most: int = MAX_LINKS, most_bytes: int = MAX_BYTES
) -> Links:
    """The links of a page to pages of the web."""
    tags = _Tags(get_base_url(response), response.encoding, most)
    body = response.text.encode("utf-8", "replace")
    parser = etree.HTMLParser(target=tags, encoding="utf-8", huge_tree=True)
    looks = 0
    try:
        for at in range(0, min(len(body), most_bytes), _SLICE):
            part = body[at : min(at + _SLICE, most_bytes)]
            looks += part.count(b"</") * tags.depth
            if looks > MAX_LOOKS:
                raise _Enough
            parser.feed(part)
        parser.close()
    except _Enough:
        return Links(tuple(tags.found), cut=True)
    except etree.XMLSyntaxError:
        pass  # what had been told before that counts
    return Links(tuple(tags.found), cut=len(body) > most_bytes)


def _url_of(base: str, given: str, encoding: str) -> str | None:
    if len(given) > MAX_URL:
        return None
    try:
        url = urljoin(base, given.strip(_BLANK).translate(_NOWHERE)).partition("#")[0]
        if urlsplit(url).scheme not in ("http", "https"):
            return None
        url = safe_url_string(url, encoding)
    except ValueError:
        return None
    return None if url_has_any_extension(url, _EXTENSIONS) else url
