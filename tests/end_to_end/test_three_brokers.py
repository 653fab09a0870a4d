"""Three brokers that fail one after the other: what is checked, and what is said and lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kafka import TopicPartition
from kafka.admin import ConfigResource

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, Partition, Unreachable
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, check_topics, create_topics
from reusewatch.streams.kafka.admin import admin_client
from tests.broker import quick_config
from tests.deployed import Broker, quorum
from tests.end_to_end.runs import wait_until
from tests.end_to_end.three_brokers import run_rounds
from tests.end_to_end.workers import wait_calmly
from tests.streams.reading import poll_until


@pytest.fixture(scope="module")
def brokers() -> Iterator[list[Broker]]:
    with quorum() as started:
        yield started


@pytest.fixture
def config(brokers: list[Broker]) -> KafkaConfig:
    return quick_config(",".join(broker.address for broker in brokers))


def wrong(config: KafkaConfig) -> dict[str, tuple[str, str]]:
    return {one.check: (one.found, one.do) for one in check_topics(config) if not one.ok}


def test_topics_have_three_replicas_of_which_two_are_written_before_a_message_counts(
    config: KafkaConfig, brokers: list[Broker]
) -> None:
    assert set(create_topics(config)) == set(topics.TOPICS)
    assert wrong(config) == {}
    alerts = config.topic(topics.ALERTS)
    with admin_client(config) as client:
        (found,) = client.describe_topics([alerts])
        assert len(found["partitions"][0]["replica_nodes"]) == 3
        change = ConfigResource("TOPIC", alerts, {"min.insync.replicas": "1"})
        client.alter_configs([change])
    ((check, (said, do)),) = wrong(config).items()
    assert (check, said) == (f"{alerts}: min.insync.replicas", "1")
    assert do.endswith("--add-config min.insync.replicas=2")
    with pytest.raises(BusBroken, match=r"factor 4 takes as many brokers, and there are 3"):
        create_topics(quick_config(config.bootstrap_servers[0]), replication_factor=4)


def test_a_broker_that_is_away_is_named_and_the_others_are_asked(
    config: KafkaConfig, brokers: list[Broker]
) -> None:
    create_topics(config)
    bus = KafkaBus(config)
    outlet, inlet = bus.outlet(), bus.inlet("away", [topics.PAGES])
    # At once: the others name it until its session expires, and the first address is dead.
    brokers[0].kill()
    try:
        again = KafkaBus(config)
        again.check()
        name = f"{config.topic(topics.PAGES)}: replicas in sync"
        wait_calmly(lambda: name in wrong(config))
        said, do = wrong(config)[name]
        assert said == "not on broker 1"
        assert do == "start broker 1, or wait until it has caught up"
        assert outlet.partitions(topics.PAGES) == topics.TOPICS[topics.PAGES].partitions
        inlet.lag()
    finally:
        brokers[0].start()
        inlet.close()
        outlet.close()
    wait_until(lambda: not wrong(config))


def test_a_partition_without_a_leader_is_waited_for(
    config: KafkaConfig, brokers: list[Broker]
) -> None:
    create_topics(config, replication_factor=1)
    inlet = KafkaBus(replace(config, patience=10.0)).inlet("leaderless", [topics.PAGES])
    poll_until(inlet, lambda _: len(inlet.partitions()) > 1)
    assert set(inlet.lag().values()) == {0}
    brokers[1].kill()
    try:
        with pytest.raises(Unreachable, match=r"given up after 1\d s: .*pages/\d has no leader"):
            inlet.lag()
    finally:
        brokers[1].start()
    wait_until(lambda: set(inlet.lag().values()) == {0})
    inlet.close()


def test_a_leader_that_moves_while_both_brokers_live_is_followed(
    config: KafkaConfig, brokers: list[Broker]
) -> None:
    create_topics(config)
    inlet = KafkaBus(replace(config, patience=10.0)).inlet("moved", [topics.ALERTS])
    poll_until(inlet, lambda _: bool(inlet.partitions()))
    assert inlet.lag() == {Partition(topics.ALERTS, 0): 0}
    alerts = config.topic(topics.ALERTS)
    with admin_client(config) as client:
        old, *others = replicas_of(client, alerts)
        client.alter_partition_reassignments({TopicPartition(alerts, 0): [*others, old]})
        wait_until(lambda: replicas_of(client, alerts) == [*others, old])
        client.elect_leaders(0, {alerts: [0]})
    # No connection breaks, and no poll tells: the old leader says that it leads no more.
    assert inlet.lag() == {Partition(topics.ALERTS, 0): 0}
    inlet.close()


def replicas_of(client: Any, topic: str) -> list[int]:
    (found,) = client.describe_topics([topic])
    replicas: list[int] = found["partitions"][0]["replica_nodes"]
    return replicas


def test_brokers_are_killed_one_after_the_other_and_nothing_is_lost(
    brokers: list[Broker], tmp_path: Path
) -> None:
    run_rounds(brokers, tmp_path, ("controller", "rebalance"), 1, 300, print)
