"""The pages that a host names in its sitemaps (sitemaps.org).

Sitemaps are those that its robots.txt names, else /sitemap.xml; one may name others. How many are
read, and how many pages are taken of each, is bounded.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import urljoin

from scrapy.http import Response
from scrapy.utils.sitemap import Sitemap, sitemap_urls_from_robots

MOST_SITEMAPS = 50
MOST_PAGES = 50_000
MOST_BYTES = 50 << 20  # of one sitemap, unpacked, as the protocol has it
_GZIP = b"\x1f\x8b"


def named_in_robots(response: Response) -> list[str]:
    """The sitemaps that a robots.txt names; without any, where one is looked for."""
    text = response.body if response.status == 200 else b""
    found = list(sitemap_urls_from_robots(text, base_url=response.url))
    return found[:MOST_SITEMAPS] or [urljoin(response.url, "/sitemap.xml")]


def read_sitemap(response: Response) -> tuple[list[str], list[str]]:
    """The pages and the sitemaps that a sitemap names; of what is none, nothing."""
    try:
        found = Sitemap(_unpacked(response.body))
        names = list(_locations(found))
    except (ValueError, OSError, EOFError, zlib.error):
        return [], []
    return ([], names[:MOST_SITEMAPS]) if found.type == "sitemapindex" else (names, [])


def _unpacked(body: bytes) -> bytes:
    if not body.startswith(_GZIP):
        return body
    with gzip.GzipFile(fileobj=BytesIO(body)) as packed:
        return packed.read(MOST_BYTES)


def _locations(sitemap: Sitemap) -> Iterator[str]:
    for number, entry in enumerate(sitemap):
        if number >= MOST_PAGES:
            return
        location = entry.get("loc")
        if isinstance(location, str):
            yield location
