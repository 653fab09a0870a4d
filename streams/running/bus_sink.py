"""A sink onto a bus: pages and dead letters as messages, for workers elsewhere.

Alerts go an own way: a crawl whose login may not send them goes on, and they are counted as untold.
It imports no stage, since crawl hosts have none of what those need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, BusError, Outgoing, Outlet, TooLarge
from reusewatch.streams.records import STDIN, Alert, DeadLetter, Page
from reusewatch.streams.running.spare_outlet import Recoverable, SpareOutlet
from reusewatch.streams.wire import (
    alert_message,
    dead_letter_message,
    packed_page_message,
    page_message,
)

# A page from here on is sent alone: what waits stays small.
_LARGE = 1 << 16


class BusSink:
    """Pages onto a bus, for workers elsewhere."""

    alerts = None
    lost = 0

    def __init__(self, bus: Bus, together: int = 1) -> None:
        """`together`: so many pages are sent at once, or what there is at a checkpoint."""
        self.dead: Counter[str] = Counter()
        self._together = together
        self._waiting: list[Outgoing] = []
        self._bus = bus
        self._outlet: Outlet = bus.outlet()
        self._told = SpareOutlet(bus.outlet)
        # A missing topic is told before anything is fetched for it.
        for topic in (topics.PAGES, topics.DEAD_LETTERS):
            self._outlet.partitions(topic)

    @property
    def untold(self) -> int:
        """Alerts that the bus refused."""
        return self._told.untold

    @property
    def remark(self) -> str | None:
        """What was refused, and why."""
        if not self.untold:
            return None
        return (
            f"{self.untold} alerts of crawl traps were refused, and no page: {self._told.refusal}"
        )

    def put(self, page: Page) -> None:
        """Send the page; one that is too large goes by reference to its archive, if it has one."""
        message = packed_page_message(page)
        if len(message.value or b"") < _LARGE:
            self._waiting.append(message)
            if len(self._waiting) >= self._together:
                self._send_waiting()
            return
        self._send_waiting()
        try:
            self._outlet.send(message)
        except TooLarge as error:
            if page.origin.offset is None or page.origin.source == STDIN:
                self.bury(_too_large(page, error))
                return
            self._outlet.send(
                page_message(msgspec.structs.replace(page, body=b"", by_reference=True))
            )

    def _send_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        self._outlet.send(*waiting)

    def bury(self, letter: DeadLetter) -> None:
        """Send a dead letter."""
        self.dead[letter.reason] += 1
        self._outlet.send(dead_letter_message(letter))

    def report(self, alert: Alert) -> None:
        """Send an alert, or count it where the bus refuses it."""
        self._told.send(alert_message(alert, stage="crawl"))

    def send(self, message: Outgoing) -> None:
        """Send what was a page, a letter or an alert before."""
        (self._told if message.topic == topics.ALERTS else self._outlet).send(message)

    def take_back(self) -> Sequence[Outgoing]:
        """What the broker has not acknowledged, in order; then there is only `abandon`."""
        pages = self._outlet.take_back() if isinstance(self._outlet, Recoverable) else ()
        return [*pages, *self._waiting, *self._told.take_back()]

    def checkpoint(self) -> None:
        """Wait for the broker."""
        self._send_waiting()
        self._outlet.flush()
        self._told.flush()

    def close(self) -> None:
        """Wait for the broker, and leave."""
        try:
            self._send_waiting()
            self._outlet.close()
        finally:
            self._told.close()
        self._bus.close()

    def abandon(self) -> None:
        """Leave; what the broker does not take within seconds is sent again by the next run."""
        for outlet in (self._outlet, self._told):
            with suppress(BusError):
                outlet.close()
        self._bus.close()


def _too_large(page: Page, error: TooLarge) -> DeadLetter:
    return DeadLetter(
        reason="too-large", source=page.origin.source, offset=None, url=page.url[:2048],
        detail=str(error), at=datetime.now(UTC),
    )  # fmt: skip
