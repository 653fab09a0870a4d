"""Reading until a condition holds, for tests of the bus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from reusewatch.streams.bus import Inlet, Message, Outgoing, Partition

PATIENCE = 60.0


def poll_until(inlet: Inlet, enough: Callable[[list[Message]], bool]) -> list[Message]:
    """Everything polled until it is enough."""
    end = time.monotonic() + PATIENCE
    read: list[Message] = []
    while not enough(read):
        assert time.monotonic() < end, f"waited in vain; read {len(read)} messages"
        read += inlet.poll(0.2)
    return read


def take(inlet: Inlet, count: int) -> list[Message]:
    """At least so many messages."""
    return poll_until(inlet, lambda read: len(read) >= count)


def ends(messages: Iterable[Message]) -> dict[Partition, int]:
    """Offsets that commit all of these."""
    last: dict[Partition, int] = {}
    for message in messages:
        last[message.partition] = max(last.get(message.partition, 0), message.offset + 1)
    return last


def numbered(topic: str, count: int, *, start: int = 0, keys: int = 10) -> list[Outgoing]:
    """Messages that say their number."""
    return [
        Outgoing(topic, f"site{n % keys}.example", str(n).encode())
        for n in range(start, start + count)
    ]


def numbers(messages: Iterable[Message]) -> list[int]:
    """The numbers that the messages say."""
    return [int(message.value or b"-1") for message in messages]


def in_order(messages: Sequence[Message]) -> bool:
    """Whether in each partition the numbers first appear in ascending order."""
    firsts: dict[Partition, list[int]] = {}
    known: set[int] = set()
    for message, number in zip(messages, numbers(messages), strict=True):
        if number not in known:
            known.add(number)
            firsts.setdefault(message.partition, []).append(number)
    return all(found == sorted(found) for found in firsts.values())
