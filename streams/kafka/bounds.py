"""Where partitions begin and end, or an error that passes while one of them has no leader.

kafka-python answers for the partitions whose leader it knows, and raises KeyError for the others:
with one broker of three gone that would end a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka import TopicPartition
from kafka.errors import LeaderNotAvailableError

ASK_TIMEOUT_MS = 5000


def bounds(
    ask: Callable[..., dict[TopicPartition, int]], partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, int]:
    """What a consumer's `beginning_offsets` or `end_offsets` says of all of these partitions."""
    try:
        return ask(list(partitions), timeout_ms=ASK_TIMEOUT_MS)
    except KeyError as missing:
        tp: TopicPartition = missing.args[0]
        raise LeaderNotAvailableError(f"{tp.topic}/{tp.partition} has no leader") from missing
