"""One run of the bundled crawl: Scrapy's process, told to stop by us, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any

from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.exceptions import IgnoreRequest
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.task import LoopingCall
from twisted.python.failure import Failure

from reusewatch.crawler.live.journal import Journal
from reusewatch.crawler.live.manners import Plan, scrapy_settings
from reusewatch.crawler.live.quiet import hush
from reusewatch.crawler.live.resuming import JOURNAL
from reusewatch.crawler.live.robots import FORBIDDEN, UNREACHABLE
from reusewatch.crawler.live.sample import Sample
from reusewatch.crawler.live.steer import SAVED, Steer
from reusewatch.crawler.live.tap import Tap, tap_of
from reusewatch.crawler.live.url_traps import SAVED as TRAPS_SAVED
from reusewatch.crawler.spiders.sites import Sites
from reusewatch.crawler.spiders.waiting import AGAIN
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import Stop
from reusewatch.streams.urls import site_of_url

_LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a crawl has done; pages that were lost, and what waits and why."""

    summary: Mapping[str, Any]
    not_fetched: Mapping[str, str]
    lost: int
    remark: str | None


def run_crawl(
    plan: Plan,
    settings: Settings,
    given: Mapping[str, Any],
    *,
    stop: Stop,
    progress: Callable[[Mapping[str, Any]], None],
) -> Outcome:
    """Crawl until the end, or until `stop`; raises what the sink failed with, KeyboardInterrupt
    where somebody would not wait for the end."""
    began = time.monotonic()
    journal = None if plan.job is None else Journal(plan.job)
    try:
        crawler = _crawled(plan, settings, given, journal, stop=stop, progress=progress)
    finally:
        if journal is not None:
            journal.abandon()
    tap, spider = tap_of(crawler), crawler.spider
    assert isinstance(spider, Sites)  # noqa: S101 - it was created below
    if (trouble := tap.feeder.failure or tap.trouble) is not None:
        raise trouble
    account = tap.feeder.account
    seconds = time.monotonic() - began
    return Outcome(
        _summary(crawler, tap, seconds), spider.not_fetched, account.lost, account.remark
    )


def _crawled(
    plan: Plan,
    settings: Settings,
    given: Mapping[str, Any],
    journal: Journal | None,
    *,
    stop: Stop,
    progress: Callable[[Mapping[str, Any]], None],
) -> Crawler:
    """What was crawled with, once that has ended."""
    wanted = scrapy_settings(plan, max_body_bytes=settings.max_body_bytes)
    process = CrawlerProcess({**wanted, **given})
    # Not before: Scrapy's process gives every logger below `scrapy` its level back.
    if plan.log_level not in ("DEBUG", "INFO"):
        hush(plan.urls)
    crawler = process.create_crawler(Sites)
    # Held since it was looked at: let go in between, another crawl could take it.
    crawler.settings.set(JOURNAL, journal)
    failures: list[Failure] = []
    sample = Sample(plan.sample, frozenset(map(site_of_url, plan.urls)), plan.limit_pages)
    process.crawl(
        crawler, plan.urls, depth=plan.depth, other_sites=plan.other_sites,
        sitemaps=plan.sitemaps, most_held=plan.sample or 0, wanted=sample.take,
    ).addErrback(failures.append)  # fmt: skip
    watch = LoopingCall(_look, crawler, stop, progress)
    watch.start(_LOOK_SECONDS, now=False).addErrback(failures.append)
    # Scrapy's own handlers do not say which signal it was, and Ctrl-C has a code of its own.
    _start(process, stop)
    if failures:
        failures[0].raiseException()
    return crawler


def _start(process: CrawlerProcess, stop: Stop) -> None:
    from twisted.internet import reactor

    # Not joined at the end of Python: a look-up that hangs would hold up who will not wait. A
    # reactor that stops as it should joins them itself.
    reactor.getThreadPool().threadFactory = partial(Thread, daemon=True)
    stop.again = partial(_crash, stop)
    try:
        process.start(install_signal_handlers=False)
    finally:
        forced, stop.again = stop.again is None, None
    if forced:
        raise KeyboardInterrupt


