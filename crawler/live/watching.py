"""A crawl's port for metrics: what Scrapy and the feeder count, and nothing of what a page says.

On Kafka where the setting `metrics_port` is given; on a local bus the process that judges serves
there, and a crawl where `crawl_metrics_port` is given. A port that is taken costs the metrics, and
never the crawl.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from scrapy.crawler import Crawler

from reusewatch.streams.alert_kinds import STEERING
from reusewatch.streams.running.crawl_port import CrawlFigures, CrawlPort
from reusewatch.streams.settings import Settings

# The names of Scrapy's stats, by the reasons that we tell.
_STATS: Mapping[str, str] = {
    "duplicate-request": "dupefilter/filtered",
    "offsite": "offsite/filtered",
    "robots-txt": "robotstxt/forbidden",
    "refused": "reusewatch/refused",
    "failed": "retry/max_reached",
    "steered": "reusewatch/steer/dropped",
}


# The kinds of findings, and what was done, by the names of our stats.
_KINDS: Mapping[str, str] = {kind: f"reusewatch/steer/{{}}/{kind}" for kind in STEERING} | {
    "url-trap": "reusewatch/traps/{}"
}
_DONE: Mapping[str, str] = {
    "dropped": "dropped", "lowered": "lowered", "let-through": "sampled",
    "would-drop": "would-be-dropped", "would-lower": "would-be-lowered",
    "would-let-through": "would-be-sampled",
}  # fmt: skip
_SAVED = ("reusewatch/steered/saved", "reusewatch/traps/saved")


class Pulse:
    """When the last response came."""

    def __init__(self) -> None:
        self.at: float | None = None

    def beat(self) -> None:
        """One came."""
        self.at = time.time()


class CrawlWatch:
    """Serves a crawl's figures. `figures` are those of the tap."""

    def __init__(
        self,
        crawler: Crawler,
        settings: Settings,
        *,
        figures: Callable[[], Mapping[str, object]],
        waiting: Callable[[], int],
        opened: Callable[[], bool],
        pulse: Pulse,
    ) -> None:
        self._crawler = crawler
        self._figures = figures
        self._waiting = waiting
        self._pulse = pulse
        self._port = CrawlPort(settings, self.read, opened)

    def open(self, say: Callable[[str], None]) -> None:
        """Serve, where a port is given."""
        self._port.open(say)

    @property
    def port(self) -> int | None:
        """Where it serves."""
        return self._port.port

    def close(self) -> None:
        """Serve no more."""
        self._port.close()

    def read(self) -> CrawlFigures:
        """The figures as of now."""
        stats, known = self._crawler.stats, self._figures()
        skipped = known["skipped"]
        assert isinstance(skipped, Mapping)  # noqa: S101 - the tap's own
        drops = {reason: _count(stats.get_value(name)) for reason, name in _STATS.items()}
        queued, taken = (
            _count(stats.get_value(f"scheduler/{name}")) for name in ("enqueued", "dequeued")
        )
        return CrawlFigures(
            requests=_count(stats.get_value("downloader/request_count")),
            responses=_count(known["responses"]),
            pages=_count(known["pages"]),
            lost=_count(known["lost"]),
            dead_letters=_count(known["dead_letters"]),
            waiting=self._waiting(),
            scheduled=max(queued - taken, 0),
            last_response=self._pulse.at,
            steered={
                (kind, done): _count(stats.get_value(stat.format(name)))
                for kind, stat in _KINDS.items()
                for done, name in _DONE.items()
            },
            saved=sum(_count(stats.get_value(name)) for name in _SAVED),
            drops=drops | {str(kind): _count(count) for kind, count in skipped.items()},
        )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
