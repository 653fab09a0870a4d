"""The tap: a downloader middleware that hands every response to the feeder, and waits for room.

Why here. Signals cannot wait: their handlers return at once, and a bus slower than the crawl would
fill the memory. Spider middlewares come late: redirects, retries and what HttpError filters never
reach them. A downloader middleware nearest the downloader sees every response once, as it was
fetched, and may be a coroutine. While it waits its request counts as active, so CONCURRENT_REQUESTS
holds back new ones, and the reactor goes on.

Before the first request the sink is open, or the spider is closed with the reason. A sink that
fails later closes the spider. After `spider_closed` everything is safe, or an error says how much
is not.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DownloadCancelledError
from scrapy.http import Request, Response
from scrapy.utils.asyncio import create_looping_call, is_asyncio_available
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

from reusewatch.crawler.exit_codes import UNREACHABLE, code_of
from reusewatch.crawler.live.collecting import LeftAlone
from reusewatch.crawler.live.ending import LOST, LastWords, at_end
from reusewatch.crawler.live.feeder import Feeder, Item
from reusewatch.crawler.live.fetched import fetched, letter, maker, skip_kind
from reusewatch.crawler.live.project import (
    EXIT_CODE,
    MUST_BE_THERE,
    capacity,
    gather_seconds,
    resolved,
    warc_files,
)
from reusewatch.crawler.live.quiet import spare
from reusewatch.crawler.live.watching import CrawlWatch, Pulse
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.detector.errors import BadPage
from reusewatch.streams.running.sinks import PageSink, open_live_sink

logger = logging.getLogger(__name__)
_BEAT_SECONDS = 1.0
# Nothing was fetched.
_NEVER_KEPT = frozenset({"cached", "other-scheme"})


class Tap:
    """Every response, once, onto the bus."""

    def __init__(self, crawler: Crawler) -> None:
        self.responses = 0
        # What else than the bus ended the crawl.
        self.trouble: Exception | None = None
        self.skipped: Counter[str] = Counter()
        self._crawler = crawler
        self._settings = resolved(crawler.settings).settings
        spare()
        self._left_alone = LeftAlone()
        self._waiting: list[Deferred[None]] = []
        self._closing = self._told = False
        self._must_be_there = crawler.settings.getbool(MUST_BE_THERE)
        self._ends_process = crawler.settings.getbool(EXIT_CODE, True)
        # Once set, an outage of the broker is no longer waited out.
        self._leaving = threading.Event()
        self._beat = create_looping_call(self._look)
        self._source = f"scrapy:{crawler.spidercls.name}"
        self._files = warc_files(crawler.settings)
        limits = Limits(max_body_bytes=self._settings.max_body_bytes)
        keep = None if self._files is None else self._files.write
        self.feeder = Feeder(
            self._open_sink,
            maker(self._source, self._settings.scheme, limits, keep),
            checkpoint_seconds=self._settings.commit_seconds,
            changed=self._changed,
            capacity=capacity(crawler.settings),
            gather_seconds=gather_seconds(crawler.settings),
        )
        self._pulse = Pulse()
        self.watch = CrawlWatch(
            crawler, self._settings, figures=self.figures, waiting=self.feeder.waiting,
            opened=lambda: self.feeder.opened, pulse=self._pulse,
        )  # fmt: skip
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Tap:
        """As Scrapy makes its components."""
        return cls(crawler)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Hand the response on, and let it pass as it is."""
        self.responses += 1
        self._pulse.beat()
        if kind := skip_kind(request, response):
            self.skipped[kind] += 1
            if self._files is not None and kind not in _NEVER_KEPT:
                await self.take(fetched(response, skipped=kind, whole=True))
        else:
            await self.take(fetched(response, whole=self._files is not None))
        return response

    async def process_exception(self, request: Request, exception: Exception) -> None:
        """A download that was cut off for its size is a page that could not be taken."""
        if isinstance(exception, DownloadCancelledError):
            self.responses += 1
            most = self._settings.max_body_bytes
            error = BadPage("too-large", str(exception) or f"more than {most} bytes")
            await self.take(letter(self._source, request.url, error))

    async def take(self, item: Item) -> None:
        """Hand something to the feeder, once there is room."""
        while not self.feeder.offer(item):
            await self._change()

    def close_for(self, error: Exception) -> None:
        """Close the spider for trouble that is none of the bus's: what was taken is made safe."""
        if self.trouble is not None:
            return
        self.trouble = error
        logger.error("%s", _reason(error))
        self._close(error)

    async def _opened(self, spider: Spider) -> None:
        self._call_soon = _from_threads()
        if self._ends_process:
            at_end(self._last_words)
        self.feeder.start()
        self._beat.start(_BEAT_SECONDS, now=False)
        while not self.feeder.opened and self.feeder.failure is None:
            await self._change()
        if self.feeder.failure is not None:
            self._tell()
            raise CloseSpider(_reason(self.feeder.failure))
        self.watch.open(logger.warning)
        # With all that was loaded to open the bus.
        self._left_alone.begin()

    async def _closed(self, spider: Spider) -> None:
        if not self.feeder.started:  # the scheduler could not be opened: nobody would end it
            return
        self._closing = True
        self._left_alone.end()
        self.feeder.finish()
        self._look()
        while not self.feeder.closed:
            await self._change()
        if self._files is not None:
            self._files.close()
        if self._beat.running:
            self._beat.stop()
        self.watch.close()
        self._publish()
        self._tell()
        if self._ends_process:
            at_end(self._last_words)

    def _last_words(self) -> list[LastWords]:
        """Asked when the process ends, whether or not the spider was closed before."""
        account, failure = self.feeder.account, self.feeder.failure
        if failure is not None:
            code = code_of(failure) or LOST
            return [LastWords(f"{_reason(failure)}; {_lost(account.lost)}", code)]
        if not self.feeder.closed:
            # Told twice to stop, Scrapy waits for nobody; told while nothing runs, neither.
            lost = account.lost + self.feeder.waiting()
            if lost or not self.feeder.opened:
                left = "reusewatch: the process was ended before the bus took everything"
                return [LastWords(f"{left}; {_lost(lost)}", LOST if lost else UNREACHABLE)]
        said = [LastWords(f"reusewatch: {_lost(account.lost)}", LOST)] if account.lost else []
        if account.remark is not None:
            said.append(LastWords(f"reusewatch: {account.remark}"))
        return said

    def _open_sink(self) -> PageSink:
        return open_live_sink(
            self._settings, say=logger.warning, stop=self._leaving,
            must_be_there=self._must_be_there,
        )  # fmt: skip

    def leave(self) -> None:
        """Wait for the bus no longer."""
        self._leaving.set()

    async def _change(self) -> None:
        """Until the feeder has changed."""
        waiter: Deferred[None] = Deferred()
        self._waiting.append(waiter)
        await maybe_deferred_to_future(waiter)

    def _changed(self) -> None:
        """Called by the feeder, in its thread."""
        with suppress(RuntimeError):  # the loop was closed by force; nobody waits any more
            self._call_soon(self._wake)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.called:
                waiter.callback(None)
        if self.feeder.failure is not None and self.feeder.opened and not self._closing:
            self._tell()
            self._close(self.feeder.failure)

    def _close(self, error: Exception) -> None:
        if not self._closing:
            self._closing = True
            reason = _reason(error)
            deferred_from_coro(self._crawler.engine.close_spider_async(reason=reason))

    def _look(self) -> None:
        """Now and then: publish the figures, and see whether the crawl was told to stop."""
        self._publish()
        if self._ends_process:
            at_end(self._last_words)
        # Scrapy has no signal for the beginning of a shutdown. Before the sink is open the engine
        # does not run yet, and right after it may not.
        begun = self.responses or self._closing
        if (begun and not self._crawler.engine.running) or not self._crawler.crawling:
            self._leaving.set()

    def figures(self) -> dict[str, Any]:
        """What is known so far, by the names of the stats without their prefix."""
        account = self.feeder.account
        skipped = self.skipped + Counter({"content-type": account.not_pages})
        return {
            "responses": self.responses,
            "pages": account.pages,
            "dead_letters": account.dead_letters,
            "alerts": account.alerts,
            "not_safe": account.not_safe,
            "lost": account.lost,
            "untold": account.untold,
            "queue_peak": self.feeder.most_waiting,
            "skipped": dict(sorted(skipped.items())),
        }

    def _publish(self) -> None:
        figures = self.figures()
        for kind, count in figures.pop("skipped").items():
            self._crawler.stats.set_value(f"reusewatch/skipped/{kind}", count)
        for name, value in figures.items():
            if value is not None:
                self._crawler.stats.set_value(f"reusewatch/{name}", value)

    def _tell(self) -> None:
        error = self.feeder.failure
        if error is None or self._told:
            return
        self._told = True
        logger.error("%s; %s", _reason(error), _lost(self.feeder.account.lost))


def tap_of(crawler: Crawler) -> Tap:
    """The tap of a crawl that has begun: the add-on sets it."""
    tap = crawler.get_downloader_middleware(Tap)
    assert tap is not None  # noqa: S101 - see above
    return tap


def _lost(count: int) -> str:
    return f"{count} responses may not be on the bus"


def _reason(error: Exception) -> str:
    return f"reusewatch: {error or type(error).__name__}"


def _from_threads() -> Callable[[Callable[[], None]], object]:
    """What calls a function in the reactor's thread, from any other."""
    if is_asyncio_available():
        return asyncio.get_running_loop().call_soon_threadsafe
    from twisted.internet import reactor

    call: Callable[[Callable[[], None]], object] = reactor.callFromThread
    return call