def _crash(stop: Stop) -> None:
    """Leave the reactor at once. An exception would end in whichever callback runs now, and Twisted
    keeps those; what waits for the reactor's own end waits for pages."""
    from twisted.internet import reactor

    stop.again = None
    if not reactor.running:
        raise KeyboardInterrupt
    reactor.callFromThread(reactor.crash)  # type: ignore[misc]


def _look(crawler: Crawler, stop: Stop, progress: Callable[[Mapping[str, Any]], None]) -> None:
    if (tap := _tap(crawler)) is not None:
        progress(tap.figures())
    if stop.is_set() and (tap := _tap(crawler)) is not None:
        tap.leave()
    if stop.is_set() and crawler._engine is not None and crawler.engine.running:
        deferred_from_coro(crawler.engine.stop_async())
        _send_no_more(crawler)


def _send_no_more(crawler: Crawler) -> None:
    """Drop what waits for its host's delay: Scrapy would send it all before it ends."""
    for slot in crawler.engine.downloader.slots.values():
        while slot.queue:
            request, waiting = slot.queue.popleft()
            request.meta[AGAIN] = True
            waiting.errback(IgnoreRequest("the crawl was stopped"))


def _tap(crawler: Crawler) -> Tap | None:
    """None before the engine is made."""
    return None if crawler._engine is None else crawler.get_downloader_middleware(Tap)


def _summary(crawler: Crawler, tap: Tap, seconds: float) -> Mapping[str, Any]:
    found = tap.figures()
    return {
        "records": found["responses"],
        "pages": found["pages"],
        "skipped": found["skipped"],
        "dead_letters": found["dead_letters"],
        "alerts": found["alerts"],
        "cut": _cut(crawler),
        "refused": crawler.stats.get_value("reusewatch/refused", 0),
        "offsite": crawler.stats.get_value("offsite/filtered", 0),
        "robots": _robots(crawler),
        "steered": _steered(crawler),
        "steer_seconds": _steer_seconds(crawler),
        "seconds": round(seconds, 3),
    }


def _robots(crawler: Crawler) -> dict[str, int]:
    """Requests that a robots.txt kept out, by what it says, and because it could not be had."""
    unreachable = crawler.stats.get_value(UNREACHABLE, 0)
    forbidden = crawler.stats.get_value(FORBIDDEN, 0) - unreachable
    found = {"forbidden": forbidden, "unreachable": unreachable}
    return {name: count for name, count in found.items() if count}


def _cut(crawler: Crawler) -> dict[str, int]:
    """Pages of which not all links were taken, sitemaps of which not all was, pages or hosts that
    were not waited for, requests that there was no room for, and requests to other sites beyond
    their part of the limit."""
    kinds = ("links", "sitemaps", "waiting", "queue", "others")
    found = {k: crawler.stats.get_value(f"reusewatch/{k}_cut", 0) for k in kinds}
    return {name: count for name, count in found.items() if count}


def _steer_seconds(crawler: Crawler) -> dict[str, float]:
    """From a response, and from its finding, to the effect on this crawl."""
    steer = crawler.get_downloader_middleware(Steer)
    return {} if steer is None else steer.delays.figures()


def _steered(crawler: Crawler) -> dict[str, int]:
    """What was not sent, or sent last, because of what is known of its place: requests, a link that
    is met again each time; `saved` are different URLs that were kept out, traps among them."""
    names = {
        "dropped": "steer/dropped", "lowered": "steer/lowered", "sampled": "steer/sampled",
        "would-be-dropped": "steer/would-be-dropped", "traps": "traps/dropped",
    }  # fmt: skip
    found = {k: crawler.stats.get_value(f"reusewatch/{name}", 0) for k, name in names.items()}
    found["saved"] = sum(crawler.stats.get_value(name, 0) for name in (SAVED, TRAPS_SAVED))
    return {name: count for name, count in found.items() if count}
