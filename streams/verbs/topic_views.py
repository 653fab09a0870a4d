"""Alerts, verdicts and dead letters as they stand on a bus, for the commands that show them.

A message that cannot be read hides none of those behind it: it is passed over, counted, and said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from typing import TypeVar

from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, Message
from reusewatch.streams.console import say
from reusewatch.streams.records import Alert, DeadLetter, Verdict, Withdrawn
from reusewatch.streams.wire import WireError, read_finding, read_json, sent_at

R = TypeVar("R")
Stop = Callable[[], bool]
Covers = Callable[[datetime], bool]
_LONGEST_TOLD = 300


class PassedOver(WireError):
    """Some messages of a topic could not be read; all others were."""


def alerts(bus: Bus) -> Iterator[Alert]:
    """Alerts, the oldest first."""
    return _read(bus, topics.ALERTS, partial(read_json, kind=Alert))


def following(
    bus: Bus, fits: Callable[[Alert], bool], stop: Stop | None = None
) -> Iterator[Alert | Withdrawn]:
    """Alerts that fit, the oldest first, then those that come; and which of them are withdrawn."""
    given: set[str] = set()
    for found in _read(bus, topics.ALERTS, read_finding, follow=True, stop=stop):
        if isinstance(found, Withdrawn):
            if found.id in given:
                given.remove(found.id)
                yield found
        elif fits(found):
            given.add(found.id)
            yield found


def verdicts(
    bus: Bus, *, url: str | None = None, site: str | None = None, covers: Covers | None = None
) -> Iterator[Verdict]:
    """The latest verdict of each page; `covers` says which times of judging are wanted."""
    for verdict in _read(bus, topics.VERDICTS, partial(read_json, kind=Verdict), covers=covers):
        if (url is None or verdict.url == url) and (site is None or verdict.site == site):
            yield verdict


def dead_letters(bus: Bus) -> Iterator[DeadLetter]:
    """Everything that could not be processed, each letter once, however often it was sent."""
    told: set[str] = set()
    for letter in _read(bus, topics.DEAD_LETTERS, partial(read_json, kind=DeadLetter)):
        if letter.id not in told:
            told.add(letter.id)
            yield letter


def _read(
    bus: Bus, topic: str, read: Callable[[Message], R], *, follow: bool = False,
    stop: Stop | None = None, covers: Covers | None = None,
) -> Iterator[R]:  # fmt: skip
    """Every record that can be read. PassedOver at the end, where something could not be."""
    passed = 0
    for message in bus.read(topic, follow=follow, stop=stop):
        if message.value is None and not follow:
            continue
        try:
            if covers is not None and not covers(sent_at(message)):
                continue
            record = read(message)
        except WireError as error:
            passed += 1
            if passed == 1:  # at once: who follows a topic never comes to its end
                say(f"passed over {topic}, offset {message.offset}: {error}"[:_LONGEST_TOLD])
            continue
        yield record
    if passed:
        raise PassedOver(
            f"{passed} {'message' if passed == 1 else 'messages'} of the topic {topic} could not "
            "be read and were passed over; what can be read is shown"
        )
