"""Where partitions begin and end, or an error that passes while the leader of one is not known.

kafka-python answers for the partitions whose leader it knows, and raises KeyError for the others:
with one broker of three gone that would end a worker. It asks a broker that no longer leads a
partition again and again, a thousand times a second, and never asks which broker leads it now: a
worker would wait for minutes after a leader has moved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kafka import TopicPartition
from kafka.errors import LeaderNotAvailableError, RetriableError, for_code
from kafka.future import Future

ASK_TIMEOUT_MS = 5000
_error: Any = for_code  # without types


def bounds(
    ask: Callable[..., dict[TopicPartition, int]], partitions: Sequence[TopicPartition]
) -> dict[TopicPartition, int]:
    """What a consumer's `beginning_offsets` or `end_offsets` says of all of these partitions."""
    try:
        return ask(list(partitions), timeout_ms=ASK_TIMEOUT_MS)
    except KeyError as missing:
        tp: TopicPartition = missing.args[0]
        raise LeaderNotAvailableError(f"{tp.topic}/{tp.partition} has no leader") from missing


def refusals_fail(answer: Any) -> Any:
    """A broker's answer to where partitions begin or end, as a failure if it refuses one of them.
    The client takes a failure as a reason to ask which broker leads each partition."""
    judged = Future()

    def judge(response: Any) -> None:
        parts = (part for topic in response.topics for part in topic.partitions)
        errors = (_error(part.error_code) for part in parts)
        refusal = next((error for error in errors if issubclass(error, RetriableError)), None)
        if refusal is None:
            judged.success(response)
        else:
            judged.failure(refusal())

    answer.add_callback(judge)
    answer.add_errback(judged.failure)
    return judged
