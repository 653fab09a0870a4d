"""The metrics of a crawl: what its process counts anyway, read when somebody scrapes.

The reasons of drops are a closed set: what a site does never makes a new series.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from reusewatch.streams.alert_kinds import STEERING
from reusewatch.streams.running.crawl_port import CrawlFigures
from reusewatch.streams.running.metrics import Declared

STAGE = "crawl"
DROPS: Mapping[str, str] = {
    "duplicate-request": "its URL was asked for before",
    "offsite": "its site is not to be crawled",
    "robots-txt": "robots.txt forbids it",
    "refused": "its address is private, or it is no http",
    "failed": "no answer came, whatever was tried",
    "steered": "what was found of its place keeps the crawl out of it",
    "cached": "it came out of Scrapy's cache",
    "content-type": "it is no page: an image, a script, …",
    "head": "it is the answer to HEAD",
    "not-modified": "the answer was 304",
    "other-scheme": "it is no http",
    "robots": "it is a robots.txt",
}
"""Why a request or a response comes to no page."""
STEERED_KINDS = (*STEERING, "url-trap")
"""What steering goes by: kinds of alerts, and traps that are told by their URLs alone."""
STEERED: Mapping[str, str] = {
    "dropped": "it was not sent",
    "lowered": "it came last",
    "let-through": "it was sent, to see whether the place is as bad as it was",
    "would-drop": "a dry run: it would not have been sent",
    "would-lower": "a dry run: it would have come last",
    "would-let-through": "a dry run: it would have been one of those that are sent all the same",
}
"""What steering does with a request."""


def _declared(name: str, kind: str, meaning: str, *labels: str) -> Declared:
    return Declared(f"reusewatch_crawl_{name}", kind, ("stage", *labels), meaning)


_COUNTED = {
    "requests": _declared("requests_total", "counter", "Requests sent by the crawl."),
    "responses": _declared("responses_total", "counter", "Responses that the crawl got."),
    "pages": _declared("pages_total", "counter", "Pages that the crawl gave to the bus."),
    "lost": _declared(
        "lost_total",
        "counter",
        "Responses that are not known to be on the bus, and will not come to it.",
    ),
    "saved": _declared(
        "saved_total", "counter", "Different URLs that steering kept the crawl from asking for."
    ),
    "dead_letters": _declared(
        "dead_letters_total", "counter", "Responses that could not be made a page."
    ),
}
_WAITING = _declared("waiting", "gauge", "Responses that wait for the bus to take them.")
_SCHEDULED = _declared("scheduled", "gauge", "Requests that wait for their turn.")
_LAST = _declared("last_response_timestamp_seconds", "gauge", "When the crawl got a response last.")
_DROPS = _declared(
    "drops_total", "counter", "Requests and responses that came to no page, by reason.", "reason"
)
_STEERED = _declared(
    "steered_total",
    "counter",
    "Decisions of steering, by the kind of finding and by what was done.",
    "kind",
    "done",
)
DECLARED = (*_COUNTED.values(), _WAITING, _SCHEDULED, _LAST, _DROPS, _STEERED)


class CrawlMeters:
    """The metrics of one crawl. `read` is called at each scrape, in the server's thread."""

    def __init__(self, read: Callable[[], CrawlFigures]) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self.registry.register(_Figures(read))

    def exposition(self) -> bytes:
        """What /metrics says."""
        return generate_latest(self.registry)


class _Figures(Collector):
    def __init__(self, read: Callable[[], CrawlFigures]) -> None:
        self._read = read

    def describe(self) -> Iterator[Metric]:
        # Asked for at registration, when there is nothing to read yet.
        yield from ()

    def collect(self) -> Iterator[Metric]:
        found = self._read()
        for name, declared in _COUNTED.items():
            yield _family(declared, {(): getattr(found, name)})
        yield _family(_WAITING, {(): found.waiting})
        yield _family(_SCHEDULED, {(): found.scheduled})
        if found.last_response is not None:
            yield _family(_LAST, {(): found.last_response})
        yield _family(_DROPS, {(reason,): found.drops.get(reason, 0) for reason in DROPS})
        done = ((kind, done) for kind in STEERED_KINDS for done in STEERED)
        yield _family(_STEERED, {one: found.steered.get(one, 0) for one in done})


def _family(declared: Declared, values: Mapping[tuple[str, ...], float]) -> Metric:
    kind = CounterMetricFamily if declared.kind == "counter" else GaugeMetricFamily
    family = kind(declared.name, declared.meaning, labels=declared.labels)
    for labels, value in values.items():
        family.add_metric([STAGE, *labels], value)
    return family
