"""Keeps a crawl out of traps that are told by their URLs alone: a spider middleware.

It stands where the links of a page become requests, as it must know which page a link stands on.
`REUSEWATCH_TRAPS = "dry-run"` counts and logs what `"on"` would drop. Each kind is counted;
requests with `dont_filter`, and those whose meta says `reusewatch_steer: False`, pass.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from reusewatch.crawler.live.project import traps_mode
from reusewatch.crawler.live.steer import META
from reusewatch.streams.steering.traps import UrlTraps, grows
from reusewatch.streams.urls import site_of_url

logger = logging.getLogger(__name__)
_GROWING = "_reusewatch_growing"
_MOST_TOLD = 10_000


class TrapFilter:
    """Drops requests of which the URL is part of a trap."""

    def __init__(self, crawler: Crawler) -> None:
        mode = traps_mode(crawler.settings)
        if mode == "off":
            raise NotConfigured
        self._is_dry = mode == "dry-run"
        self._stats = crawler.stats
        self._traps = UrlTraps()
        self._told: set[tuple[str, str]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TrapFilter:
        """As Scrapy makes its components."""
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """What a page gave, without the requests that lead into a trap."""
        async for one in result:
            if not isinstance(one, Request) or self._passes(response, one):
                yield one

    def _passes(self, response: Response, request: Request) -> bool:
        if request.dont_filter or not request.meta.get(META, True):
            return True
        growing = 0
        if grows(response.url, request.url):
            growing = response.meta.get(_GROWING, 0) + 1
            request.meta[_GROWING] = growing
        else:
            request.meta.pop(_GROWING, None)  # a spider may hand its meta on
        own = site_of_url(response.url) == site_of_url(request.url)
        kind = self._traps.kind_of(request.url, datetime.now(UTC), growing=growing, own=own)
        if kind is None:
            return True
        done = "would-be-dropped" if self._is_dry else "dropped"
        self._stats.inc_value(f"reusewatch/traps/{done}")
        self._stats.inc_value(f"reusewatch/traps/{done}/{kind}")
        self._tell(request, kind, done)
        return self._is_dry

    def _tell(self, request: Request, kind: str, done: str) -> None:
        """The first of each kind and directory aloud: a trap has as many URLs as it likes."""
        place = (kind, request.url.partition("?")[0].rpartition("/")[0])
        first = place not in self._told and len(self._told) < _MOST_TOLD
        if first:
            self._told.add(place)
        level = logging.INFO if first else logging.DEBUG
        logger.log(level, "%s (%s): a crawl trap, %s", request, done, kind)
