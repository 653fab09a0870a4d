"""A robots.txt that cannot be had forbids everything (RFC 9309, §2.3.1.4).

Scrapy takes an answer of 5xx, and none at all, for a site that allows all. A site in trouble is the
last that wants to be crawled, and what it forbids is not known then. What answers 4xx has none, and
allows all (§2.3.1.3). Of the bundled crawl only: projects of others choose their own middleware.

Scrapy keeps what it read of each host until the end, and what is made of a robots.txt takes thirty
times its bytes: a name server that answers for any name would fill the memory with them. Here those
that were needed last are kept; of others the bytes, packed, so that a crawl of many hosts reads
that of each once; and what was dropped of these, too, is read again.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict

from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Request, Response
from scrapy.robotstxt import RobotParser
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.defer import Deferred

from reusewatch.crawler.live.guard import CappedRobots
from reusewatch.crawler.live.quiet import reason_of
from reusewatch.crawler.spiders.waiting import AGAIN

FORBIDDEN = "robotstxt/forbidden"
UNREACHABLE = "reusewatch/robots/unreachable"
# Of all robots.txt that are kept, and what a host takes that has none.
MOST_BYTES, NO_BYTES = 8 << 20, 1_000
# Of all that are packed, and what a host takes beside them.
MOST_PACKED, NO_PACKED = 32 << 20, 250


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
    """Scrapy's middleware, but for sites whose robots.txt is unreachable, and for very many."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._kept: OrderedDict[str, int] = OrderedDict()
        self._bytes = 0
        self._packed: OrderedDict[str, bytes] = OrderedDict()
        self._packed_bytes = 0

    async def robot_parser(self, request: Request) -> RobotParser | None:
        """What a host says; it is kept longer than what was asked for before."""
        host = urlparse_cached(request).netloc
        if host in self._packed:
            self._unpack(host)
        found: RobotParser | None = await super().robot_parser(request)
        if host in self._parsers and host not in self._kept:
            size = len(found.beginning) if isinstance(found, CappedRobots) else 0
            self._kept[host] = size + NO_BYTES
            self._bytes += self._kept[host]
        if host in self._kept:
            self._kept.move_to_end(host)
        while self._bytes > MOST_BYTES and len(self._kept) > 1:
            oldest, size = self._kept.popitem(last=False)
            self._bytes -= size
            self._pack(oldest, self._parsers.pop(oldest))
        return found

    def _pack(self, host: str, parser: object) -> None:
        # Where none could be had the host is asked again: it may have one by then.
        if isinstance(parser, CappedRobots):
            self._packed[host] = packed = zlib.compress(parser.beginning, 1)
            self._packed_bytes += len(packed) + NO_PACKED
        while self._packed_bytes > MOST_PACKED:
            _, packed = self._packed.popitem(last=False)
            self._packed_bytes -= len(packed) + NO_PACKED

    def _unpack(self, host: str) -> None:
        packed = self._packed.pop(host)
        self._packed_bytes -= len(packed) + NO_PACKED
        self._parsers[host] = CappedRobots.from_crawler(self.crawler, zlib.decompress(packed))

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
