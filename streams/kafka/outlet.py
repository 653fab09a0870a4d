"""Sending to Kafka: bounded, in order, and not lost over any outage that is waited out.

kafka-python's idempotent producer is safe until it gives up on a message; after that it neither
sends nor fails what follows, and can hang while closing. So it is never asked to recover: it is
closed with a timeout, a new one is made, and everything not yet safe is sent again in order. A
message may then be on the topic twice, never not at all. One thread uses an outlet.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from kafka import KafkaProducer
from kafka.errors import (
    AuthorizationError,
    BrokerResponseError,
    KafkaError,
    MessageSizeTooLargeError,
    RecordListTooLargeError,
    RetriableError,
)
from kafka.structs import TopicPartition

from reusewatch.streams import topics
from reusewatch.streams.bus import (
    BusBroken,
    BusError,
    FlushedAtClose,
    Outgoing,
    Partition,
    TooLarge,
    Unreachable,
)
from reusewatch.streams.kafka.admin import require_topics
from reusewatch.streams.kafka.config import KafkaConfig, producer_settings
from reusewatch.streams.kafka.connect import connect
from reusewatch.streams.kafka.inflight import Entry, InFlight
from reusewatch.streams.kafka.murmur import murmur2
from reusewatch.streams.kafka.patience import Patience
from reusewatch.streams.kafka.quick_send import KNOWN, encode_key, hand_over, size_of

CLOSE_TIMEOUT = 5.0
# Messages that are given to the client at once. Of thousands, what is in flight would be no bound.
_TOGETHER = 1024


class KafkaOutlet(FlushedAtClose):
    """An outlet to the topics of a cluster."""

    def __init__(self, config: KafkaConfig, patience: Patience) -> None:
        super().__init__()
        self._config = config
        self._patience = patience
        self._in_flight = InFlight(config.in_flight_bytes, config.in_flight_messages)
        self._partitions: dict[str, int] = {}
        # To which this producer has sent: it knows where they are.
        self._sent_to: set[TopicPartition] = set()
        # As the client names them.
        self._places: dict[Partition, TopicPartition] = {}
        self._gave_up = False
        # Found out late, about a message sent long ago: each flush tells, as one that did not would
        # let offsets pass the message. `send` must not.
        self._refused: list[BusBroken] = []
        # When to look again at a broker that acknowledges nothing, and since when it has answered.
        self._suspected_at = 0.0
        self._answering_since: float | None = None
        self._producer = self._connect()

    def send(self, *messages: Outgoing) -> None:
        """Take the messages; blocks while too much is in flight, raises TooLarge at once."""
        for begin in range(0, len(messages), _TOGETHER):
            together = messages[begin : begin + _TOGETHER]
            sizes = [message_size(message) for message in together]
            for message, size in zip(together, sizes, strict=True):
                check_size(message, size)
            total = sum(sizes)
            while self._in_flight.full(total) or self._in_flight.failed:
                self._attend()
            self._put(together, sizes)

    def flush(self) -> None:
        """Return when everything sent is acknowledged."""
        while len(self._in_flight):
            self._attend()
        self._patience.answered()
        if self._refused:
            raise self._refused[0]

    def take_back(self) -> Sequence[Outgoing]:
        """Give up what is not acknowledged, and hand it back in order; then there is only close."""
        self._gave_up = True
        return self._in_flight.restart()

    def partitions(self, topic: str) -> int:
        """How many partitions the topic has."""
        if topic not in self._partitions:
            self._partitions[topic] = self._patience.retry(
                lambda: self._count_partitions(topic), f"partitions of {topic}"
            )
        return self._partitions[topic]

    def partition_for(self, topic: str, key: str) -> int:
        """The partition to which the key belongs, by the hash that every Kafka client uses."""
        return _hash(encode_key(key)) % self.partitions(topic)

    def _release(self) -> None:
        discard(self._producer, force=self._gave_up or len(self._in_flight) > 0)

    def _count_partitions(self, topic: str) -> int:
        count = require_topics(self._config, [topic])[topic]
        # The producer learns of the topic now: in an outage its first send would block.
        self._producer.partitions_for(self._config.topic(topic))
        return count

    def _put(self, messages: Sequence[Outgoing], sizes: Sequence[int]) -> None:
        # Before the ledger is locked: a partition may have to be asked for.
        partitions = [self._to(message) for message in messages]
        by_partition: defaultdict[Partition, list[Entry]] = defaultdict(list)
        for entry in self._in_flight.add(list(zip(messages, partitions, sizes, strict=True))):
            by_partition[entry.partition].append(entry)
        for partition, entries in by_partition.items():
            # What follows a failed message must not overtake it: the next producer sends both.
            if not self._in_flight.failed:
                self._give(partition, entries)

    def _to(self, message: Outgoing) -> Partition:
        number = message.partition
        if number is None:
            number = self.partition_for(message.topic, message.key)
        return Partition(message.topic, number)

    def _give(self, partition: Partition, entries: Sequence[Entry]) -> None:
        """Give the client messages of one partition."""
        to = self._places.get(partition)
        if to is None:
            to = TopicPartition(self._config.topic(partition.topic), partition.number)
            self._places[partition] = to
        producer: Any = self._producer
        try:
            for at, entry in enumerate(entries):
                if KNOWN and to in self._sent_to:
                    # The sender is not woken for each message that comes while another batch waits:
                    # a batch that is full is sent when the next one begins, or a moment later.
                    if hand_over(producer._accumulator, to, entries[at:], self._in_flight):
                        producer._sender.wakeup()
                    return
                self._give_first(to, entry)
        except (KafkaError, AssertionError, ValueError) as error:
            # One stands for all: what is not acknowledged is sent again in order.
            self._in_flight.fail(entries[0], error)

    def _give_first(self, to: TopicPartition, entry: Entry) -> None:
        """As the client has it, which now learns where the partition is."""
        message, producer = entry.message, self._producer
        future: Any = producer.send(
            to.topic, key=encode_key(message.key), value=message.value,
            headers=list(message.headers), partition=to.partition,
        )  # fmt: skip
        self._sent_to.add(to)
        future.add_callback(lambda _: self._in_flight.acknowledge(entry))
        future.add_errback(lambda error: self._in_flight.fail(entry, error))

    def _attend(self) -> None:
        """Wait a moment for acknowledgements, and mend what is broken."""
        self._in_flight.wait(0.2)
        if failures := self._in_flight.failures():
            self._judge(failures)
            self._renew(f"{type(failures[0][1]).__name__}: {failures[0][1]}")
            return
        stalled = self._in_flight.stalled()
        self._patience.waiting(stalled, f"{len(self._in_flight)} messages not acknowledged")
        if stalled > self._config.stall and time.monotonic() > self._suspected_at:
            self._suspect()

    def _judge(self, failures: Sequence[tuple[Entry, BaseException]]) -> None:
        """Sort out what no other producer would get through."""
        # The producer splits batches until one message is left, and gives up all it has with the
        # same error as that one, which fails first. The rest is sent again.
        entry, error = failures[0]
        if isinstance(error, MessageSizeTooLargeError | RecordListTooLargeError):
            self._in_flight.drop(entry)
            self._refused.append(_refused_by_broker(self._config, entry))
        for entry, error in failures:
            if isinstance(error, BrokerResponseError) and _is_hopeless(error):
                name = self._config.topic(entry.partition.topic)
                raise BusBroken(f"the broker refuses messages to {name}: {error}") from error

    def _renew(self, reason: str) -> None:
        """A new producer in place of a failed one, with everything that is not yet safe."""
        self._patience.report(f"sending failed ({reason}): starting anew")
        discard(self._producer, force=True)
        self._producer = self._patience.retry(self._connect, "sending", self._in_flight.stalled)
        self._send_again()

    def _suspect(self) -> None:
        """No acknowledgement for long: the broker is away, or this producer is stuck."""
        try:
            fresh = self._connect()
        except Unreachable as error:
            # Away. What is in flight stays where it cannot be doubled.
            self._patience.away(str(error))
            self._answering_since = None
            self._suspected_at = time.monotonic() + self._config.stall / 4
            return
        if not self._is_stuck():
            discard(fresh, force=True)
            return
        discard(self._producer, force=True)
        self._producer = fresh
        self._send_again()

    def _is_stuck(self) -> bool:
        """Whether the broker has answered for the whole of the stall limit, and still nothing came.

        A broker that has just come back answers a new client at once, and this producer within
        seconds. Replaced in between, it would have sent what the new one sends again.
        """
        now = time.monotonic()
        since = self._answering_since
        if since is None or self._in_flight.stalled() < now - since:
            self._answering_since = now
            self._suspected_at = now + self._config.stall
            return False
        return now - since >= self._config.stall

    def _send_again(self) -> None:
        self._sent_to.clear()
        messages = self._in_flight.restart()
        self._put(messages, [message_size(message) for message in messages])

    def _connect(self) -> KafkaProducer:
        return connect(KafkaProducer, self._config, producer_settings(self._config))


def discard(producer: Any, *, force: bool) -> None:
    """Close a producer within seconds, whatever state it is in.

    `close` alone waits for what a wedged producer will never finish, and then leaves its thread.
    """
    with suppress(KafkaError, BusError):
        if force:
            producer._sender.force_close()
        producer.close(CLOSE_TIMEOUT)


def message_size(message: Outgoing) -> int:
    """Bytes of a batch of this message alone, before compression, at most."""
    return size_of(encode_key(message.key), message.value, message.headers)


def check_size(message: Outgoing, size: int) -> None:
    """Raise TooLarge for what the topic does not take."""
    limit = topics.TOPICS[message.topic].message_bytes if message.topic in topics.TOPICS else size
    if size > limit:
        raise TooLarge(
            f"a message of {size} bytes for {message.topic} (key {message.key[:80]!r}); "
            f"the topic takes {limit}"
        )


def _refused_by_broker(config: KafkaConfig, entry: Entry) -> BusBroken:
    topic = entry.partition.topic
    return BusBroken(
        f"the broker refuses a message of {entry.size} bytes, before compression, for "
        f"{config.topic(topic)} (key {entry.message.key[:80]!r}): its max.message.bytes is below "
        f"{topics.TOPICS[topic].message_bytes}; see `reusewatch topics check`"
    )


def _is_hopeless(error: BrokerResponseError) -> bool:
    return isinstance(error, AuthorizationError) or (
        not isinstance(error, RetriableError) and error.errno in _HOPELESS
    )


# Invalid topic, unsupported compression, refused by policy, timestamp out of range, bad record.
_HOPELESS = frozenset({17, 44, 32, 76, 87})


@lru_cache(maxsize=1 << 16)
def _hash(key: bytes) -> int:
    return murmur2(key) & 0x7FFFFFFF
