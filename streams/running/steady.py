"""A sink that does what `on_trouble` says when the bus takes no pages.

`stop`    the trouble is raised: the crawl ends, and what was not safe is lost
`wait`    what passes (a broker that is away, a full disk) is waited for; the rest is raised
`go-on`   pages are given up and counted, and the bus is tried again now and then
`spill`   what the broker does not take goes into a spool of this machine, and is sent later

On a local bus `spill` is as `wait`: the pages are in a spool of this machine anyway. Knows no bus:
it is handed what opens a sink. Everything happens in the thread that brings the pages.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event
from typing import Protocol, TypeVar

from reusewatch.streams.bus import BusBroken, BusError, BusMisnamed, NoRoom, Outgoing, Unreachable
from reusewatch.streams.records import Alert, DeadLetter, Page
from reusewatch.streams.running.page_sink import PageSink
from reusewatch.streams.wire import alert_message, dead_letter_message, page_message

T = TypeVar("T")
# So long nothing is acknowledged before it is trouble, where it is not waited for without end.
PATIENCE = {"stop": 30.0, "spill": 10.0, "go-on": 10.0}
AGAIN_SECONDS = 15.0
_TELL_SECONDS = 10.0
_PAUSE_SECONDS = 0.25


class Aside(Protocol):
    """Where messages wait for a bus that is away."""

    def take(self, messages: Sequence[Outgoing]) -> None:
        """Put these aside, in their order."""

    def send(self, to: Callable[[Outgoing], None], flush: Callable[[], None]) -> None:
        """Send all that waits, of earlier crawls too, and forget it once it is safe."""

    def sync(self) -> None:
        """Return when everything taken is on disk."""

    def close(self) -> int:
        """Release it; how many wait still."""


class Returning(PageSink, Protocol):
    """A sink that hands back what it could not send."""

    def send(self, message: Outgoing) -> None:
        """Send what was a page or a letter before."""

    def take_back(self) -> Sequence[Outgoing]:
        """What is not safe, in order; then there is only `abandon`."""


class Waiting:
    """Waits out what passes."""

    def __init__(
        self, open_sink: Callable[[], PageSink], *, stop: Event, say: Callable[[str], None],
        passes: tuple[type[BusError], ...],
    ) -> None:  # fmt: skip
        self._stop, self._say = stop, say
        self._passes = passes
        self._sink = self._until_done(open_sink)

    def _until_done(self, attempt: Callable[[], T]) -> T:
        told_at = float("-inf")
        while True:
            try:
                return attempt()
            except self._passes as error:
                if self._stop.is_set():
                    raise
                if time.monotonic() >= told_at + _TELL_SECONDS:
                    told_at = time.monotonic()
                    self._say(f"waiting, and Ctrl-C ends that: {error}")
            self._stop.wait(_PAUSE_SECONDS)

    @property
    def dead(self) -> Counter[str]:
        """By reason."""
        return self._sink.dead

    @property
    def alerts(self) -> int | None:
        """Where this process knows."""
        return self._sink.alerts

    lost = 0

    @property
    def untold(self) -> int:
        """Alerts that the bus refused."""
        return self._sink.untold

    @property
    def remark(self) -> str | None:
        """What the user should know at the end."""
        return self._sink.remark

    def put(self, page: Page) -> None:
        """Take a page; appending is all or nothing, so it can be tried again."""
        self._until_done(lambda: self._sink.put(page))

    def bury(self, letter: DeadLetter) -> None:
        """Take a dead letter."""
        self._until_done(lambda: self._sink.bury(letter))

    def report(self, alert: Alert) -> None:
        """Take an alert."""
        self._until_done(lambda: self._sink.report(alert))

    def checkpoint(self) -> None:
        """Return when everything is safe."""
        self._until_done(self._sink.checkpoint)

    def close(self) -> None:
        """Checkpoint, and leave."""
        self.checkpoint()
        self._sink.close()

    def abandon(self) -> None:
        """Leave."""
        self._sink.abandon()


class Going:
    """Goes on while the bus is away: pages are given up, or put aside where there is a place."""

    def __init__(
        self, open_sink: Callable[[], Returning], *, say: Callable[[str], None],
        aside: Aside | None = None,
    ) -> None:  # fmt: skip
        self.dead: Counter[str] = Counter()
        self.lost = 0
        self.remark: str | None = None
        self._open_sink = open_sink
        self._say = say
        self._aside = aside
        self._sink: Returning | None = None
        self._untold = 0
        self._again_at = 0.0
        self._told_at = float("-inf")
        self._try_again()

    @property
    def alerts(self) -> int | None:
        """Where this process knows, and as long as it does."""
        return None if self._sink is None else self._sink.alerts

    @property
    def untold(self) -> int:
        """Alerts that the bus refused, of this sink and of those before it."""
        return self._untold + (0 if self._sink is None else self._sink.untold)

    def put(self, page: Page) -> None:
        """Send a page."""
        self._do(lambda sink: sink.put(page), lambda: page_message(page))

    def bury(self, letter: DeadLetter) -> None:
        """Send a dead letter."""
        self.dead[letter.reason] += 1
        self._do(lambda sink: sink.bury(letter), lambda: dead_letter_message(letter))

    def report(self, alert: Alert) -> None:
        """Send an alert."""
        self._do(lambda sink: sink.report(alert), lambda: alert_message(alert, stage="crawl"))

    def _do(self, act: Callable[[Returning], None], message: Callable[[], Outgoing]) -> None:
        if self._sink is None and time.monotonic() >= self._again_at:
            self._try_again()
        if self._sink is not None:
            try:
                act(self._sink)
                return
            except NoRoom as error:
                self._tell(error)  # the next page may fit
            except BusError as error:
                self._part(error)
        self._give_up([message()])

    def _try_again(self) -> None:
        try:
            sink = self._open_sink()
        except BusError as error:
            self._away(error)
            return
        self._sink = sink
        if self._again_at:
            self._say("the bus takes pages again")
        if self._aside is not None:
            try:
                self._aside.send(sink.send, sink.checkpoint)
            except BusError as error:
                # What was taken back waits in its spool still: it is not put there twice.
                sink.take_back()
                self._part(error)

    def _part(self, error: BusError) -> None:
        """Let go of a sink that takes nothing, with what it had."""
        sink, self._sink = self._sink, None
        self._away(error)
        if sink is not None:
            self._untold += sink.untold
            self._give_up(sink.take_back())
            with suppress(BusError):
                sink.abandon()

    def _away(self, error: BusError) -> None:
        self._again_at = time.monotonic() + AGAIN_SECONDS
        if self._aside is not None and isinstance(error, BusMisnamed | BusBroken):
            raise error  # no waiting mends it: what is put aside would never be sent
        self._tell(error)

    def _tell(self, error: BusError) -> None:
        if time.monotonic() >= self._told_at + _TELL_SECONDS:
            self._told_at = time.monotonic()
            what = "given up" if self._aside is None else "put aside"
            self._say(f"{error}; pages are {what} until the bus takes them again")

    def _give_up(self, messages: Sequence[Outgoing]) -> None:
        if self._aside is None:
            self.lost += len(messages)
        else:
            self._aside.take(messages)

    def checkpoint(self) -> None:
        """Everything that was sent is acknowledged, or is put aside, or is lost."""
        if self._sink is not None:
            try:
                self._sink.checkpoint()
            except NoRoom as error:
                self._tell(error)
            except BusError as error:
                self._part(error)
        elif time.monotonic() >= self._again_at:
            self._try_again()
        if self._aside is not None:
            self._aside.sync()

    def close(self) -> None:
        """A last try to send what was put aside, and leave."""
        if self._sink is None and self._aside is not None:
            self._try_again()
        self.checkpoint()
        if self._sink is not None:
            self._sink.close()
            self.remark = self._sink.remark
        self._leave()

    def _leave(self) -> None:
        waiting = 0 if self._aside is None else self._aside.close()
        if waiting:
            self.remark = (
                f"{waiting} pages are put aside, and safe: the next crawl with this setting sends "
                "them, or `reusewatch spill`"
            )

    def abandon(self) -> None:
        """Leave."""
        if self._sink is not None:
            self._give_up(self._sink.take_back())
            with suppress(BusError):
                self._sink.abandon()
        self._leave()


def passing(*, local: bool) -> tuple[type[BusError], ...]:
    """What waiting mends. A directory that cannot be reached will not come by itself."""
    return (NoRoom,) if local else (Unreachable,)
