"""A scheduler in which only so much waits: Scrapy's, with a bound for each site and for all.

Links cost their maker nothing: a host whose pages have five thousand new ones each fills the memory
within an hour, however seldom it is asked. What is over the bound is left out, and counted; it is
not noted as seen, so that a page that is met again later has its turn. What is near the start URLs
was there first, and stays.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from scrapy import Spider
from scrapy.core.scheduler import Scheduler
from scrapy.crawler import Crawler
from scrapy.http import Request
from twisted.internet.defer import Deferred

from reusewatch.streams.urls import site_of_url

# Requests that wait; of one site about a hundred megabytes. One of a long URL is as several.
MOST_OF_SITE, MOST = 100_000, 1_000_000
_URL_BYTES = 1 << 10
CUT = "reusewatch/queue_cut"


class BoundedQueue(Scheduler):
    """Scrapy's scheduler, which takes no more than that."""

    crawler: Crawler
    _waiting: Counter[str]
    _total: int

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Begin with nothing; what an earlier run left does not count."""
        self._waiting, self._total = Counter(), 0
        opened: Deferred[None] | None = super().open(spider)
        return opened

    def enqueue_request(self, request: Request) -> bool:
        """Whether the request was taken."""
        site = site_of_url(request.url)
        if not request.dont_filter and self._is_full(site):
            self.crawler.stats.inc_value(CUT)
            return False
        taken: bool = super().enqueue_request(request)
        if taken:
            self._waiting[site] += (cost := _cost(request))
            self._total += cost
        return taken

    def _is_full(self, site: str) -> bool:
        return self._waiting[site] >= MOST_OF_SITE or self._total >= MOST

    def next_request(self) -> Any:
        """The next request."""
        request = super().next_request()
        if request is not None and (waiting := self._waiting[site := site_of_url(request.url)]):
            gone = min(_cost(request), waiting)
            self._total -= gone
            self._waiting[site] -= gone
            if not self._waiting[site]:
                del self._waiting[site]
        return request


def _cost(request: Request) -> int:
    return 1 + len(request.url) // _URL_BYTES
