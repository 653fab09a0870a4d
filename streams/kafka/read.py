"""Reading a topic as it is: no group, no offsets kept, from the first message to the last.

A compacted topic is a table: the last message of each key, those that were withdrawn left out.
Holds that table in memory, unless every message is asked for; never commits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import OffsetOutOfRangeError

from reusewatch.streams import topics
from reusewatch.streams.bus import Message
from reusewatch.streams.kafka.admin import require_topics
from reusewatch.streams.kafka.bounds import ASK_TIMEOUT_MS, bounds
from reusewatch.streams.kafka.config import KafkaConfig, reader_settings
from reusewatch.streams.kafka.connect import connect, disconnect
from reusewatch.streams.kafka.inlet import CLOSE_TIMEOUT_MS, to_message
from reusewatch.streams.kafka.patience import Patience
from reusewatch.streams.kafka.patience import idle as do_nothing
from reusewatch.streams.signals import to_the_end

# How often who reads is asked whether to stop, and how long the broker, which tells news at once,
# may have none: all of what it costs to follow a topic on which nothing comes.
SLICE_MS = 500
FOLLOW_WAIT_MS = 2000


def read(
    config: KafkaConfig,
    topic: str,
    patience: Patience,
    *,
    partition: int | None = None,
    follow: bool = False,
    every: bool = False,
    stop: Callable[[], bool] | None = None,
    idle: Callable[[], None] | None = None,
) -> Iterator[Message]:
    """All messages as of now; with `follow` then those that come, tombstones included."""
    reader = patience.open(
        lambda: _Reader(config, topic, partition, patience, stop or _never, follow=follow)
    )
    try:
        messages = reader.until_now()
        table = topics.TOPICS[topic].cleanup == "compact" and not every
        yield from latest(messages) if table else messages
        if follow:
            yield from reader.from_now(idle or do_nothing)
    finally:
        reader.close()


def latest(messages: Iterator[Message]) -> Iterator[Message]:
    """The last message of each key, in the order of their offsets, without tombstones."""
    table: dict[str, Message] = {}
    for message in messages:
        # Anew at the end of the dict, so that its order is the topic's.
        table.pop(message.key, None)
        if message.value is not None:
            table[message.key] = message
    yield from table.values()


class _Reader:
    def __init__(
        self,
        config: KafkaConfig,
        topic: str,
        partition: int | None,
        patience: Patience,
        stop: Callable[[], bool],
        *,
        follow: bool,
    ) -> None:
        self._config = config
        self._patience = patience
        self._stop = stop
        number = require_topics(config, [topic])[topic]
        wanted = range(number) if partition is None else [partition]
        self._partitions = [TopicPartition(config.topic(topic), n) for n in wanted]
        waiting = {"fetch_max_wait_ms": FOLLOW_WAIT_MS} if follow else {}
        self._consumer = connect(KafkaConsumer, config, reader_settings(config) | waiting)
        self._consumer.assign(self._partitions)
        for tp, offset in self._bounds(self._consumer.beginning_offsets).items():
            self._consumer.seek(tp, offset)

    def until_now(self) -> Iterator[Message]:
        ends = self._bounds(self._consumer.end_offsets)
        while not self._stop() and any(self._position(tp) < end for tp, end in ends.items()):
            yield from (m for tp, m in self._some() if m.offset < ends[tp])
        # What lies beyond was fetched with the rest; `from_now` gives it.
        for tp, end in ends.items():
            if self._position(tp) > end:
                self._consumer.seek(tp, end)

    def from_now(self, idle: Callable[[], None]) -> Iterator[Message]:
        while not self._stop():
            idle()
            yield from (message for _, message in self._some())

    def close(self) -> None:
        with to_the_end():
            disconnect(self._consumer, CLOSE_TIMEOUT_MS)

    def _some(self) -> list[tuple[TopicPartition, Message]]:
        records = self._patience.retry(self._poll, "reading")
        return [(tp, to_message(self._config, r)) for tp, batch in records.items() for r in batch]

    def _poll(self) -> dict[TopicPartition, list[Any]]:
        try:
            with to_the_end():
                records: dict[TopicPartition, list[Any]] = self._consumer.poll(timeout_ms=SLICE_MS)
        except OffsetOutOfRangeError as error:
            # Retention took the beginning while it was read: go on with what there is.
            for tp, offset in self._bounds(self._consumer.beginning_offsets).items():
                if tp in error.args[0]:
                    self._consumer.seek(tp, offset)
            return {}
        return records

    def _bounds(self, ask: Callable[..., dict[TopicPartition, int]]) -> dict[TopicPartition, int]:
        def asked() -> dict[TopicPartition, int]:
            with to_the_end():
                return bounds(ask, self._partitions)

        return self._patience.retry(asked, "reading")

    def _position(self, tp: TopicPartition) -> int:
        def asked() -> int:
            with to_the_end():
                return int(self._consumer.position(tp, timeout_ms=ASK_TIMEOUT_MS) or 0)

        return self._patience.retry(asked, "reading")


def _never() -> bool:
    return False
