"""The bus: what stages and sources need of one, whichever it is.

A bus has topics, a topic has partitions, a partition has messages in order. Two implementations
(`streams.local`, `streams.kafka`) pass the same contract tests; the stages do not know which.
What a bus acknowledged (`flush` returned) is read again until it is committed.

BusError
├── Unreachable    the broker or the directory cannot be reached
│   └── NoRoom         the disk is full
├── BusBroken      it is reached, and what it holds or says is wrong
│   ├── BusMisnamed    its address, a prefix or a topic that was named: nothing is called so
│   └── Parted         parts that belong together are not there together
├── TooLarge       a message over the limit of its topic
├── PastRetention  the next message to read is gone
└── NotOwner       another process reads in our place
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import msgspec


class BusError(Exception):
    """Root of what can go wrong on a bus."""


class Unreachable(BusError):
    """The broker, or the directory, cannot be reached."""


class NoRoom(Unreachable):
    """The disk is full: what waits until there is room goes on as if nothing had been."""


class BusBroken(BusError):
    """The bus is there, and what it holds or says is wrong."""


class BusMisnamed(BusBroken):
    """What was named is not there, or can be no name: a slip of the pen, not a fault of the bus."""


class Parted(BusBroken):
    """A part of the bus, or what is kept beside it, belongs to something that is not there."""


class TooLarge(BusError):
    """A message larger than its topic takes."""


class PastRetention(BusError):
    """The next message to read has left the topic: data was lost between two runs."""


class NotOwner(BusError):
    """Another process took over what this one was reading."""


class Partition(NamedTuple):
    """One partition of a topic."""

    topic: str
    number: int


class Outgoing(msgspec.Struct, frozen=True):
    """A message to be sent. `value` None is a tombstone: the key is gone from a compacted topic."""

    topic: str
    key: str
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    # Where the sender knows better than the hash of the key (blocks of several sites).
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was read."""

    partition: Partition
    offset: int
    key: str
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_ms: int


Offsets = Mapping[Partition, int]

# As an offset to seek to: the first message that the topic still has.
BEGINNING = -1


class Outlet(Protocol):
    """Where messages go. `send` may wait (backpressure), `flush` returns when all are safe."""

    def send(self, *messages: Outgoing) -> None:
        """Take the messages, in order. Raises TooLarge at once; blocks while too much is in flight.
        Several together cost less than each alone."""

    def flush(self) -> None:
        """Return when everything sent is acknowledged; mends a broken connection by itself."""

    def flush_then(self, then: Callable[[], None]) -> None:
        """Flush, and then do this: maybe beside what is done next, at the latest by the next
        flush."""

    def partitions(self, topic: str) -> int:
        """How many partitions the topic has."""

    def partition_for(self, topic: str, key: str) -> int:
        """The partition to which the key belongs, the same for every process."""

    def close(self) -> None:
        """Flush, and release what is held."""

    def abandon(self) -> None:
        """Release what is held, as after an error: what was sent since the last flush is sent again
        by whoever reads its source again. Never raises BusError."""


class FlushedAtClose(ABC):
    """How an outlet is closed, whichever bus it is of; each says what it releases."""

    def __init__(self) -> None:
        self._closed = False

    def close(self) -> None:
        """Flush, and release what is held, also when flushing fails; a second call does nothing."""
        if self._closed:
            return
        # First: closed again after a failure, it would wait once more for what cannot be sent.
        self._closed = True
        try:
            self.flush()
        finally:
            self._release()

    def abandon(self) -> None:
        """Let go of it; what was sent may become safe, since nothing stands for it here."""
        with suppress(BusError):
            self.close()

    @abstractmethod
    def flush(self) -> None:
        """Return when everything sent is safe."""

    def flush_then(self, then: Callable[[], None]) -> None:
        """At once, where nothing can be done beside it."""
        self.flush()
        then()

    @abstractmethod
    def _release(self) -> None:
        """Let go of connections and files."""


class Inlet(Protocol):
    """What a stage reads: its share of some topics' partitions."""

    def poll(self, timeout: float) -> Sequence[Message]:
        """The next messages, in order per partition; empty after `timeout` seconds without any."""

    def committed(self) -> Offsets:
        """For each partition held, the offset after the last message committed (absent: none)."""

    def seek(self, offsets: Offsets) -> None:
        """Read on from here, or from BEGINNING. PastRetention, at the latest at the next poll, if
        that offset is gone."""

    def commit(self, offsets: Offsets) -> None:
        """Everything before these offsets is done."""

    def joined(self) -> bool:
        """Whether this reader has its share, which may be none."""

    def lag(self) -> Mapping[Partition, int]:
        """How many messages are waiting, per partition held."""

    def close(self) -> None:
        """Leave; what is not committed is read again by whoever comes next."""


# Called with partitions as they come and go. On `lost` the stage commits what it has done.
OnAssigned = Callable[[Sequence[Partition]], None]
OnRevoked = Callable[[Sequence[Partition]], None]


class Bus(Protocol):
    """A place to send to and to read from."""

    def outlet(self) -> Outlet:
        """A new outlet, for one thread."""

    def inlet(
        self,
        group: str,
        topics: Sequence[str],
        *,
        sole: bool = False,
        on_assigned: OnAssigned | None = None,
        on_revoked: OnRevoked | None = None,
    ) -> Inlet:
        """A new reader for the group. `sole`: one member reads everything, others stand by."""

    def read(
        self,
        topic: str,
        *,
        partition: int | None = None,
        follow: bool = False,
        every: bool = False,
        stop: Callable[[], bool] | None = None,
        idle: Callable[[], None] | None = None,
    ) -> Iterator[Message]:
        """All messages of a topic, or of one partition, as it is now, the last one of each key
        where it is compacted; with `follow` then those that come, until `stop` says so. `stop` is
        asked whenever all that there is was handed out. `every`: also of a compacted topic all that
        it still has, for a topic that is too large to be a table in memory. `idle` is called while
        it follows, again and again, when all that there was has been handed out."""

    def mark(self) -> str:
        """What stands on the bus now, for a file that is kept beside it; nothing where the bus
        itself is the only one to know what was done."""

    def require(self, mark: str, what: str) -> None:
        """Raise Parted where this is not the bus of a mark, or one from before it. `what` names
        the file that has the mark."""

    def check(self) -> None:
        """Raise Unreachable or BusBroken with what to do about it."""

    def close(self) -> None:
        """Release what is held."""
