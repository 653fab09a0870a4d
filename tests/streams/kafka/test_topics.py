"""Making topics, and hearing what is wrong with those that others made."""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

import pytest
from kafka import KafkaConsumer, TopicPartition
from kafka.admin import ConfigResource

from reusewatch.streams import topics, wire
from reusewatch.streams.bus import BusBroken, Outgoing, Partition
from reusewatch.streams.checks import Check
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, check_topics, create_topics
from reusewatch.streams.kafka.admin import admin_client
from reusewatch.streams.kafka.clock import broker_clock
from reusewatch.streams.kafka.config import reader_settings
from reusewatch.streams.records import Alert
from reusewatch.streams.verbs.checking import SHARED
from tests.broker import quick_config
from tests.deployed import java
from tests.streams.reading import numbers


def alter(config: KafkaConfig, topic: str, **settings: str) -> None:
    changes = {key.replace("_", "."): value for key, value in settings.items()}
    with admin_client(config) as client:
        client.alter_configs([ConfigResource("TOPIC", config.topic(topic), changes)])


def wrong(config: KafkaConfig) -> dict[str, Check]:
    return {check.check: check for check in check_topics(config) if not check.ok}


def test_topics_are_made_once_as_declared(broker: str) -> None:
    config = quick_config(broker)
    assert create_topics(config) == list(topics.TOPICS)
    assert create_topics(config) == []
    assert wrong(config) == {}
    checked = {check.check for check in check_topics(config)}
    for name in topics.TOPICS:
        for what in ("exists", "cleanup.policy", "max.message.bytes", "message.timestamp.type"):
            assert f"{config.topic(name)}: {what}" in checked


def test_partitions_can_be_chosen(kafka_config: KafkaConfig) -> None:
    outlet = KafkaBus(kafka_config).outlet()
    assert outlet.partitions(topics.PAGES) == 3
    outlet.close()
    with pytest.raises(BusBroken, match="no topic 'page'"):
        create_topics(kafka_config, partitions={"page": 3})


def test_few_partitions_are_no_fault_unless_more_were_asked_for(broker: str) -> None:
    config = quick_config(broker)
    create_topics(config, partitions=dict.fromkeys(SHARED, 3))
    assert wrong(config) == {}
    asked = {check.check: check for check in check_topics(config, partitions=6) if not check.ok}
    assert set(asked) == {f"{config.topic(name)}: partitions" for name in SHARED}
    assert {check.found for check in asked.values()} == {"3"}


def test_a_changelog_with_fewer_partitions_than_its_source_is_found(broker: str) -> None:
    config = quick_config(broker)
    create_topics(config, partitions={topics.FINGERPRINTS: 4, topics.NEIGHBORHOODS: 3})
    ((what, check),) = wrong(config).items()
    assert what == f"{config.topic(topics.NEIGHBORHOODS)}: partitions"
    assert (check.found, check.wanted) == ("3", "at least 4")
    assert check.do.endswith("--partitions 4")


def test_more_replicas_than_brokers_is_refused_with_what_to_do(broker: str) -> None:
    wanted = r"pages cannot be made: replication factor 3 takes as many brokers, and there are 1;"
    with pytest.raises(BusBroken, match=wanted):
        create_topics(quick_config(broker), replication_factor=3)


def test_missing_topics_are_found(broker: str) -> None:
    config = quick_config(broker)
    found = wrong(config)
    assert set(found) == {f"{config.topic(name)}: exists" for name in topics.TOPICS}
    assert {check.do for check in found.values()} == {"reusewatch topics create"}


def test_what_was_set_wrong_is_explained(kafka_config: KafkaConfig) -> None:
    alter(kafka_config, topics.PAGES, max_message_bytes="1000", retention_bytes="1000000")
    alter(kafka_config, topics.FINGERPRINTS, message_timestamp_type="CreateTime")
    alter(kafka_config, topics.FINGERPRINTS, retention_ms="60000")
    alter(kafka_config, topics.ALERTS, cleanup_policy="delete")
    alter(kafka_config, topics.VERDICTS, min_insync_replicas="2")
    found = wrong(kafka_config)

    def one(topic: str, key: str) -> Check:
        return found.pop(f"{kafka_config.topic(topic)}: {key}")

    size = one(topics.PAGES, "max.message.bytes")
    assert (size.found, size.wanted) == ("1000", f"at least {8 << 20}")
    assert "kafka-configs.sh" in size.do
    assert f"max.message.bytes={8 << 20}" in size.do
    assert one(topics.PAGES, "retention.bytes").wanted == "no limit"
    assert one(topics.FINGERPRINTS, "message.timestamp.type").wanted == "LogAppendTime"
    assert one(topics.FINGERPRINTS, "retention.ms").found == "60000"
    assert one(topics.ALERTS, "cleanup.policy").wanted == "compact"
    assert one(topics.VERDICTS, "min.insync.replicas").wanted == "1"
    assert found == {}


def test_a_group_behind_retention_is_found(kafka_config: KafkaConfig) -> None:
    bus = KafkaBus(kafka_config)
    outlet = bus.outlet()
    for n in range(10):
        outlet.send(Outgoing(topics.PAGES, "k", str(n).encode()))
    number = outlet.partition_for(topics.PAGES, "k")
    outlet.close()
    inlet = bus.inlet("fingerprint", [topics.PAGES])
    while not inlet.partitions():
        inlet.poll(0.1)
    inlet.commit({Partition(topics.PAGES, number): 2})
    inlet.close()
    name = "group fingerprint: consumer behind retention"
    assert name not in wrong(kafka_config)
    pages = kafka_config.topic(topics.PAGES)
    with admin_client(kafka_config) as client:
        client.delete_records({TopicPartition(pages, number): 7})
    check = wrong(kafka_config)[name]
    assert check.found == f"{pages}/{number}: 5 messages"
    assert "--reset-offsets" in check.do


