"""Where sources put pages: on Kafka, or, on one machine, straight into the stages.

What `checkpoint` returned for is safe: acknowledged by the broker, or, locally, judged and on disk.
A sink onto Kafka comes without the stages, and without what they need: see `bus_sink`.

PageSink   the one protocol that sources know
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Protocol

from reusewatch.streams.extras import needed_for
from reusewatch.streams.local import LocalBus
from reusewatch.streams.opening import open_bus
from reusewatch.streams.records import DeadLetter, Page
from reusewatch.streams.running.bus_sink import BusSink
from reusewatch.streams.settings import Settings

if TYPE_CHECKING:
    from reusewatch.streams.stages.fingerprinting import ReadOrigin


class PageSink(Protocol):
    """Takes pages; may make the source wait."""

    dead: Counter[str]

    @property
    def alerts(self) -> int | None:
        """Alerts that came of the pages, where this process knows."""

    def put(self, page: Page) -> None:
        """Take a page."""

    def bury(self, letter: DeadLetter) -> None:
        """Take what could not become a page."""

    def checkpoint(self) -> None:
        """Return when everything taken so far is safe."""

    def close(self) -> None:
        """Checkpoint, and release what is held."""

    def abandon(self) -> None:
        """Release what is held, as after an error."""


def open_sink(
    settings: Settings,
    *,
    read_origin: ReadOrigin | None = None,
    stop: Event | None = None,
    say: Callable[[str], None],
) -> PageSink:
    """The sink that the settings name. `stop` ends the waiting for a broker that is away.

    Raises NotInstalled where it runs the stages, and what those need is not installed.
    """
    bus = open_bus(settings, stop=stop, say=say)
    if not isinstance(bus, LocalBus):
        return BusSink(bus)
    with needed_for(f"a local bus ({settings.bus})"):
        from reusewatch.streams.running.local_sink import LocalSink

        return LocalSink(bus, settings, read_origin=read_origin, say=say)
