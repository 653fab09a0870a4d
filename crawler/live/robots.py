"""A robots.txt that cannot be had forbids everything (RFC 9309, §2.3.1.4).

Scrapy takes an answer of 5xx, and none at all, for a site that allows all. A site in trouble is the
last that wants to be crawled, and what it forbids is not known then. What answers 4xx has none, and
allows all (§2.3.1.3). Of the bundled crawl only: projects of others choose their own middleware.
"""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.robotstxt import RobotParser
from twisted.internet.defer import Deferred

from reusewatch.crawler.live.quiet import reason_of
from reusewatch.crawler.spiders.waiting import AGAIN

FORBIDDEN = "robotstxt/forbidden"
UNREACHABLE = "reusewatch/robots/unreachable"


class Unreachable(RobotParser):
    """What stands for a robots.txt that is not there for `reason`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    @classmethod
    def from_crawler(cls, crawler: Crawler, robotstxt_body: bytes) -> Unreachable:
        """As parsers are made; there is nothing to parse."""
        return cls("nothing was read")

    def allowed(self, url: str | bytes, user_agent: str | bytes) -> bool:
        """Nothing is."""
        return False


class Robots(RobotsTxtMiddleware):
    """Scrapy's middleware, but for sites whose robots.txt is unreachable."""

    def process_request_2(self, rp: RobotParser | None, request: Request) -> None:
        """Raise IgnoreRequest for what is forbidden."""
        if isinstance(rp, Unreachable):
            self._stats.inc_value(FORBIDDEN)
            self._stats.inc_value(UNREACHABLE)
            # A crawl that goes on asks again: the site may be back then.
            request.meta[AGAIN] = True
            raise IgnoreRequest(f"robots.txt cannot be had, so nothing is allowed: {rp.reason}")
        super().process_request_2(rp, request)

    async def _parse_robots(self, response: Response, netloc: str, request: Request) -> None:
        if response.status < 500:
            await super()._parse_robots(response, netloc, request)
        else:
            self._give_up(netloc, f"it answered {response.status}")

    def _robots_error(self, exc: Exception, netloc: str) -> None:
        if isinstance(exc, IgnoreRequest):
            # Kept out by ourselves: the site was not asked, and its pages are kept out likewise.
            super()._robots_error(exc, netloc)
        else:
            self._give_up(netloc, reason_of(exc))

    def _give_up(self, netloc: str, reason: str) -> None:
        """Tell all who wait for this robots.txt."""
        waiting, none = self._parsers[netloc], Unreachable(reason)
        self._parsers[netloc] = none
        if isinstance(waiting, Deferred):
            waiting.callback(none)
