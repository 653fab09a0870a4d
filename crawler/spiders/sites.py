"""The bundled spider: follows links from its start URLs, breadth first, within their sites; with
`sitemaps`, the pages that their hosts name in sitemaps as well.

It extracts nothing; what the pages hold is for the detector, by way of the add-on.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urljoin, urlsplit

from scrapy import Spider
from scrapy.http import HtmlResponse, Request, Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from reusewatch.crawler.spiders.links import links_of
from reusewatch.crawler.spiders.sitemaps import MOST_SITEMAPS, named_in_robots, read_sitemap
from reusewatch.streams.urls import site_of_url

_SCHEMES = ("http", "https")
# A host without a robots.txt may have a sitemap.
_ANY_STATUS = {"handle_httpstatus_all": True}


class Sites(Spider):
    """Crawls sites from their start URLs on."""

    name = "reusewatch"

    def __init__(
        self,
        urls: tuple[str, ...],
        *,
        depth: int | None,
        other_sites: bool,
        sitemaps: bool = False,
        wanted: Callable[[str], bool] = lambda url: True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._sitemaps = sitemaps
        self._sitemaps_left = MOST_SITEMAPS
        # Asked for each page before it is requested.
        self._wanted = wanted
        self.urls = urls
        self.depth = depth
        # Start URLs that gave no response, or none but trouble (5xx), and why.
        self.not_fetched: dict[str, str] = {}
        # Scrapy's OffsiteMiddleware keeps requests, those of redirects too, within these.
        self.allowed_domains = [] if other_sites else sorted({site_of_url(url) for url in urls})

    async def start(self) -> AsyncIterator[Request]:
        """The start URLs. Filtered like all others, so that their redirects stay on the sites."""
        for url in self.urls:
            if self._wanted(url):
                yield Request(
                    url, callback=self.parse, errback=self._missed, cb_kwargs={},
                    meta={"reusewatch_steer": False},  # who names a page wants it
                )  # fmt: skip
        if self._sitemaps:
            for root in dict.fromkeys(urljoin(url, "/robots.txt") for url in self.urls):
                yield Request(root, callback=self.parse_robots, meta=_ANY_STATUS)

    def parse_robots(self, response: Response) -> Iterator[Request]:
        """The sitemaps of a host."""
        return self._ask_for(named_in_robots(response))

    def parse_sitemap(self, response: Response) -> Iterator[Request]:
        """The pages of a sitemap, and other sitemaps."""
        named = read_sitemap(response)
        if named.cut:
            self._count("sitemaps_cut")
        yield from self._ask_for(named.sitemaps)
        for url in named.pages:
            if _is_web(url) and self._wanted(url):
                yield Request(url, callback=self.parse)

    def _ask_for(self, sitemaps: Sequence[str]) -> Iterator[Request]:
        for url in filter(_is_web, sitemaps):
            if not self._sitemaps_left:
                self._count("sitemaps_cut")
                return
            self._sitemaps_left -= 1
            yield Request(url, callback=self.parse_sitemap)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """The links of a page."""
        deep_enough = self.depth is not None and response.meta["depth"] >= self.depth
        if deep_enough or not isinstance(response, HtmlResponse):
            return
        links = links_of(response)
        if links.cut:
            self._count("links_cut")
        for url in links.urls:
            if self._wanted(url):
                yield Request(url, callback=self.parse)

    def _count(self, what: str) -> None:
        self.crawler.stats.inc_value(f"reusewatch/{what}")

    def _missed(self, failure: Failure) -> None:
        text = failure.getErrorMessage() or type(failure.value).__name__
        if isinstance(failure.value, HttpError):
            status = failure.value.response.status
            if status < 500:
                return  # a response all the same
            text = f"it answered {status}"
        request = failure.request  # type: ignore[attr-defined]
        first = request.meta.get("redirect_urls", [request.url])[0]
        self.not_fetched[first] = text


def _is_web(url: str) -> bool:
    return urlsplit(url).scheme in _SCHEMES
