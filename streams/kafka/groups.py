"""Who reads what on a cluster, as of now: of each stage its processes, and what waits for them.

Looks only: joins no group, commits nothing. What a group has committed may be some milliseconds
old when it is said; what waits since long is not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import OffsetSpec
from kafka.errors import AuthorizationError, KafkaError

from reusewatch.streams.bus import BusBroken, Message
from reusewatch.streams.kafka.admin import AdminClient, admin_client, described
from reusewatch.streams.kafka.config import KafkaConfig, reader_settings
from reusewatch.streams.kafka.connect import connect, disconnect
from reusewatch.streams.kafka.inlet import CLOSE_TIMEOUT_MS, to_message

_POLL_MS = 500
_LOOK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A group: its members, how many messages of its topic wait, and since when the oldest does
    (seconds since the epoch; None where none waits, or it could not be read in time)."""

    group: str
    topic: str
    members: int
    waiting: int
    partitions_waiting: int
    oldest: float | None


def readings(config: KafkaConfig, reads: Mapping[str, str]) -> list[Reading]:
    """Of each group and the topic that it reads. Topics that are not there are passed over."""
    with admin_client(config) as client:
        there = dict(described(client, config, set(reads.values())))
        asked = {group: topic for group, topic in reads.items() if topic in there}
        # A broker that never had a group has no coordinator for one that is not there.
        known = {group["group_id"].removeprefix(config.topic_prefix)
                 for group in client.list_groups()
                 if group["group_id"].startswith(config.topic_prefix)}  # fmt: skip
        members = _members(client, config, [group for group in asked if group in known])
        places = {
            group: _next(client, config, group if group in known else None, topic, there[topic])
            for group, topic in asked.items()
        }
    return [
        _reading(config, group, topic, members.get(group, 0), places[group])
        for group, topic in asked.items()
    ]


def last_messages(config: KafkaConfig, topic: str) -> list[Message]:
    """The newest message of each partition that has one."""
    with admin_client(config) as client:
        there = dict(described(client, config, [topic]))
        ends = _offsets(client, _partitions(config, topic, there[topic]), OffsetSpec.LATEST)
        begins = _offsets(client, list(ends), OffsetSpec.EARLIEST)
    return _read_at(config, {tp: end - 1 for tp, end in ends.items() if end > begins[tp]})


def _reading(
    config: KafkaConfig,
    group: str,
    topic: str,
    members: int,
    places: Mapping[TopicPartition, tuple[int, int]],
) -> Reading:
    behind = {tp: at for tp, (at, end) in places.items() if end > at}
    waiting = sum(places[tp][1] - at for tp, at in behind.items())
    times = [message.timestamp_ms / 1000 for message in _read_at(config, behind)]
    return Reading(group, topic, members, waiting, len(behind), min(times, default=None))


def _members(client: AdminClient, config: KafkaConfig, groups: Sequence[str]) -> dict[str, int]:
    """Members by group."""
    if not groups:
        return {}
    found = client.describe_groups([config.topic_prefix + group for group in groups])
    return {
        name.removeprefix(config.topic_prefix): len(group["members"])
        for name, group in found.items()
    }


def _next(
    client: AdminClient, config: KafkaConfig, group: str | None, topic: str, found: dict[str, Any]
) -> dict[TopicPartition, tuple[int, int]]:
    """Of each partition what the group reads next (None: one that nobody joined), and its end."""
    ends = _offsets(client, _partitions(config, topic, found), OffsetSpec.LATEST)
    begins = _offsets(client, list(ends), OffsetSpec.EARLIEST)
    done: Mapping[TopicPartition, Any] = {}
    if group is not None:
        name = config.topic_prefix + group
        done = client.list_group_offsets([name]).get(name, {})
    # A group that has committed nothing starts at the beginning.
    at = {tp: max(done[tp].offset if tp in done else 0, begins[tp]) for tp in ends}
    return {tp: (min(at[tp], end), end) for tp, end in ends.items()}


def _partitions(config: KafkaConfig, topic: str, found: dict[str, Any]) -> list[TopicPartition]:
    name = config.topic(topic)
    return [TopicPartition(name, part["partition_index"]) for part in found["partitions"]]


def _offsets(
    client: AdminClient, partitions: Sequence[TopicPartition], spec: OffsetSpec
) -> dict[TopicPartition, int]:
    found = client.list_partition_offsets(dict.fromkeys(partitions, spec))
    return {tp: at.offset for tp, at in found.items()}


def _read_at(config: KafkaConfig, places: Mapping[TopicPartition, int]) -> list[Message]:
    """The message at each of these offsets, as far as they come in a few seconds."""
    if not places:
        return []
    consumer: Any = connect(KafkaConsumer, config, reader_settings(config))
    try:
        return list(_first_of_each(consumer, config, places))
    except AuthorizationError as error:
        names = ", ".join(sorted({tp.topic for tp in places}))
        raise BusBroken(f"this login may not read {names}: {error}") from error
    finally:
        with suppress(KafkaError):
            disconnect(consumer, CLOSE_TIMEOUT_MS)


def _first_of_each(
    consumer: Any, config: KafkaConfig, places: Mapping[TopicPartition, int]
) -> Iterator[Message]:
    consumer.assign(list(places))
    for tp, at in places.items():
        consumer.seek(tp, at)
    left, end = set(places), time.monotonic() + _LOOK_SECONDS
    while left and time.monotonic() < end:
        for tp, records in consumer.poll(timeout_ms=_POLL_MS).items():
            if tp in left:
                left.remove(tp)
                # Or the rest of a partition would be fetched, for nothing.
                consumer.pause(tp)
                yield to_message(config, records[0])
