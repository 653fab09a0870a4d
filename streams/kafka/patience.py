"""How an outage is waited out: for how long, who is told, and what ends the waiting.

One policy for both ends of the bus. It knows no broker; it is handed what to try.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event
from typing import TypeVar

from kafka.errors import KafkaConnectionError, KafkaTimeoutError, RetriableError

from reusewatch.streams.bus import Unreachable

T = TypeVar("T")

# After a stop is asked for: time for a sound broker to take what is under way, no more.
GRACE = 5.0
REPORT_EVERY = 10.0
PASSING = (KafkaConnectionError, KafkaTimeoutError, RetriableError, Unreachable)


def nothing(_: str) -> None:
    """Tell nobody."""


def idle() -> None:
    """Do nothing."""


def never() -> bool:
    """Nobody asks for a stop."""
    return False


@dataclass(slots=True)
class Patience:
    """Retries until it works, the limit passes (None: never), or a stop is asked for."""

    limit: float | None = None
    stopping: Callable[[], bool] = never
    report_to: Callable[[str], None] = nothing
    # Told that the broker does not answer, again and again; and that it does, once.
    away_to: Callable[[str], None] = nothing
    back_to: Callable[[], None] = idle
    # Set once the cluster has answered this process: from then on it is known to be the right one.
    met: Event = field(default_factory=Event)
    _reported_at: float = field(default=float("-inf"), init=False)
    _away: bool = field(default=False, init=False)

    def retry(
        self, attempt: Callable[[], T], what: str, since: Callable[[], float] | None = None
    ) -> T:
        """The attempt's result. What passes is tried again; anything else is raised."""
        begin = time.monotonic()
        pause = 0.05
        while True:
            try:
                found = attempt()
            except PASSING as error:
                waited = since() if since else time.monotonic() - begin
                self.waiting(waited, f"{what}: {error or type(error).__name__}")
            else:
                self.answered()
                return found
            time.sleep(pause)
            pause = min(pause * 2, 1.0)

    def open(self, attempt: Callable[[], T]) -> T:
        """A new client. The first one fails at once, as the address may be wrong; later ones are
        tried until the cluster answers again."""
        opened = self.retry(attempt, "connecting") if self.met.is_set() else attempt()
        self.met.set()
        return opened

    def waiting(self, seconds: float, what: str) -> None:
        """Say that nothing has moved for so long; raises Unreachable when it is enough."""
        if self.limit is not None and seconds > self.limit:
            raise Unreachable(f"given up after {seconds:.0f} s: {what}")
        if seconds > GRACE and self.stopping():
            raise Unreachable(f"stopped while the broker did not answer: {what}")
        self.tell(seconds, what)

    def tell(self, seconds: float, what: str) -> None:
        """Tell whoever watches, now and then, that nothing has moved for so long."""
        if seconds > REPORT_EVERY / 2 and time.monotonic() - self._reported_at > REPORT_EVERY:
            self.away(f"waiting for the broker for {seconds:.0f} s: {what}")

    def away(self, text: str) -> None:
        """Tell whoever watches that the broker does not answer."""
        self._away = True
        self._reported_at = time.monotonic()
        self.away_to(text)

    def answered(self) -> None:
        """The broker has answered."""
        if self._away:
            self._away = False
            self.back_to()

    def report(self, text: str) -> None:
        """Tell whoever watches."""
        self._reported_at = time.monotonic()
        self.report_to(text)
