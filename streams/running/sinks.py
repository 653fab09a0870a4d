"""Where sources put pages: on Kafka, or, on one machine, into the stages or into a spool.

What `checkpoint` returned for is safe: acknowledged by the broker, or, locally, on disk. Only a
replay onto a local bus comes with the stages and with what they need; a live crawl stays small.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from reusewatch.streams.extras import needed_for, require_for
from reusewatch.streams.local import LocalBus, Taken
from reusewatch.streams.local.spools import holder_of
from reusewatch.streams.opening import open_bus, state_directory
from reusewatch.streams.running.bus_sink import BusSink
from reusewatch.streams.running.page_sink import PageSink
from reusewatch.streams.running.spilling import Spill
from reusewatch.streams.running.spool_sink import SpoolSink
from reusewatch.streams.running.stage_names import JUDGES
from reusewatch.streams.running.steady import PATIENCE, Going, Waiting, passing
from reusewatch.streams.settings import Settings

if TYPE_CHECKING:
    from reusewatch.streams.stages.fingerprinting import ReadOrigin

# What a live crawl sends is in its memory two or three times until it is acknowledged.
LIVE_IN_FLIGHT_BYTES = 8 << 20
# Of a replay nobody waits for one page, and each request costs as much as ten of them.
REPLAY_LINGER = 0.05
# Each page by itself costs two thirds more to send.
REPLAY_TOGETHER = 64

__all__ = ["PageSink", "open_live_sink", "open_sink"]


def open_sink(
    settings: Settings,
    *,
    read_origin: ReadOrigin | None = None,
    stop: Event | None = None,
    say: Callable[[str], None],
) -> PageSink:
    """The sink of a replay. `stop` ends the waiting for a broker that is away.

    On a local bus the stages run here; where a process judges what crawls bring, the pages go to
    it. Raises NotInstalled where it runs the stages, and what those need is not installed.
    """
    bus = open_bus(settings, stop=stop, say=say, packed=True, linger=REPLAY_LINGER)
    if not isinstance(bus, LocalBus):
        return BusSink(bus, REPLAY_TOGETHER)
    with needed_for(f"a local bus ({settings.bus})"):
        try:
            from reusewatch.streams.running.local_sink import LocalSink

            return LocalSink(bus, settings, read_origin=read_origin, say=say)
        except Taken:
            pid, does = holder_of(bus.directory)
            if does != JUDGES:
                raise
            say(f"process {pid} {does} onto this bus: it judges these pages as well")
    return SpoolSink(settings, bus.directory, kind="replay", stop=stop or Event(), say=say)


def open_live_sink(
    settings: Settings, *, stop: Event, say: Callable[[str], None], must_be_there: bool = False
) -> PageSink:
    """The sink of a live crawl, which does in trouble what the settings say.

    `must_be_there`: a bus that is away at the beginning is not waited for.
    """
    local = settings.bus.startswith("local:")
    opening: Callable[[], BusSink | SpoolSink] = partial(
        _open_local if local else _open_kafka, settings, stop=stop, say=say
    )
    attempt = _opened_before(opening) if must_be_there else opening
    how = settings.on_trouble
    if how == "stop":
        return attempt()
    if how == "wait" or (local and how == "spill"):
        return Waiting(attempt, stop=stop, say=say, passes=passing(local=local))
    aside = Spill(Path(settings.spill)) if how == "spill" else None
    return Going(attempt, say=say, aside=aside)


def _opened_before(opening: Callable[[], BusSink | SpoolSink]) -> Callable[[], BusSink | SpoolSink]:
    """Open it once now, where no trouble is waited for; later calls open it anew."""
    opened = [opening()]
    return lambda: opened.pop() if opened else opening()


def _open_kafka(settings: Settings, *, stop: Event, say: Callable[[str], None]) -> BusSink:
    patience = PATIENCE.get(settings.on_trouble)
    return BusSink(
        open_bus(
            settings, stop=stop, say=say, patience=patience, packed=True,
            in_flight_bytes=LIVE_IN_FLIGHT_BYTES,
        )
    )  # fmt: skip


def _open_local(settings: Settings, *, stop: Event, say: Callable[[str], None]) -> SpoolSink:
    require_for(f"a local bus ({settings.bus})")
    return SpoolSink(settings, state_directory(settings), stop=stop, say=say)
