"""A budget of pages: no request is sent that could exceed it.

Scrapy's own limit (CLOSESPIDER_PAGECOUNT) closes the spider, and what is on its way still comes:
sixteen pages where one was asked for. Here each download holds a share of the budget, keeps it if
it brought a page, and gives it back if not; who finds none left waits until that is decided.

Links cost their maker nothing, so pages of other sites than the start URLs' take half of the budget
at most: a stranger could else fill all of it with links to pages of his own. A job that goes on
later asks again for what was left out.
"""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request, Response
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from reusewatch.crawler.live.fetched import is_robots, skip_kind
from reusewatch.crawler.spiders.sites import Sites
from reusewatch.crawler.spiders.waiting import AGAIN
from reusewatch.streams.urls import site_of_url

LIMIT = "BUDGET_PAGES"
REASON = "limit_pages"
OTHERS_CUT = "reusewatch/others_cut"


class Budget:
    """The downloader middleware that holds requests back."""

    def __init__(self, crawler: Crawler, pages: int) -> None:
        self._crawler = crawler
        self._left = pages
        self._left_to_others = max(pages // 2, 1)
        self._shares: set[Request] = set()
        # Of these, the requests to other sites.
        self._of_others: set[Request] = set()
        self._waiting: list[Deferred[None]] = []
        self._closing = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Budget:
        """As Scrapy makes its components."""
        pages = crawler.settings.getint(LIMIT)
        if not pages:
            raise NotConfigured
        return cls(crawler, pages)

    async def process_request(self, request: Request) -> None:
        """Wait for a share of the budget; raises IgnoreRequest when it is spent."""
        if is_robots(request.url):
            return
        other = self._is_other(request)
        while self._is_taken(other=other) and self._crawler.engine.running:
            waiter: Deferred[None] = Deferred()
            self._waiting.append(waiter)
            await maybe_deferred_to_future(waiter)
        if len(self._shares) >= self._left:
            request.meta[AGAIN] = True
            raise IgnoreRequest("as many pages as were asked for")
        if other and len(self._of_others) >= self._left_to_others:
            request.meta[AGAIN] = True
            self._crawler.stats.inc_value(OTHERS_CUT)
            raise IgnoreRequest("as many pages of other sites as half of the limit")
        self._shares.add(request)
        if other:
            self._of_others.add(request)

    def _is_taken(self, *, other: bool) -> bool:
        """Whether a budget is not spent yet, and all that is left of it is under way."""
        if other and self._left_to_others <= len(self._of_others):
            return self._left_to_others > 0 and self._left > 0
        return 0 < self._left <= len(self._shares)

    def _is_other(self, request: Request) -> bool:
        spider = self._crawler.spider
        return isinstance(spider, Sites) and site_of_url(request.url) not in spider.sites

    def process_response(self, request: Request, response: Response) -> Response:
        """A page is paid for."""
        self._settle(request, pages=skip_kind(request, response) is None)
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """No page: the share goes back."""
        self._settle(request, pages=0)

    def _settle(self, request: Request, *, pages: int) -> None:
        if request not in self._shares:
            return
        self._shares.remove(request)
        self._left -= pages
        if request in self._of_others:
            self._of_others.remove(request)
            self._left_to_others -= pages
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            waiter.callback(None)
        if not self._left and not self._closing:
            self._closing = True
            deferred_from_coro(self._crawler.engine.close_spider_async(reason=REASON))
