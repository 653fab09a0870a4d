"""A sample of every host instead of all of one: no host is asked for more pages than so many.

Hosts cost nothing where a name server answers for any name, so a site has a bound of its own: as
many pages as twenty of its hosts. Counted when a request is made, so that what fails counts too; a
page that many link to counts once. Links of other sites get half of a host's sample: a stranger
could else fill it with pages that are not there, and nothing of the host would be fetched. What a
redirect leads to on another host counts as what is linked there. Where the crawl as a whole has a
limit, they get half of that, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request
from w3lib.url import canonicalize_url

from reusewatch.crawler.spiders.sites import Sites
from reusewatch.streams.urls import host_of_url, site_of, site_of_url

HOSTS_PER_SITE = 20


class Sample:
    """Which requests are within the sample."""

    def __init__(
        self, pages: int | None, sites: Collection[str] = (), limit: int | None = None
    ) -> None:
        """`sites`: those of the start URLs; `limit`: pages of the whole crawl."""
        self._pages = pages
        self._sites = sites
        # Pages of the start URLs' sites to which links of other sites may still lead.
        self._left_to_others = None if limit is None else max(limit // 2, 1)
        self._of_host: Counter[str] = Counter()
        self._of_site: Counter[str] = Counter()
        # Of each host, by links of other sites.
        self._of_others: Counter[str] = Counter()
        # Hashes: those of no more than are taken, and a mistaken one costs a page.
        self._taken: set[int] = set()
        self._linked: set[int] = set()

    def take(self, url: str, linked_from: str | None = None) -> bool:
        """Whether this page may be asked for; it counts if so. `linked_from`: the page, or the
        sitemap, that names it, if one does."""
        return self._is_within_limit(url, linked_from) and self._is_within_sample(url, linked_from)

    def _is_within_limit(self, url: str, linked_from: str | None) -> bool:
        if self._left_to_others is None or linked_from is None:
            return True
        if site_of_url(url) not in self._sites or site_of_url(linked_from) in self._sites:
            return True
        if (page := hash(canonicalize_url(url))) in self._linked:
            return True
        if not self._left_to_others:
            return False
        self._left_to_others -= 1
        self._linked.add(page)
        return True

    def _is_within_sample(self, url: str, linked_from: str | None) -> bool:
        if self._pages is None:
            return True
        host = host_of_url(url)
        site = site_of(host)
        if self._of_site[site] >= self._pages * HOSTS_PER_SITE:
            return False
        if self._of_host[host] >= self._pages:
            return False
        # As Scrapy has it, which asks for each page once.
        if (page := hash(canonicalize_url(url))) in self._taken:
            return True
        if linked_from is not None and site_of_url(linked_from) != site:
            if self._of_others[host] >= max(self._pages // 2, 1):
                return False
            self._of_others[host] += 1
        self._taken.add(page)
        self._of_host[host] += 1
        self._of_site[site] += 1
        return True


class SampledRedirects:
    """The downloader middleware that asks whether the page that a redirect leads to is wanted."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SampledRedirects:
        """As Scrapy makes its components."""
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        """Raise IgnoreRequest for what is not. Redirects of a robots.txt or a sitemap pass."""
        spider, came = self._crawler.spider, request.meta.get("redirect_urls")
        if not came or not isinstance(spider, Sites) or request.callback != spider.parse:
            return
        before = came[-1]
        if host_of_url(before) != host_of_url(request.url) and not spider.wanted(
            request.url, before
        ):
            raise IgnoreRequest("as many pages of this host as were asked for")
