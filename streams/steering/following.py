"""The topic of alerts, followed in a thread, for those who need the places that are open now.

A bus that is away changes nothing: what was known holds until it expires, and the topic is read
from its beginning when the bus is back, since it keeps the last that was said of each finding.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime

from reusewatch.streams import topics
from reusewatch.streams.bus import Bus, BusError
from reusewatch.streams.steering.places import KeptOut, Places
from reusewatch.streams.wire import WireError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
# Of ten thousands of findings each change takes a while in which a spider beside it stands still: a
# fifth of the time at the most.
_RESTS = 4


class Following:
    """Tells `hold`, in its thread, what is open whenever that changes. `known` is set once all
    that stood on the topic was told."""

    def __init__(
        self,
        open_bus: Callable[[threading.Event], Bus],
        places: Callable[[], Places],
        hold: Callable[[list[KeptOut]], None],
        say: Callable[[str], None],
    ) -> None:
        self.known = threading.Event()
        self.passed_over = 0
        self._open_bus = open_bus
        self._places = places
        self._tell = hold
        self._say = say
        self._stop = threading.Event()
        self._changed = False
        self._not_before = 0.0
        # A daemon: who is told twice to stop does not wait for a broker.
        self._thread = threading.Thread(target=self._run, name="reusewatch-places", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def stop(self) -> None:
        """Read no more; the thread ends soon after."""
        self._stop.set()

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join()

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stop.is_set():
            try:
                self._follow()
                pause = _FIRST_PAUSE
            except BusError as error:
                self._say(f"what is open is as it was known last: {error}")
                self._stop.wait(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)

    def _follow(self) -> None:
        places = self._places()
        self._changed = True
        read = self._open_bus(self._stop).read(
            topics.ALERTS, follow=True, stop=self._stop.is_set, idle=lambda: self._hold(places)
        )
        for message in read:
            try:
                places.take(message)
                self._changed = True
            except WireError as error:
                # It hides nothing of what comes behind it.
                self.passed_over += 1
                if self.passed_over == 1:
                    self._say(f"passed over an alert that cannot be read: {error}")

    def _hold(self, places: Places) -> None:
        """All that came was taken."""
        if self._changed and time.monotonic() >= self._not_before:
            began = time.thread_time()
            self._tell(places.at(datetime.now(UTC)))
            self._not_before = time.monotonic() + _RESTS * (time.thread_time() - began)
            self._changed = False
        self.known.set()
