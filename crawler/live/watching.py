"""A crawl's port for metrics: what Scrapy and the feeder count, and nothing of what a page says.

On Kafka only, where the setting `metrics_port` is given: on a local bus the process that judges
serves there. A port that is taken costs the metrics, and never the crawl.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from scrapy.crawler import Crawler

from reusewatch.streams.bus import Unreachable
from reusewatch.streams.extras import NotInstalled, needed_for
from reusewatch.streams.opening import open_bus
from reusewatch.streams.questions import Parameters, Rows, no_questions
from reusewatch.streams.settings import Settings

if TYPE_CHECKING:
    from reusewatch.streams.running.crawl_metrics import CrawlFigures
    from reusewatch.streams.running.serving import Health

# The names of Scrapy's stats, by the reasons that we tell.
_STATS: Mapping[str, str] = {
    "duplicate-request": "dupefilter/filtered",
    "offsite": "offsite/filtered",
    "robots-txt": "robotstxt/forbidden",
    "refused": "reusewatch/refused",
    "failed": "retry/max_reached",
    "steered": "reusewatch/steer/dropped",
}


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
        self._opened = opened
        self._pulse = pulse
        self._health: Health | None = None
        self._settings = settings

    def open(self, say: Callable[[str], None]) -> None:
        """Serve, where a port is given."""
        settings = self._settings
        if settings.metrics_port is None or settings.bus.startswith("local:"):
            return
        try:
            # A crawl's host needs no more than the bus does, unless it is to be watched.
            with needed_for("metrics of a crawl (metrics_port)"):
                from reusewatch.streams.running.crawl_metrics import CrawlMeters
                from reusewatch.streams.running.prefix_answers import PrefixAnswers
                from reusewatch.streams.running.serving import Health
            self._health = Health(
                CrawlMeters(self.read), settings.metrics_host, settings.metrics_port, self,
                prefixes=PrefixAnswers(lambda stop: open_bus(settings, stop=stop), say),
                question_hosts=settings.question_hosts,
            )  # fmt: skip
        except (NotInstalled, Unreachable) as error:
            say(f"{error}; the crawl goes on without")

    @property
    def port(self) -> int | None:
        """Where it serves."""
        return None if self._health is None else self._health.port

    def close(self) -> None:
        """Serve no more."""
        if self._health is not None:
            self._health.close()
            self._health = None

    def read(self) -> CrawlFigures:
        """The figures as of now."""
        from reusewatch.streams.running.crawl_metrics import CrawlFigures

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
            drops=drops | {str(kind): _count(count) for kind, count in skipped.items()},
        )

    def trouble(self) -> str | None:
        """A crawl that waits is not mended by a restart."""
        return None

    def ready(self) -> bool:
        """Whether its bus is open."""
        return self._opened()

    def ask(self, name: str, parameters: Parameters) -> Rows:
        """A crawl holds no state to ask."""
        return no_questions(name, parameters)


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
