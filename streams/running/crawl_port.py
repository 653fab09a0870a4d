"""The port of a crawl: its metrics, whether its bus is open, and what to keep out of.

A crawl's host needs no more than the bus does: what serves is loaded where a port is given. A port
that is taken, or a part that is not installed, costs the metrics, and never the crawl.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reusewatch.streams.bus import Unreachable
from reusewatch.streams.extras import NotInstalled, needed_for
from reusewatch.streams.opening import open_bus
from reusewatch.streams.questions import Parameters, Rows, no_questions
from reusewatch.streams.settings import Settings

if TYPE_CHECKING:
    from reusewatch.streams.running.serving import Health


@dataclass(frozen=True, slots=True)
class CrawlFigures:
    """What a crawl counted so far. `last_response`: seconds since 1970."""

    requests: int = 0
    responses: int = 0
    pages: int = 0
    lost: int = 0
    dead_letters: int = 0
    waiting: int = 0
    scheduled: int = 0
    last_response: float | None = None
    drops: Mapping[str, int] = field(default_factory=dict)
    # By the kind of finding, and what was done.
    steered: Mapping[tuple[str, str], int] = field(default_factory=dict)
    saved: int = 0


class CrawlPort:
    """Serves a crawl's figures. `read` and `opened` are asked in the server's threads."""

    def __init__(
        self, settings: Settings, read: Callable[[], CrawlFigures], opened: Callable[[], bool]
    ) -> None:
        self._settings = settings
        self._read = read
        self._opened = opened
        self._health: Health | None = None

    def open(self, say: Callable[[str], None]) -> None:
        """Serve, where a port is given. On a local bus `metrics_port` is of the process that
        judges, and the crawl has one of its own."""
        settings, port = self._settings, self._settings.crawl_metrics_port
        if port is None and not settings.bus.startswith("local:"):
            port = settings.metrics_port
        if port is None:
            return
        try:
            with needed_for("metrics of a crawl (metrics_port)"):
                from reusewatch.streams.running.crawl_metrics import CrawlMeters
                from reusewatch.streams.running.prefix_answers import PrefixAnswers
                from reusewatch.streams.running.serving import Health
            self._health = Health(
                CrawlMeters(self._read), settings.metrics_host, port, self,
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

    def trouble(self) -> str | None:
        """A crawl that waits is not mended by a restart."""
        return None

    def ready(self) -> bool:
        """Whether its bus is open."""
        return self._opened()

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        """A crawl holds no state to ask."""
        return no_questions(name, parameters)
