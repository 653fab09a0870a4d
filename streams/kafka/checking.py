"""`topics check`: how topics and groups on a cluster differ from what is needed, what to do.

Reads only. Each finding is one Check; a sound cluster has as many, all ok.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka import TopicPartition
from kafka.admin import ConfigResource, OffsetSpec

from reusewatch.streams import topics
from reusewatch.streams.checks import Check
from reusewatch.streams.kafka.admin import AdminClient, admin_client, described
from reusewatch.streams.kafka.config import KafkaConfig

# A topic of one replica is gone with its broker; from three brokers on there is no excuse.
WANTED_REPLICAS = 3
AT_LEAST = ("retention.ms", "max.message.bytes")


def check_topics(config: KafkaConfig, *, partitions: int | None = None) -> list[Check]:
    """Compare all topics, and the offsets of all of our consumer groups.

    `partitions`: how many are wanted of the topics that workers share, other than by default.
    """
    with admin_client(config) as client:
        brokers = len(client.describe_cluster()["brokers"])
        there = dict(described(client, config, topics.TOPICS))
        settings = _settings(client, config, list(there))
        checks = []
        for topic in topics.TOPICS.values():
            found = there.get(topic.name)
            checks.append(_existence(config, topic, found is not None))
            if found is not None:
                checks += _partitions(config, topic, found, partitions or topic.partitions)
                checks += _configs(config, topic, settings[topic.name])
                checks += _replicas(config, topic, found, settings[topic.name], brokers)
        return checks + list(_groups(client, config, set(there)))


def _settings(
    client: AdminClient, config: KafkaConfig, names: list[str]
) -> dict[str, dict[str, str]]:
    if not names:
        return {}
    resources = [ConfigResource("TOPIC", config.topic(name)) for name in names]
    found = client.describe_configs(resources, config_filter="all")["topic"]
    return {
        config.name(topic): {key: str(entry["value"]) for key, entry in entries.items()}
        for topic, entries in found.items()
    }


def _existence(config: KafkaConfig, topic: topics.Topic, exists: bool) -> Check:
    return Check(
        f"{config.topic(topic.name)}: exists", exists, "yes" if exists else "no", "yes",
        "" if exists else "reusewatch topics create",
    )  # fmt: skip


def _partitions(
    config: KafkaConfig, topic: topics.Topic, found: dict[str, Any], wanted: int
) -> Iterator[Check]:
    number = len(found["partitions"])
    leaderless = [p["partition_index"] for p in found["partitions"] if p["leader_id"] < 0]
    if leaderless:
        yield Check(
            f"{config.topic(topic.name)}: leaders", False, f"none for {leaderless}", "all",
            "start the brokers that hold these partitions",
        )  # fmt: skip
    if topic.partitions > 1:
        enough = number >= wanted
        yield Check(
            f"{config.topic(topic.name)}: partitions", enough, str(number),
            f"at least {wanted}",
            "" if enough else "more workers than partitions are idle; while no worker and no "
            f"source runs: {_tool('kafka-topics', config)} --alter --topic "
            f"{config.topic(topic.name)} --partitions {wanted}",
        )  # fmt: skip


def _configs(config: KafkaConfig, topic: topics.Topic, found: dict[str, str]) -> Iterator[Check]:
    for key, wanted in topic.broker_configs.items():
        value, fix = found.get(key, ""), f"{key}={wanted}"
        if key in AT_LEAST:
            ok, said = _enough(value, wanted), f"at least {wanted}"
        else:
            ok, said = value == wanted, wanted
        yield _setting(config, topic, key, ok=ok, found=value, wanted=said, fix=fix)
    # A limit by size cuts the retention that was promised by time.
    size = found.get("retention.bytes", "-1")
    if topic.cleanup == "delete" and size != "-1":
        key, fix = "retention.bytes", "retention.bytes=-1"
        yield _setting(config, topic, key, ok=False, found=size, wanted="no limit", fix=fix)


def _enough(value: str, wanted: str) -> bool:
    return value == "-1" or (value.isdecimal() and int(value) >= int(wanted))


def _replicas(
    config: KafkaConfig,
    topic: topics.Topic,
    found: dict[str, Any],
    settings: dict[str, str],
    brokers: int,
) -> Iterator[Check]:
    replicas = min(len(partition["replica_nodes"]) for partition in found["partitions"])
    in_sync = int(settings.get("min.insync.replicas", "1"))
    wanted = min(WANTED_REPLICAS, brokers)
    yield Check(
        f"{config.topic(topic.name)}: replication factor", replicas >= wanted,
        f"{replicas} of {brokers} brokers", f"at least {wanted}",
        "" if replicas >= wanted else "one broker lost is data lost: kafka-reassign-partitions, "
        f"or make the topic anew with --replication-factor {wanted}",
    )  # fmt: skip
    # As many as there are replicas: no broker may be restarted. More: nothing can be written.
    most = max(1, replicas - 1)
    least = 2 if replicas >= WANTED_REPLICAS else 1
    said = f"{least} to {most}" if least != most else str(least)
    yield _setting(
        config, topic, "min.insync.replicas", ok=least <= in_sync <= most, found=str(in_sync),
        wanted=said, fix=f"min.insync.replicas={least}",
    )  # fmt: skip


def _setting(
    config: KafkaConfig,
    topic: topics.Topic,
    key: str,
    *,
    ok: bool,
    found: str,
    wanted: str,
    fix: str,
) -> Check:
    name = config.topic(topic.name)
    do = f"{_tool('kafka-configs', config)} --alter --topic {name} --add-config {fix}"
    return Check(f"{name}: {key}", ok, found, wanted, "" if ok else do)


def _groups(client: AdminClient, config: KafkaConfig, there: set[str]) -> Iterator[Check]:
    """Whether what a group reads next is still there."""
    ours = [
        group["group_id"]
        for group in client.list_groups()
        if group["group_id"].startswith(config.topic_prefix)
    ]
    names = {config.topic(name) for name in there}
    for group, offsets in (client.list_group_offsets(ours) if ours else {}).items():
        read = {tp: at.offset for tp, at in offsets.items() if tp.topic in names}
        yield from _group(client, config, group, read)


def _group(
    client: AdminClient, config: KafkaConfig, group: str, read: dict[TopicPartition, int]
) -> Iterator[Check]:
    if not read:
        return
    first = client.list_partition_offsets(dict.fromkeys(read, OffsetSpec.EARLIEST))
    behind = {tp: first[tp].offset - at for tp, at in read.items() if at < first[tp].offset}
    lost = ", ".join(f"{tp.topic}/{tp.partition}: {n} messages" for tp, n in behind.items())
    yield Check(
        f"group {config.name(group)}: consumer behind retention", not behind, lost or "no", "no",
        "" if not behind else "what it had not read is gone: raise retention.ms, then set its "
        f"offsets with {_tool('kafka-consumer-groups', config)} --group {group} "
        "--reset-offsets --to-earliest --all-topics --execute",
    )  # fmt: skip


def _tool(name: str, config: KafkaConfig) -> str:
    return f"{name}.sh --bootstrap-server {config.bootstrap_servers[0]}"
