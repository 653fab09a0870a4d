"""An outlet for what pages must not wait for: the alerts of a crawl, whose login may have no right
to send them.

It is one of its own, since an outlet that was refused a message hands on nothing behind it. What is
refused is counted, and no more is sent; a bus that is away is trouble as it is for pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, runtime_checkable

from reusewatch.streams.bus import BusBroken, BusError, Outgoing, Outlet, TooLarge


@runtime_checkable
class Recoverable(Protocol):
    """An outlet that hands back what it could not send."""

    def take_back(self) -> Sequence[Outgoing]:
        """What is not acknowledged, in order."""


class SpareOutlet:
    """Sends until something is refused. `untold`: how many messages are not known to be taken."""

    def __init__(self, open_outlet: Callable[[], Outlet]) -> None:
        self.untold = 0
        self.refusal: BusError | None = None
        self._open_outlet = open_outlet
        self._outlet: Outlet | None = None
        self._pending = 0

    def send(self, message: Outgoing) -> None:
        """Send the message, or count it."""
        if self.refusal is not None:
            self.untold += 1
            return
        try:
            # Not before: most crawls have nothing for it, and a connection costs.
            self._outlet = self._outlet or self._open_outlet()
            self._outlet.send(message)
        except (BusBroken, TooLarge) as error:
            self._pending += 1
            self._refused(error)
        else:
            self._pending += 1

    def flush(self) -> None:
        """Return when everything sent is acknowledged, or was refused."""
        if self._outlet is None:
            return
        try:
            self._outlet.flush()
        except BusBroken as error:
            self._refused(error)
        self._pending = 0

    def take_back(self) -> Sequence[Outgoing]:
        """What is not acknowledged, in order; then there is only `close`."""
        self._pending = 0
        return self._outlet.take_back() if isinstance(self._outlet, Recoverable) else ()

    def close(self) -> None:
        """Flush, and release what is held."""
        self.flush()
        if self._outlet is not None:
            self._outlet.close()

    def _refused(self, error: BusError) -> None:
        self.refusal = error
        self.untold += self._pending
        # Before it is closed, or it would try to send that again.
        self.take_back()
        if self._outlet is not None:
            with suppress(BusError):
                self._outlet.close()
            self._outlet = None