def test_a_topic_that_takes_less_than_declared_refuses_loudly_and_loses_nothing(
    kafka_config: KafkaConfig,
) -> None:
    alter(kafka_config, topics.DEAD_LETTERS, max_message_bytes="5000")
    bus = KafkaBus(replace(kafka_config, compression=None))
    outlet = bus.outlet()
    for n in range(20):
        outlet.send(Outgoing(topics.DEAD_LETTERS, "k", str(n).encode()))
        if n == 10:
            outlet.send(Outgoing(topics.DEAD_LETTERS, "k", b"0" * 6000))
    for _ in range(2):  # or offsets could be committed past the message by whoever flushes again
        with pytest.raises(BusBroken, match=r"below 1048576; see `reusewatch topics check`"):
            outlet.flush()
    outlet.abandon()
    assert set(numbers(bus.read(topics.DEAD_LETTERS))) == set(range(20))


def test_the_message_that_the_broker_refuses_is_named_and_not_a_larger_one_that_compresses(
    kafka_config: KafkaConfig,
) -> None:
    alter(kafka_config, topics.DEAD_LETTERS, max_message_bytes="5000")
    bus = KafkaBus(replace(kafka_config, compression="lz4", linger=0.2))
    outlet = bus.outlet()
    outlet.send(
        Outgoing(topics.DEAD_LETTERS, "first", b"0"),
        Outgoing(topics.DEAD_LETTERS, "refused", Random(1).randbytes(20_000)),
        Outgoing(topics.DEAD_LETTERS, "compresses", b"0" * 100_000),
        Outgoing(topics.DEAD_LETTERS, "last", b"0"),
    )
    with pytest.raises(BusBroken, match=r"message of 20\d\d\d bytes.*key 'refused'"):
        outlet.flush()
    outlet.abandon()
    assert {m.key for m in bus.read(topics.DEAD_LETTERS)} == {"first", "compresses", "last"}


def test_any_kafka_tool_reads_an_alert(kafka_config: KafkaConfig) -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    alert = Alert(
        id="a1", kind="quilt", severity="warning", url="https://a.example/", site="a.example",
        figure=0.75, threshold=0.5, fetched_at=at, detected_at=at, detector="1", scheme="public",
    )  # fmt: skip
    outlet = KafkaBus(kafka_config).outlet()
    outlet.send(wire.alert_message(alert))
    outlet.close()
    command = java(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        "--bootstrap-server", kafka_config.bootstrap_servers[0],
        "--topic", kafka_config.topic(topics.ALERTS), "--from-beginning", "--max-messages", "1",
        "--formatter-property", "print.headers=true", "--formatter-property", "print.key=true",
        "--formatter-property", "headers.separator=|",
    )  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    headers, key, value = done.stdout.strip().split("\t", 2)
    assert key == "a1"
    assert json.loads(value)["url"] == "https://a.example/"
    told = dict(header.split(":", 1) for header in headers.split("|"))
    assert told["schema"] == "alert/1"
    assert told["content-type"] == "application/json"
    assert told["ce_specversion"] == "1.0"
    assert told["ce_id"] == "a1"
    assert told["ce_type"] == "reusewatch.alert.quilt"
    assert told["ce_source"]
    assert told["ce_time"] == "2026-11-01T00:00:00Z"


def test_a_topic_that_the_broker_compacted_is_read_to_its_end(kafka_config: KafkaConfig) -> None:
    alter(
        kafka_config, topics.ALERTS, segment_ms="100", min_cleanable_dirty_ratio="0.01",
        max_compaction_lag_ms="500", delete_retention_ms="100", file_delete_delay_ms="100",
    )  # fmt: skip
    bus = KafkaBus(kafka_config)
    outlet = bus.outlet()
    removed = rounds = 0
    # Records now and then, so that the active segment rolls and can be compacted.
    while not removed:
        assert rounds < 200, "the broker compacted nothing"
        for key in ("a", "b", "gone"):
            value = None if key == "gone" else str(rounds).encode()
            outlet.send(Outgoing(topics.ALERTS, key, value))
        outlet.flush()
        rounds += 1
        removed = rounds * 3 - present(kafka_config, rounds * 3)
    outlet.close()
    assert {m.key: m.value for m in bus.read(topics.ALERTS)} == {
        "a": str(rounds - 1).encode(),
        "b": str(rounds - 1).encode(),
    }


def present(config: KafkaConfig, end: int) -> int:
    """How many messages before this offset are in the topic."""
    tp = TopicPartition(config.topic(topics.ALERTS), 0)
    consumer = KafkaConsumer(**reader_settings(config))
    consumer.assign([tp])
    consumer.seek(tp, 0)
    count = 0
    while consumer.position(tp) < end:
        count += sum(len(batch) for batch in consumer.poll(timeout_ms=200).values())
    consumer.close()
    return count


def test_the_broker_says_what_time_it_is_and_nothing_is_written(kafka_config: KafkaConfig) -> None:
    before = time.time()
    at = broker_clock(kafka_config)
    assert at is not None
    assert before - 60 < at < time.time() + 60
    assert list(KafkaBus(kafka_config).read(topics.LABELS, every=True)) == []
