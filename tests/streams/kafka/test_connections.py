"""What a client opened is closed with it, whatever it was doing."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from kafka.errors import FencedInstanceIdError

from reusewatch.streams import topics
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.kafka.inlet import KafkaInlet
from tests.streams.reading import numbered, take


@pytest.fixture
def inlet(kafka_config: KafkaConfig) -> KafkaInlet:
    """A member that has read what there was."""
    bus = KafkaBus(kafka_config)
    outlet = bus.outlet()
    for message in numbered(topics.ALERTS, 5):
        outlet.send(message)
    outlet.close()
    inlet = bus.inlet("watch", [topics.ALERTS])
    take(inlet, 5)
    return inlet


def transports(inlet: KafkaInlet) -> list[Any]:
    connections = inlet._consumer._client._manager._conns.values()
    return [one.transport for one in connections if one.transport is not None]


def sockets(inlet: KafkaInlet) -> list[socket.socket]:
    return [one._sock for one in transports(inlet)]


def test_a_request_on_its_way_out_holds_no_socket_open(inlet: KafkaInlet) -> None:
    opened = sockets(inlet)
    assert opened
    for transport in transports(inlet):
        # As between two writes of a request that the socket takes in parts.
        transport._write_buffer.append(memoryview(b"the rest of a request"))
    inlet.close()
    assert [one.fileno() for one in opened] == [-1] * len(opened)


def test_a_member_that_cannot_leave_its_group_closes_its_connections(
    inlet: KafkaInlet, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = sockets(inlet)
    assert opened
    coordinator = inlet._consumer._coordinator
    leave = coordinator.close

    def fails(**settings: Any) -> None:
        leave(**settings)
        raise FencedInstanceIdError("another has this name")

    monkeypatch.setattr(coordinator, "close", fails)
    inlet.close()
    assert [one.fileno() for one in opened] == [-1] * len(opened)
