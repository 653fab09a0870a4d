"""A bus in memory, of any number of partitions, that notes what is done to it and when.

For tests of the worker: which message comes when is for the test to say.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from reusewatch.streams.bus import (
    BEGINNING,
    Message,
    Offsets,
    OnAssigned,
    OnRevoked,
    Outgoing,
    Partition,
)


@dataclass
class MemoryBus:
    """What was sent, what was committed, and `did`: the calls that make things last, in order."""

    counts: Mapping[str, int] = field(default_factory=dict)
    logs: dict[Partition, list[Message]] = field(default_factory=dict)
    commits: dict[tuple[str, Partition], int] = field(default_factory=dict)
    did: list[str] = field(default_factory=list)
    first: dict[Partition, int] = field(default_factory=dict)

    def parts(self, topic: str) -> list[Partition]:
        return [Partition(topic, n) for n in range(self.counts.get(topic, 1))]

    def append(self, message: Outgoing) -> None:
        number = message.partition
        if number is None:
            number = zlib.crc32(message.key.encode()) % self.counts.get(message.topic, 1)
        part = Partition(message.topic, number)
        log = self.logs.setdefault(part, [])
        now = time.time_ns() // 1_000_000
        log.append(Message(part, len(log), message.key, message.value, message.headers, now))

    def outlet(self) -> MemoryOutlet:
        return MemoryOutlet(self)

    def inlet(
        self,
        group: str,
        topics: Sequence[str],
        *,
        sole: bool = False,
        on_assigned: OnAssigned | None = None,
        on_revoked: OnRevoked | None = None,
    ) -> MemoryInlet:
        return MemoryInlet(self, group, topics, on_assigned, on_revoked)

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
        for part in self.parts(topic):
            if partition in (None, part.number):
                yield from self.logs.get(part, [])

    def mark(self) -> str:
        return ""

    def require(self, mark: str, what: str) -> None: ...

    def check(self) -> None: ...

    def close(self) -> None: ...


class MemoryOutlet:
    """Keeps until `flush`."""

    def __init__(self, bus: MemoryBus) -> None:
        self.bus = bus
        self.pending: list[Outgoing] = []
        self.then: list[Callable[[], None]] = []

    def send(self, *messages: Outgoing) -> None:
        self.pending.extend(messages)

    def flush(self) -> None:
        self.bus.did.append("flush")
        for message in self.pending:
            self.bus.append(message)
        self.pending.clear()
        for then in self.then:
            then()
        self.then.clear()

    def flush_then(self, then: Callable[[], None]) -> None:
        """As late as it may be."""
        self.then.append(then)

    def partitions(self, topic: str) -> int:
        return self.bus.counts.get(topic, 1)

    def partition_for(self, topic: str, key: str) -> int:
        return zlib.crc32(key.encode()) % self.partitions(topic)

    def close(self) -> None:
        self.flush()

    def abandon(self) -> None:
        self.pending.clear()
        self.then.clear()


class MemoryInlet:
    """Gives out `limit` messages a poll, of the partitions in turn; `pick` says of which."""

    limit = 3

    def __init__(
        self,
        bus: MemoryBus,
        group: str,
        names: Sequence[str],
        on_assigned: OnAssigned | None,
        on_revoked: OnRevoked | None,
    ) -> None:
        self.bus = bus
        self.group = group
        self.held: dict[Partition, int] = {}
        self.on_assigned = on_assigned
        self.on_revoked = on_revoked
        self.member = True
        self.to_come = [[part for name in names for part in bus.parts(name)]]
        self.pick: Callable[[list[Partition]], Partition] = lambda parts: parts[0]
        bus.did.append("join")

    def poll(self, timeout: float) -> Sequence[Message]:
        if self.to_come:
            self.take(self.to_come.pop(0))
        waiting = [part for part in self.held if self.lag()[part]]
        if not waiting:
            return []
        part = self.pick(waiting)
        found = self.bus.logs[part][self.held[part] :][: self.limit]
        self.held[part] += len(found)
        return found

    def take(self, parts: Sequence[Partition]) -> None:
        known = self.committed_of(parts)
        for part in parts:
            self.held[part] = known.get(part, self.bus.first.get(part, 0))
        if self.on_assigned is not None:
            self.on_assigned(parts)

    def lose(self, parts: Sequence[Partition]) -> None:
        if self.on_revoked is not None:
            self.on_revoked(parts)
        for part in parts:
            del self.held[part]

    def committed_of(self, parts: Sequence[Partition]) -> dict[Partition, int]:
        found = {part: self.bus.commits.get((self.group, part)) for part in parts}
        return {part: at for part, at in found.items() if at is not None}

    def committed(self) -> Offsets:
        return self.committed_of(list(self.held))

    def seek(self, offsets: Offsets) -> None:
        for part, offset in offsets.items():
            self.held[part] = self.bus.first.get(part, 0) if offset == BEGINNING else offset

    def commit(self, offsets: Offsets) -> None:
        self.bus.did.append("commit")
        for part, offset in offsets.items():
            self.bus.commits[self.group, part] = offset

    def joined(self) -> bool:
        return self.member

    def lag(self) -> Mapping[Partition, int]:
        return {p: len(self.bus.logs.get(p, [])) - at for p, at in self.held.items()}

    def close(self) -> None:
        self.bus.did.append("leave")
