"""The demo that crawls: a web on loopback, fetched for real, while what is found steers the crawl.

Alerts are shown as they come; at the end, what was found of what was there, what was fetched of
each place, and what was not, because of what had been found of it by then.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reusewatch.crawler.demo.live_truth import compared
from reusewatch.crawler.demo.local_web import (
    CALENDAR,
    FARM,
    FREE_PAGES,
    GAZETTE,
    HOBBY,
    HOME,
    HOSTS,
    MAZE,
    MIRROR,
    SCRAPER,
    TELLER,
    LocalWeb,
)
from reusewatch.crawler.demo.show import prepared
from reusewatch.crawler.live.manners import Plan
from reusewatch.crawler.live.running import Outcome, run_crawl
from reusewatch.streams import topics
from reusewatch.streams.console import print_aligned, print_json, print_line
from reusewatch.streams.opening import open_bus
from reusewatch.streams.records import Alert
from reusewatch.streams.settings import Settings
from reusewatch.streams.signals import stopping
from reusewatch.streams.verbs.showing import short_url
from reusewatch.streams.verbs.topic_views import alerts
from reusewatch.streams.wire import read_json

# Slow enough that one sees it, and that the crawl goes on when the first finding is there.
_DELAY = 0.05
# A mirror is known by twenty of its pages: of so many, most are saved.
_NEWS = 80
_PLACES = (
    ("a newspaper", GAZETTE, "/"),
    ("its mirror", MIRROR, "/"),
    ("somebody's hobby", FREE_PAGES, HOBBY),
    ("its scraper", SCRAPER, "/"),
    ("a link farm", FARM, "/"),
    ("a bank's texts, copied", FREE_PAGES, TELLER),
)
_ENDLESS = (("a calendar without end", CALENDAR), ("links without end", MAZE))


def run_live(directory: Path, *, json: bool) -> None:
    """Crawl, and say what became of it."""
    settings = prepared(directory)
    web = LocalWeb(news=_NEWS, owned=True)
    with web.served(), _telling(settings, quiet=json), stopping() as stop:
        plan = Plan((web.url(HOME),), other_sites=True, delay=_DELAY, networks=HOSTS, steer="on")
        # Which of two hosts with the same pages has them from the other, one crawl cannot tell.
        given = {
            "REUSEWATCH_BUS": settings.bus, "REUSEWATCH_EVIDENCE_PAIRS": "0",
            "REUSEWATCH_OWNED": GAZETTE,
        }  # fmt: skip
        outcome = run_crawl(plan, settings, given, stop=stop, progress=lambda figures: None)
    _show(web, outcome, compared(web, alerts(open_bus(settings))), json=json)


class _telling:  # noqa: N801 - used as a function would be
    """Prints alerts as they come, in a thread."""

    def __init__(self, settings: Settings, *, quiet: bool) -> None:
        self._settings, self._quiet = settings, quiet
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        if not self._quiet:
            self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        bus, shown = open_bus(self._settings), set[str]()
        for message in bus.read(topics.ALERTS, follow=True, stop=self._ended.is_set):
            if message.value is not None and message.key not in shown:
                shown.add(message.key)
                alert = read_json(message, Alert)
                place = short_url(alert.url or alert.prefix or alert.site)
                print_line(f"{alert.severity:8}  {alert.kind:18}  {place}")


def _show(web: LocalWeb, outcome: Outcome, found: list[dict[str, Any]], *, json: bool) -> None:
    places: list[Mapping[str, Any]] = []
    for name, host, under in _PLACES:
        fetched, there = web.fetched(host, under)
        places.append({"place": name, "url": web.url(host, under), "pages": there,
                       "fetched": fetched})  # fmt: skip
    for name, host in _ENDLESS:
        asked = sum(count for (of, _), count in web.asked.items() if of == host)
        places.append({"place": name, "url": web.url(host), "pages": None, "fetched": asked})
    if json:
        print_json({**outcome.summary, "places": places, "found": found})
        return
    print_line("")
    for row in found:
        more = f", and {row['else']} that are none" if row["else"] else ""
        print_line(f"{row['kind']:18}  {row['found']} of {row['there']} found{more}")
    print_line("")
    print_aligned([(place["place"], _fetched(place)) for place in places])
    saved = outcome.summary["steered"]
    print_line("")
    print_line(
        f"Steering saved {saved.get('saved', 0)} requests: so many different URLs were kept out, "
        f"links to bad places {saved.get('dropped', 0)} times and into traps "
        f"{saved.get('traps', 0)} times; {saved.get('sampled', 0)} requests went there all the "
        "same, to see whether they are as bad as they were."
    )
    if seconds := outcome.summary["steer_seconds"]:
        print_line(
            f"From a response to its effect on the crawl it took {seconds['response_median']:.1f} "
            f"seconds, {seconds['response_most']:.1f} at most."
        )


def _fetched(place: Mapping[str, Any]) -> str:
    return f"{place['fetched']} of {place['pages'] or 'any number of'} pages fetched"
