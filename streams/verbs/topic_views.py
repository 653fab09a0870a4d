"""Alerts, verdicts and dead letters as they stand on a bus, for the commands that show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TypeVar

from reusewatch.streams import topics
from reusewatch.streams.bus import Bus
from reusewatch.streams.records import Alert, DeadLetter, Record, Verdict
from reusewatch.streams.wire import read_json

R = TypeVar("R", bound=Record)
Stop = Callable[[], bool]


def alerts(
    bus: Bus,
    *,
    kind: str | None = None,
    site: str | None = None,
    since: datetime | None = None,
    follow: bool = False,
    stop: Stop | None = None,
) -> Iterator[Alert]:
    """Alerts, the oldest first. `since` compares with the time of detection."""
    for alert in _read(bus, topics.ALERTS, Alert, follow=follow, stop=stop):
        if (
            (kind is None or alert.kind == kind)
            and (site is None or alert.site == site)
            and (since is None or alert.detected_at >= since)
        ):
            yield alert


def verdicts(bus: Bus, *, url: str | None = None, site: str | None = None) -> Iterator[Verdict]:
    """The latest verdict of each page."""
    for verdict in _read(bus, topics.VERDICTS, Verdict):
        if (url is None or verdict.url == url) and (site is None or verdict.site == site):
            yield verdict


def dead_letters(bus: Bus) -> Iterator[DeadLetter]:
    """Everything that could not be processed."""
    return _read(bus, topics.DEAD_LETTERS, DeadLetter)


def _read(
    bus: Bus, topic: str, kind: type[R], *, follow: bool = False, stop: Stop | None = None
) -> Iterator[R]:
    for message in bus.read(topic, follow=follow, stop=stop):
        if message.value is not None:
            yield read_json(message, kind)
