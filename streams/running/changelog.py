"""State on a compacted topic, for stages whose partitions go from one process to another.

What is held of partition n is in partition n of the changelog. A partition that comes is taken up
from there, to the end, before any message of it is processed; what changes is written before the
offsets of the messages that changed it (`streams.running.commit`). So nothing need be read again in
silence: where the offsets stand, the state stands.

Logged      what a stage is that has one
Changelog   a stage's, as its worker uses it
Following   a topic that all of them write to, and read: a thread of its own
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from reusewatch.streams.bus import Bus, BusBroken, BusError, Message, Outgoing, Outlet, Partition
from reusewatch.streams.stages.stage import Stage

_LEAVE_SECONDS = 5.0


class Logged(Stage, Protocol):
    """A stage whose state is separate by partition, and can be told in messages."""

    def changes(self) -> list[Outgoing]:
        """What has changed since this was last asked, in the order in which it is to be written."""

    def take_up(self, part: int, messages: Iterable[Message]) -> None:
        """Hold a partition, of which the changelog says this."""

    def drop(self, parts: Iterable[int]) -> None:
        """Let go of partitions; those that are not held are none of its."""

    def hear(self, messages: Iterable[Message]) -> None:
        """What any process of the stage said to all."""


class Following:
    """What is on a topic, and what comes; read by a thread of its own, asked for by another."""

    def __init__(self, bus: Bus, topic: str) -> None:
        self._bus = bus
        self._topic = topic
        self._found: queue.SimpleQueue[Message | BusError] = queue.SimpleQueue()
        self._leave = threading.Event()
        # What is there already is known before anything is judged.
        for message in bus.read(topic):
            self._found.put(message)
        self._thread = threading.Thread(target=self._run, name=f"{topic} follower", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for message in self._bus.read(self._topic, follow=True, stop=self._leave.is_set):
                self._found.put(message)
        except BusError as error:
            self._found.put(error)

    def __call__(self) -> list[Message]:
        """What has come since this was last asked."""
        found = []
        while not self._found.empty():
            one = self._found.get_nowait()
            if isinstance(one, BusError):
                raise one
            found.append(one)
        return found

    def close(self) -> None:
        """End the thread."""
        self._leave.set()
        self._thread.join(_LEAVE_SECONDS)


class Changelog:
    """A stage's state on `topic`, and what its processes tell each other."""

    def __init__(
        self,
        stage: Logged,
        bus: Bus,
        topic: str,
        *,
        news: Callable[[], Sequence[Message]],
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._stage = stage
        self._bus = bus
        self._topic = topic
        self._news = news
        self._close = close

    def listen(self) -> None:
        """Hear what the others say."""
        news = self._news()
        if news:
            self._stage.hear(news)

    def take_up(self, parts: Iterable[Partition]) -> None:
        """Hold these partitions, as their changelog has them."""
        for part in parts:
            self._stage.take_up(part.number, self._bus.read(self._topic, partition=part.number))

    def drop(self, parts: Iterable[Partition]) -> None:
        """Let go of these."""
        self._stage.drop([part.number for part in parts])

    def write(self, outlet: Outlet) -> None:
        """Make the changes last, and what was sent before them."""
        outlet.send(*self._stage.changes())
        outlet.flush()

    def close(self) -> None:
        """Release what is held."""
        self._close()


def require_room(outlet: Outlet, topic: str, of: str) -> int:
    """How many partitions `of` has; BusBroken where its changelog has fewer."""
    wanted, found = outlet.partitions(of), outlet.partitions(topic)
    if found < wanted:
        raise BusBroken(
            f"{topic} has {found} partitions and {of} {wanted}: the state of each is kept in the "
            f"one of the same number. Stop the workers, and give {topic} {wanted} "
            "(kafka-topics --alter --partitions)"
        )
    return wanted
