"""The bundled spider: follows links from its start URLs, breadth first, within their sites; with
`sitemaps`, also the pages that their hosts name in sitemaps, before links where they are sampled.

It extracts nothing; what the pages hold is for the detector, by way of the add-on.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import chain
from typing import Any
from urllib.parse import urljoin

from scrapy import Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Request, Response
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from reusewatch.crawler.spiders.links import links_of
from reusewatch.crawler.spiders.sitemaps import MOST_SITEMAPS, named_in_robots, read_sitemap
from reusewatch.crawler.spiders.waiting import AGAIN, Waiting, cost_of
from reusewatch.detector.errors import BadPage
from reusewatch.streams.urls import canonical, host_of_url, site_of, site_of_url

logger = logging.getLogger(__name__)
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
        most_held: int = 0,
        wanted: Callable[[str, str | None], bool] = lambda url, linked_from: True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        roots = dict.fromkeys(urljoin(url, "/robots.txt") for url in urls)
        self._roots = tuple(roots) if sitemaps else ()
        self._waiting = Waiting(self)
        for root in self._roots:
            self._waiting.expect(site_of_url(root))
        self._sitemaps_left = MOST_SITEMAPS
        # One may be named by several hosts, or by itself.
        self._sitemaps_seen: set[str] = set()
        # How many links of a page to a host wait until its sitemaps are read: as many as are wanted
        # of it, since what they name takes the place of no more.
        self._most_held = most_held
        # Asked for each page before it is requested, with the page that names it.
        self.wanted = wanted
        self.urls = urls
        # Of the start URLs; all others are strangers'.
        self.sites = frozenset(map(site_of_url, urls))
        self.depth = depth
        # Start URLs that gave no response, or none but trouble (5xx), and why.
        self.not_fetched: dict[str, str] = {}
        # Scrapy's OffsiteMiddleware keeps requests, those of redirects too, within these.
        self.allowed_domains = [] if other_sites else sorted(self.sites)

    async def start(self) -> AsyncIterator[Request]:
        """The start URLs. Filtered like all others, so that their redirects stay on the sites."""
        for root in self._roots:
            # Seen in an earlier run it is asked for all the same: links wait for it.
            yield Request(
                root, callback=self.parse_robots, errback=self._no_robots, dont_filter=True,
                meta=_ANY_STATUS, cb_kwargs={"site": site_of_url(root)},
            )  # fmt: skip
        for url in self.urls:
            if self.wanted(url, None):
                yield Request(
                    url, callback=self.parse, errback=self._missed, cb_kwargs={},
                    meta={"reusewatch_steer": False},  # who names a page wants it
                )  # fmt: skip

    def _no_robots(self, failure: Failure) -> None:
        self._waiting.came(failure.request.cb_kwargs["site"])  # type: ignore[attr-defined]

    async def parse_robots(self, response: Response, site: str) -> AsyncIterator[Request]:
        """The pages that a host names in its sitemaps, one after the other."""
        self._waiting.came(site)
        with self._waiting.reading(site):
            left = deque(named_in_robots(response))
            while left:
                sitemap = await self._sitemap(left.popleft())
                if self._waiting.is_over:
                    response.meta[AGAIN] = True
                    return
                if sitemap is None:
                    continue
                named = read_sitemap(sitemap)
                if named.cut:
                    self._count("sitemaps_cut")
                left.extend(named.sitemaps)
                for url in named.pages:
                    if _is_web(url) and self.wanted(url, response.url):
                        yield Request(url, callback=self.parse)

    async def _sitemap(self, url: str) -> Response | None:
        """A sitemap; none where it is not there, not to be asked for, or one too many."""
        if not _is_web(url) or url in self._sitemaps_seen:
            return None
        if not self._sitemaps_left:
            self._count("sitemaps_cut")
            return None
        self._sitemaps_left -= 1
        self._sitemaps_seen.add(url)
        try:
            found: Response = await self.crawler.engine.download_async(Request(url))
        except IgnoreRequest:
            return None
        except Exception as error:  # whatever a download fails with
            logger.warning("the sitemap %s: %s", url, error or type(error).__name__)
            return None
        return found if found.status == 200 else None

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Request]:
        """The links of a page."""
        deep_enough = self.depth is not None and response.meta["depth"] >= self.depth
        if deep_enough or not isinstance(response, HtmlResponse):
            return
        if response.url == urljoin(response.url, "/robots.txt"):
            return  # it counts as no page: from one host's to the next there would be no limit
        links = links_of(response)
        if links.cut:
            self._count("links_cut")
        held: dict[str, list[str]] = {}
        for url in links.urls:
            if self._most_held and self._waiting.holds(site_of_url(url)):
                held.setdefault(host_of_url(url), []).append(url)
            elif self.wanted(url, response.url):
                yield Request(url, callback=self.parse)
        if held and not await self._known(response, held):
            response.meta[AGAIN] = True
            return
        for url in chain.from_iterable(held.values()):
            if self.wanted(url, response.url):
                yield Request(url, callback=self.parse)

    async def _known(self, response: Response, held: Mapping[str, list[str]]) -> bool:
        """Wait until what their sites name is asked for; False where the crawl ends before."""
        for urls in held.values():
            del urls[self._most_held :]
        with self._waiting.room(cost_of(response.body, held)) as fits:
            if fits:
                await self._waiting.known({site_of(host) for host in held})
        return not self._waiting.is_over

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
    """Whether it can be asked for: in a sitemap stands what its host likes."""
    try:
        canonical(url)
    except BadPage:
        return False
    return True
