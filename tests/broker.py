"""Fixtures of the real broker: one a run, and topics of one test's own."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

from reusewatch.streams import topics
from reusewatch.streams.kafka import KafkaConfig, create_topics
from reusewatch.streams.kafka.admin import admin_client
from tests.deployed import Broker

FEW_PARTITIONS = {"pages": 3, "fingerprints": 2, "verdicts": 2}


@pytest.fixture(scope="session")
def broker() -> Iterator[str]:
    """HOST:PORT of a broker; REUSEWATCH_TEST_KAFKA names one that runs already."""
    given = os.environ.get("REUSEWATCH_TEST_KAFKA")
    if given:
        yield given
        return
    with Broker() as started:
        yield started.address


@pytest.fixture
def kafka_config(broker: str) -> Iterator[KafkaConfig]:
    """A cluster with the topics of this test alone."""
    config = quick_config(broker)
    create_topics(config, partitions=FEW_PARTITIONS)
    yield config
    with admin_client(config) as client:
        client.delete_topics([config.topic(name) for name in topics.TOPICS])


def quick_config(addresses: str, **settings: object) -> KafkaConfig:
    """Impatient, so that a test of a fault is short; a prefix that no other test has.

    `addresses`: HOST:PORT[,HOST:PORT…].
    """
    quick: dict[str, object] = {
        "topic_prefix": f"t{uuid.uuid4().hex[:10]}.",
        "connect_timeout": 5.0,
        # A member that a busy machine keeps from its heartbeat would be put out, and read again.
        "session_timeout": 20.0,
        "heartbeat": 0.3,
        "gather": 0.0,
    }
    return KafkaConfig(tuple(addresses.split(",")), **(quick | settings))  # type: ignore[arg-type]
