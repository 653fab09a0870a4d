"""What time the broker thinks it is: the timestamp that it gives a message.

The message is a tombstone of a key that no label has; compaction removes it. Whoever may not write
there is not told.
"""

from __future__ import annotations

from typing import Any

from kafka import KafkaProducer
from kafka.errors import AuthorizationError, KafkaError

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken
from reusewatch.streams.kafka.config import KafkaConfig, producer_settings
from reusewatch.streams.kafka.connect import connect

_KEY = b"doctor"


def broker_clock(config: KafkaConfig) -> float | None:
    """Seconds since the epoch, by the broker's clock; None where this login may not write."""
    # Sent once or twice, it says the same: no right on the cluster is asked for.
    settings = producer_settings(config) | {"enable_idempotence": False}
    producer = connect(KafkaProducer, config, settings)
    try:
        sent: Any = producer.send(config.topic(topics.LABELS), key=_KEY, value=None)
        timestamp: int = sent.get(timeout=config.connect_timeout).timestamp
    except AuthorizationError:
        return None
    except KafkaError as error:
        raise BusBroken(f"no message can be sent: {type(error).__name__}: {error}") from error
    finally:
        producer.close(timeout=config.connect_timeout)
    return timestamp / 1000
