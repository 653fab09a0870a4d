"""The topic of alerts, followed: what is found and lifted is known soon, whatever the bus does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from time import monotonic, sleep

import pytest
from msgspec.structs import replace

from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, Outgoing, Unreachable
from reusewatch.streams.local import LocalBus
from reusewatch.streams.steering import following as module
from reusewatch.streams.steering.following import Following
from reusewatch.streams.steering.places import Places
from reusewatch.streams.steering.rules import Rules, Steering
from reusewatch.streams.wire import alert_message, withdrawal
from tests.streams.made_alerts import BAD, bad


@contextmanager
def followed(opening: Callable[[Event], Bus]) -> Iterator[tuple[Steering, list[str]]]:
    said: list[str] = []
    steering = Steering(Rules(mode="on"))
    following = Following(opening, Places, steering.hold, said.append)
    following.start()
    assert following.known.wait(30)
    yield steering, said
    following.stop()
    following.join()


def until(condition: Callable[[], object]) -> None:
    end = monotonic() + 30
    while not condition():
        assert monotonic() < end, "waited in vain"
        sleep(0.01)


@pytest.fixture
def bus(tmp_path: Path) -> LocalBus:
    return LocalBus(tmp_path)


def put(bus: LocalBus, *messages: Outgoing) -> None:
    with closing(bus.outlet()) as outlet:
        outlet.send(*messages)


ALERT = alert_message(replace(bad(), detected_at=datetime.now(UTC)))


def test_what_stood_there_is_known_at_once_and_what_comes_soon(bus: LocalBus) -> None:
    put(bus, ALERT)
    with followed(lambda stop: bus) as (steering, _):
        assert len(steering) == 1
        put(bus, alert_message(replace(bad(7, prefix=f"{BAD}x/"), detected_at=datetime.now(UTC))))
        until(lambda: len(steering) == 2)
        put(bus, withdrawal(bad().id))
        until(lambda: len(steering) == 1)


def test_what_cannot_be_read_hides_nothing(bus: LocalBus) -> None:
    put(bus, Outgoing(topics.ALERTS, "0" * 32, b"{}", ALERT.headers), ALERT)
    with followed(lambda stop: bus) as (steering, said):
        assert len(steering) == 1
    assert "cannot be read" in said[0]


def test_a_bus_that_is_away_is_asked_again(bus: LocalBus) -> None:
    put(bus, ALERT)
    tries: list[Bus | None] = [None, None, bus]

    def opening(stop: Event) -> Bus:
        found = tries.pop(0)
        if found is None:
            raise Unreachable("the broker is away")
        return found

    with followed(opening) as (steering, said):
        assert len(steering) == 1
    assert len(said) == 2


class Clock:
    """Each telling takes a second of the thread's time; the other clock stands still."""

    def __init__(self) -> None:
        self.now = self._worked = 0.0

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        self._worked += 1
        return self._worked


def test_telling_takes_a_fifth_of_the_time_at_the_most(
    bus: LocalBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, told = Clock(), list[object]()
    monkeypatch.setattr(module, "time", clock)
    following, places = Following(lambda stop: bus, Places, told.append, print), Places()
    for seconds in (0.0, 3.9, 4.0):
        clock.now = seconds
        following._changed = True
        following._hold(places)
    assert len(told) == 2
