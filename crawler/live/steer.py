"""The steering: a downloader middleware that keeps a crawl out of what was found bad.

Scrapy asks twice. `request_scheduled` comes for each request before any scheduler has it, whichever
that is: what is dropped there is not even remembered as seen, and can be asked for again when the
place has come back. `process_request` comes before a request is sent, for what waited in a queue
while something was found. Requests with `dont_filter`, and those whose meta says
`reusewatch_steer: False`, are sent as they are, and so is what asks for a robots.txt.

Each decision is counted in Scrapy's stats and logged with the id of its alert; `dry-run` counts and
logs what it would have done. The spider begins when what was found before is known and, on a local
bus, when somebody judges.
"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Request
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.task import deferLater

from reusewatch.crawler.live.fetched import is_robots
from reusewatch.crawler.live.project import resolved, steering_rules
from reusewatch.streams import kernels
from reusewatch.streams.local.judged import read_judged
from reusewatch.streams.local.spools import holder_of
from reusewatch.streams.opening import open_bus, state_directory
from reusewatch.streams.running.stage_names import JUDGES
from reusewatch.streams.settings import Settings
from reusewatch.streams.steering.delays import Delays
from reusewatch.streams.steering.distinct import Distinct
from reusewatch.streams.steering.following import Following
from reusewatch.streams.steering.places import KeptOut, Places
from reusewatch.streams.steering.rules import Decision, Steering

logger = logging.getLogger(__name__)
META = "reusewatch_steer"
_DECIDED = "_reusewatch_steered"
_PATIENCE_SECONDS = 30.0
# The first judge of a machine compiles its kernels, which takes longer where much else is done.
_COMPILING_SECONDS = 180.0
_LOOK_SECONDS = 0.05
_DONE = {"drop": "dropped", "lower": "lowered", "keep": "sampled"}
# The stats that scripts rely on, by what is done.
_STATS = {"dropped": "dropped", "would-be-dropped": "would_drop", "sampled": "let_through"}
SAVED = "reusewatch/steered/saved"


class KeptOutOf(IgnoreRequest):
    """A request to a place that the crawl keeps out of."""


class Steer:
    """Decides on each request."""

    def __init__(self, crawler: Crawler) -> None:
        rules = steering_rules(crawler.settings)
        if rules.mode == "off":
            raise NotConfigured
        self._crawler = crawler
        self._settings: Settings = resolved(crawler.settings).settings
        self._is_dry = rules.mode == "dry-run"
        self._told: set[str] = set()
        self._closing = False
        self.steering = Steering(rules)
        self._saved = Distinct(rules.seed)
        self.delays = Delays(datetime.now(UTC))
        self.following = Following(
            lambda stop: open_bus(self._settings, stop=stop),
            lambda: Places(expires=rules.expires, unsure=True, narrow=True),
            self._hold,
            logger.warning,
        )
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._scheduled, signals.request_scheduled)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Steer:
        """As Scrapy makes its components."""
        return cls(crawler)

    def _hold(self, places: list[KeptOut]) -> None:
        """Called in the thread that follows what is found."""
        self.steering.hold(places)
        self.delays.saw(places, datetime.now(UTC))

    def process_request(self, request: Request) -> Request | None:
        """Let a request pass, put it back behind the others, or raise KeptOutOf."""
        decision = self._decide(request)
        if decision is None or decision.action == "keep":
            return None
        if decision.action == "drop":
            raise KeptOutOf(_words(decision))
        # It was seen already: who filters what was seen would drop it.
        return request.replace(priority=self._lowered(request), dont_filter=True)

    def _scheduled(self, request: Request, spider: Spider) -> None:
        decision = self._decide(request)
        if decision is not None and decision.action == "drop":
            raise KeptOutOf(_words(decision))
        if decision is not None and decision.action == "lower":
            request.priority = self._lowered(request)

    def _lowered(self, request: Request) -> int:
        return request.priority - self.steering.rules.lowered

    def _decide(self, request: Request) -> Decision | None:
        """What is to be done now; None where nothing is, or where it was done before."""
        meta = request.meta
        # What says where nobody may go is read of every host: without it all would be allowed.
        if is_robots(request.url):
            return None
        if not meta.get(META, True) or (request.dont_filter and _DECIDED not in meta):
            return None
        decision = self.steering.decide(request.url, datetime.now(UTC))
        if decision is None or meta.get(_DECIDED) == decision.action:
            return None
        meta[_DECIDED] = decision.action
        self._count(decision, request)
        return None if self._is_dry else decision

    def _count(self, decision: Decision, request: Request) -> None:
        done = f"would-be-{_DONE[decision.action]}" if self._is_dry else _DONE[decision.action]
        self._crawler.stats.inc_value(f"reusewatch/steer/{done}")
        self._crawler.stats.inc_value(f"reusewatch/steer/{done}/{decision.place.kind}")
        if (name := _STATS.get(done)) is not None:
            self._crawler.stats.inc_value(f"reusewatch/steered/{name}")
        if done == "dropped":
            # A link that stands on each page of a site was one request, had it been sent.
            self._saved.add(request.url)
            self._crawler.stats.set_value(SAVED, len(self._saved))
        # A place may hold millions of URLs: the first request tells of it.
        first = decision.place.alert not in self._told
        self._told.add(decision.place.alert)
        level = logging.INFO if first else logging.DEBUG
        logger.log(level, "%s (%s): %s", request, done, _words(decision))

    async def _opened(self, spider: Spider) -> None:
        from twisted.internet import reactor

        for name in (*_STATS.values(), "saved"):
            self._crawler.stats.set_value(f"reusewatch/steered/{name}", 0)
        self.following.start()
        began, patience = time.monotonic(), _PATIENCE_SECONDS
        while not self._is_ready() and not self._closing:
            if time.monotonic() >= began + patience:
                # Asked late: elsewhere than on Linux it loads what compiles, and takes 40 MB.
                if patience == _COMPILING_SECONDS or kernels.are_compiled():
                    break
                patience = _COMPILING_SECONDS
            await maybe_deferred_to_future(deferLater(reactor, _LOOK_SECONDS, lambda: None))
        if not self._is_ready() and not self._closing:
            logger.warning("the crawl begins, and what was found before is not known yet")

    def _is_ready(self) -> bool:
        return self.following.known.is_set() and _is_judged(self._settings)

    def _closed(self, spider: Spider) -> None:
        self._closing = True
        self.following.stop()
        for name, seconds in self.delays.figures().items():
            self._crawler.stats.set_value(f"reusewatch/steer/seconds/{name}", seconds)


def _is_judged(settings: Settings) -> bool:
    """Whether somebody judges on a local bus; who judges on Kafka is not this machine's."""
    if not settings.bus.startswith("local:"):
        return True
    directory = state_directory(settings)
    return holder_of(directory) == (str(read_judged(directory).pid), JUDGES)


def _words(decision: Decision) -> str:
    place = decision.place
    return f"{place.prefix} is a {place.kind}, alert {place.alert}"
