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
from reusewatch.streams.kafka.admin import (
    WANTED_REPLICAS,
    AdminClient,
    admin_client,
    described,
    least_in_sync,
)
from reusewatch.streams.kafka.config import KafkaConfig

OFFSETS = "__consumer_offsets"
AT_LEAST = ("retention.ms", "max.message.bytes")


def check_topics(config: KafkaConfig, *, partitions: int | None = None) -> list[Check]:
    """Compare all topics, and the offsets of all of our consumer groups.

    `partitions`: how many the topics that workers share should have at least. Without it, fewer
    than `topics create` makes by default are no fault.
    """
    with admin_client(config) as client:
        brokers = len(client.describe_cluster()["brokers"])
        there = dict(described(client, config, topics.TOPICS))
        settings = _settings(client, config, list(there))
        least = dict.fromkeys(topics.TOPICS, partitions or 1)
        if topics.FINGERPRINTS in there:
            # The state of each partition is kept in the one of the same number.
            of_state = len(there[topics.FINGERPRINTS]["partitions"])
            least[topics.NEIGHBORHOODS] = max(of_state, partitions or 1)
        checks = []
        for topic in topics.TOPICS.values():
            found = there.get(topic.name)
            checks.append(_existence(config, topic, found is not None))
            if found is not None:
                checks += _partitions(config, topic, found, least[topic.name])
                checks += _configs(config, topic, settings[topic.name])
                checks += _replicas(
                    config, config.topic(topic.name), found, settings[topic.name], brokers
                )
        checks += _offsets(client, config, brokers)
        return checks + list(_groups(client, config, set(there)))


def _settings(
    client: AdminClient, config: KafkaConfig, names: list[str]
) -> dict[str, dict[str, str]]:
    found = _topic_settings(client, [config.topic(name) for name in names])
    return {config.name(topic): values for topic, values in found.items()}


def _topic_settings(client: AdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    if not names:
        return {}
    resources = [ConfigResource("TOPIC", name) for name in names]
    found = client.describe_configs(resources, config_filter="all")["topic"]
    return {
        topic: {key: str(entry["value"]) for key, entry in entries.items()}
        for topic, entries in found.items()
    }


def _offsets(client: AdminClient, config: KafkaConfig, brokers: int) -> Iterator[Check]:
    """Kafka's own topic of what groups have read: lost or stuck, it stops every worker. It is made
    when the first group joins."""
    found = client.describe_topics([OFFSETS])[0]
    if not found["error_code"]:
        settings = _topic_settings(client, [OFFSETS])[OFFSETS]
        yield from _replicas(config, OFFSETS, found, settings, brokers)


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
            "" if enough else "while no worker and no source runs: "
            f"{_tool('kafka-topics', config)} --alter --topic "
            f"{config.topic(topic.name)} --partitions {wanted}",
        )  # fmt: skip


def _configs(config: KafkaConfig, topic: topics.Topic, found: dict[str, str]) -> Iterator[Check]:
    name = config.topic(topic.name)
    for key, wanted in topic.broker_configs.items():
        value, fix = found.get(key, ""), f"{key}={wanted}"
        if key in AT_LEAST:
            ok, said = _enough(value, wanted), f"at least {wanted}"
        else:
            ok, said = value == wanted, wanted
        yield _setting(config, name, key, ok=ok, found=value, wanted=said, fix=fix)
    # A limit by size cuts the retention that was promised by time.
    size = found.get("retention.bytes", "-1")
    if topic.cleanup == "delete" and size != "-1":
        key, fix = "retention.bytes", "retention.bytes=-1"
        yield _setting(config, name, key, ok=False, found=size, wanted="no limit", fix=fix)


def _enough(value: str, wanted: str) -> bool:
    return value == "-1" or (value.isdecimal() and int(value) >= int(wanted))


def _replicas(
    config: KafkaConfig,
    name: str,
    found: dict[str, Any],
    settings: dict[str, str],
    brokers: int,
) -> Iterator[Check]:
    replicas = min(len(partition["replica_nodes"]) for partition in found["partitions"])
    in_sync = int(settings.get("min.insync.replicas", "1"))
    wanted = min(WANTED_REPLICAS, brokers)
    yield Check(
        f"{name}: replication factor", replicas >= wanted,
        f"{replicas} of {brokers} brokers", f"at least {wanted}",
        "" if replicas >= wanted else "one broker lost is data lost: kafka-reassign-partitions, "
        f"or make the topic anew with --replication-factor {wanted}",
    )  # fmt: skip
    # As many as there are replicas: no broker may be restarted. More: nothing can be written.
    most = max(1, replicas - 1)
    least = least_in_sync(replicas)
    said = f"{least} to {most}" if least != most else str(least)
    yield _setting(
        config, name, "min.insync.replicas", ok=least <= in_sync <= most, found=str(in_sync),
        wanted=said, fix=f"min.insync.replicas={least}",
    )  # fmt: skip
    yield _behind(name, found, in_sync)


def _behind(name: str, found: dict[str, Any], in_sync: int) -> Check:
    """Whether a broker that holds a replica is away, or has not caught up."""
    behind = {
        part["partition_index"]: set(part["replica_nodes"]) - set(part["isr_nodes"])
        for part in found["partitions"]
    }
    nodes = sorted(set().union(*behind.values()))
    stuck = [p["partition_index"] for p in found["partitions"] if len(p["isr_nodes"]) < in_sync]
    said = f"not on {_listed('broker', nodes)}" if nodes else "all"
    if stuck:
        said += f"; nothing can be written to {_listed('partition', stuck)}"
    do = f"start {_listed('broker', nodes)}, or wait until it has caught up" if nodes else ""
    return Check(f"{name}: replicas in sync", not nodes, said, "all", do)


def _listed(what: str, numbers: list[int]) -> str:
    """
    >>> _listed("broker", [2]), _listed("broker", [1, 3])
    ('broker 2', 'brokers 1, 3')
    """
    return f"{what}{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


def _setting(
    config: KafkaConfig,
    name: str,
    key: str,
    *,
    ok: bool,
    found: str,
    wanted: str,
    fix: str,
) -> Check:
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
