"""Keeps a crawl out of traps that are told by their URLs alone: a spider middleware.

It stands where the links of a page become requests, as it must know which page a link stands on.
`REUSEWATCH_TRAPS = "dry-run"` counts and logs what `"on"` would drop, and tells nobody. Each kind
is counted; requests with `dont_filter`, and those whose meta says `reusewatch_steer: False`, pass.

A trap is told as an alert, once a crawl for each prefix and kind, on the way that its pages take:
where components repeat, the same alert that pages of it would make, had they been fetched. Not so
where only a link on another site leads there: that site may be an innocent one, and nothing of it
was fetched; nor in a dry run, since alerts steer other crawls.
"""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from reusewatch.crawler.live.project import resolved, traps_mode
from reusewatch.crawler.live.steer import META
from reusewatch.crawler.live.tap import tap_of
from reusewatch.streams.records import Alert
from reusewatch.streams.steering.distinct import Distinct
from reusewatch.streams.steering.reports import Seen, trap_alert
from reusewatch.streams.steering.traps import Growing, UrlTrap, UrlTraps, grown
from reusewatch.streams.urls import canonical, site_of_url

logger = logging.getLogger(__name__)
# Never a name that held something else: a --job directory keeps requests of earlier versions.
_GROWING = "_reusewatch_growing_since"
# Alerts of a crawl, and of one site: a page of links into traps would else make one of each.
MOST_TOLD, MOST_OF_SITE = 10_000, 100
SAVED = "reusewatch/traps/saved"


class TrapFilter:
    """Drops requests of which the URL is part of a trap."""

    def __init__(self, crawler: Crawler) -> None:
        mode = traps_mode(crawler.settings)
        if mode == "off":
            raise NotConfigured
        self._is_dry = mode == "dry-run"
        self._stats = crawler.stats
        self._traps = UrlTraps()
        self._crawler = crawler
        self._scheme = resolved(crawler.settings).settings.scheme
        self._told: set[str] = set()
        self._saved = Distinct(secrets.randbits(63))
        self._of_site: Counter[str] = Counter()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> TrapFilter:
        """As Scrapy makes its components."""
        return cls(crawler)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        """What a page gave, without the requests that lead into a trap."""
        site = site_of_url(response.url)
        async for one in result:
            if not isinstance(one, Request):
                yield one
                continue
            own = site == site_of_url(one.url)
            trap = self._trap(response, one, own=own)
            if trap is not None and (alert := self._counted(one, trap, own=own)) is not None:
                await tap_of(self._crawler).take(alert)
            if trap is None or self._is_dry:
                yield one

    def _trap(self, response: Response, request: Request, *, own: bool) -> UrlTrap | None:
        if request.dont_filter or not request.meta.get(META, True):
            return None
        growing = grown(Growing(*response.meta.get(_GROWING, ())), response.url, request.url)
        if growing.links:
            request.meta[_GROWING] = list(growing)
        else:
            request.meta.pop(_GROWING, None)  # a spider may hand its meta on
        return self._traps.find(request.url, datetime.now(UTC), growing=growing, own=own)

    def _counted(self, request: Request, trap: UrlTrap, *, own: bool) -> Alert | None:
        """Count and log a request; the alert of its trap where that is to be told, and was not yet:
        a trap has as many URLs as it likes."""
        done = "would-be-dropped" if self._is_dry else "dropped"
        self._stats.inc_value(f"reusewatch/traps/{done}")
        self._stats.inc_value(f"reusewatch/traps/{done}/{trap.kind}")
        if not self._is_dry:
            self._saved.add(request.url)
            self._stats.set_value(SAVED, len(self._saved))
        now = datetime.now(UTC)
        alert = trap_alert(trap.found, Seen(canonical(request.url), now, now), self._scheme)
        told_to_others = own and not self._is_dry
        first = told_to_others and alert.id not in self._told and self._has_room(alert)
        if first:
            self._stats.inc_value("reusewatch/traps/alerts")
        told = f"alert {alert.id}" if told_to_others else "no alert"
        level = logging.INFO if first else logging.DEBUG
        logger.log(level, "%s (%s): a crawl trap, %s, %s", request, done, trap.kind, told)
        return alert if first else None

    def _has_room(self, alert: Alert) -> bool:
        if len(self._told) >= MOST_TOLD or self._of_site[alert.site] >= MOST_OF_SITE:
            self._stats.inc_value("reusewatch/traps/untold")
            return False
        self._told.add(alert.id)
        self._of_site[alert.site] += 1
        return True
