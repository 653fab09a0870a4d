"""Headers that a stranger put on a message end no reader of it: every byte of them is hostile."""

from __future__ import annotations

from contextlib import closing

import pytest
from kafka import KafkaProducer

from reusewatch.streams import topics
from reusewatch.streams.bus import Message
from reusewatch.streams.kafka import KafkaBus, KafkaConfig

BEHIND = 3


class Raw(str):
    """A name of a header that is sent as these bytes."""

    raw = b"\xff\xfe\xff"

    def encode(self, *_: object, **__: object) -> bytes:  # type: ignore[override]
        return self.raw


def send(config: KafkaConfig, headers: list[tuple[str, bytes]]) -> None:
    """One message with these headers, and others behind it in the same batch."""
    producer = KafkaProducer(bootstrap_servers=list(config.bootstrap_servers), linger_ms=500)
    with closing(producer):
        where = config.topic(topics.ALERTS)
        producer.send(where, key=b"\xff\xfe", value=b"first", headers=headers, partition=0)
        for number in range(BEHIND):
            producer.send(where, key=b"%d" % number, value=b"behind", partition=0)
        producer.flush(10)


HOSTILE: dict[str, list[tuple[str, bytes]]] = {
    "a name that is no text": [(Raw("?"), b"x")],
    "nothing as a value": [("schema", b""), ("", b"")],
    "a name twice": [("schema", b"alert/1"), ("schema", b"\xff")],
    "a megabyte": [("schema", b"9" * 900_000)],
}


@pytest.mark.parametrize("headers", HOSTILE.values(), ids=HOSTILE)
def test_what_stands_behind_hostile_headers_is_read(
    kafka_config: KafkaConfig, headers: list[tuple[str, bytes]]
) -> None:
    send(kafka_config, headers)
    bus = KafkaBus(kafka_config)
    read = list(bus.read(topics.ALERTS, every=True))
    assert [message.value for message in read] == [b"first", *[b"behind"] * BEHIND]
    with closing(bus.inlet("readers", (topics.ALERTS,))) as inlet:
        polled: list[Message] = []
        while len(polled) < len(read):
            polled += inlet.poll(5.0)
    assert [message.headers for message in polled] == [message.headers for message in read]
