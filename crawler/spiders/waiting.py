"""Links that wait until what their hosts name in sitemaps has been asked for.

A sample of a host is for the pages that it names itself; links of its first page, which are there
before any sitemap, would take all of it. A page whose links wait is not done with, so that a crawl
that goes on later asks for it again. It is a site that is waited for: a host without `www` often
sends all there, its robots.txt too. How long, and how much waits, is bounded: past that links are
followed at once, which is counted.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from scrapy import Spider
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.task import deferLater

# Set in the meta of a request that was not sent, or whose page is not done with, and that is to be
# sent when the crawl goes on.
AGAIN = "_reusewatch_again"
# Of pages and links that wait. Scrapy asks for nothing while pages that it is not done with take
# more than SCRAPER_SLOT_MAX_ACTIVE_SIZE: that must be more, or all would wait for each other.
MOST_BYTES = 16 << 20
# A host that answers slowly, and names many sitemaps, would hold up its own pages for hours.
MOST_SECONDS = 300.0
_LOOK_SECONDS = 0.05
_NEVER = 1 << 60


class Waiting:
    """Which hosts' sitemaps are not read yet, and who waits for them."""

    def __init__(self, spider: Spider) -> None:
        self._spider = spider
        # By site: a robots.txt that did not come yet, and one of which the sitemaps are read now.
        self._expected: Counter[str] = Counter()
        self._read: Counter[str] = Counter()
        self._until: dict[str, float] = {}
        self._bytes = 0

    def expect(self, site: str) -> None:
        """A robots.txt of this site is asked for."""
        self._expected[site] += 1

    def came(self, site: str) -> None:
        """It came, or will not come."""
        self._expected[site] -= 1

    @contextmanager
    def reading(self, site: str) -> Iterator[None]:
        """Meanwhile the sitemaps of this site are read."""
        self._read[site] += 1
        try:
            yield
        finally:
            self._read[site] -= 1

    def holds(self, site: str) -> bool:
        """Whether links to this site wait."""
        if self._expected[site] <= 0 and self._read[site] <= 0:
            return False
        now = time.monotonic()
        if self._until.setdefault(site, now + MOST_SECONDS) > now:
            return True
        self._expected[site] = self._read[site] = -_NEVER
        self._count()
        return False

    @property
    def is_over(self) -> bool:
        """Whether the crawl ends, so that who waits would wait for nothing."""
        slot = self._spider.crawler.engine._slot
        return slot is None or slot.closing is not None

    @contextmanager
    def room(self, size: int) -> Iterator[bool]:
        """Whether so many bytes may wait."""
        fits = self._bytes + size <= MOST_BYTES
        if not fits:
            self._count()
        self._bytes += size if fits else 0
        try:
            yield fits
        finally:
            self._bytes -= size if fits else 0

    def _count(self) -> None:
        self._spider.crawler.stats.inc_value("reusewatch/waiting_cut")

    async def known(self, sites: Collection[str]) -> None:
        """Wait until all that these sites name is asked for, or the crawl ends."""
        from twisted.internet import reactor

        while not self.is_over and any(map(self.holds, sites)):
            await maybe_deferred_to_future(deferLater(reactor, _LOOK_SECONDS, lambda: None))


def cost_of(body: bytes, links: Mapping[str, Sequence[str]]) -> int:
    """The bytes that a page with links that wait holds."""
    return len(body) + sum(len(url) for urls in links.values() for url in urls)
