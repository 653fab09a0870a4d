"""One message of a topic, read again by partition and offset while the topic retains it.

A consumer of its own and without a group: it is assigned, and seeks. One is kept for each cluster,
used by one thread at a time; it never commits, and never waits long for a broker.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import KafkaError

from reusewatch.streams.bus import Message, Unreachable
from reusewatch.streams.kafka.bounds import ASK_TIMEOUT_MS, bounds
from reusewatch.streams.kafka.config import KafkaConfig, reader_settings
from reusewatch.streams.kafka.connect import connect, disconnect
from reusewatch.streams.kafka.inlet import to_message

_lock = Lock()


def message_again(config: KafkaConfig, topic: str, partition: int, offset: int) -> Message | None:
    """The message that stands there; None where it is not retained any more, or not there yet."""
    tp = TopicPartition(topic, partition)
    with _lock:
        try:
            return _read(config, _consumer(config), tp, offset)
        except KafkaError as error:
            close_readers()
            raise Unreachable(f"{topic}/{partition} cannot be read again: {error}") from error


def close_readers() -> None:
    """Close what is kept."""
    for consumer in _open:
        disconnect(consumer, ASK_TIMEOUT_MS)
    _open.clear()
    _consumer.cache_clear()


_open: list[Any] = []


@cache
def _consumer(config: KafkaConfig) -> Any:
    made = connect(KafkaConsumer, config, reader_settings(config))
    _open.append(made)
    return made


def _read(config: KafkaConfig, consumer: Any, tp: TopicPartition, offset: int) -> Message | None:
    if tp.partition not in (consumer.partitions_for_topic(tp.topic) or ()):
        return None
    consumer.assign([tp])
    begin = bounds(consumer.beginning_offsets, [tp])[tp]
    if not begin <= offset < bounds(consumer.end_offsets, [tp])[tp]:
        return None
    consumer.seek(tp, offset)
    for record in consumer.poll(timeout_ms=ASK_TIMEOUT_MS, max_records=1).get(tp, ()):
        if record.offset == offset:
            return to_message(config, record)
    return None
