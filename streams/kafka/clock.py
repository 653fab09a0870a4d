"""What time the broker thinks it is: the timestamp that it gives a message.

The message is a tombstone of a key that no label has; compaction removes it.
"""

from __future__ import annotations

from typing import Any

from kafka import KafkaProducer

from reusewatch.streams import topics
from reusewatch.streams.kafka.config import KafkaConfig, producer_settings
from reusewatch.streams.kafka.connect import connect

_KEY = b"doctor"


def broker_clock(config: KafkaConfig) -> float:
    """Seconds since the epoch, by the broker's clock."""
    producer = connect(KafkaProducer, config, producer_settings(config))
    try:
        sent: Any = producer.send(config.topic(topics.LABELS), key=_KEY, value=None)
        timestamp: int = sent.get(timeout=config.connect_timeout).timestamp
    finally:
        producer.close(timeout=config.connect_timeout)
    return timestamp / 1000
