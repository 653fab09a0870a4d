"""What a record comes to by the quick way is byte for byte what it comes to by the client's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.partitioner.default import murmur2 as client_murmur2
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.structs import TopicPartition

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, quick_send
from reusewatch.streams.kafka.murmur import murmur2
from reusewatch.streams.kafka.outlet import KafkaOutlet
from reusewatch.streams.kafka.quick_send import (
    KNOWN,
    Headers,
    _append,
    _usual,
    hand_over,
    size_of,
    written,
)

_Builder: Any = DefaultRecordBatchBuilder
_MADE = 1_700_000_000_000
BYTES = st.binary(max_size=300)
HEADERS = st.lists(st.tuples(st.text(max_size=20), BYTES), max_size=4).map(tuple)
RECORDS = st.lists(
    st.tuples(
        st.integers(-(2**40), 2**40), st.none() | BYTES, st.none() | BYTES, HEADERS
    ),
    min_size=1, max_size=12,
)  # fmt: skip
Record = tuple[int, bytes | None, bytes | None, Headers]


def built(records: Sequence[Record], room: int, *, quick: bool) -> tuple[bytes, list[Any]]:
    """A batch of as many of these as there is room for, and what was said of each."""
    builder = _Builder(
        magic=2, compression_type=0, is_transactional=False, producer_id=7, producer_epoch=1,
        base_sequence=3, batch_size=room,
    )  # fmt: skip
    said = []
    for offset, (later, key, value, headers) in enumerate(records):
        if quick:
            made = _append(builder, offset, _MADE + later, key, value, written(headers))
        else:
            made = _usual(builder, offset, _MADE + later, key, value, list(headers))
        if made is None:
            said.append(None)
            break
        said.append((made.offset, made.size, made.timestamp, made.crc))
    return bytes(builder.build()), said


@given(RECORDS, st.integers(60, 4_000))
def test_a_batch_is_the_same_byte_for_byte(records: list[Record], room: int) -> None:
    assert built(records, room, quick=True) == built(records, room, quick=False)


@given(BYTES, st.none() | BYTES, HEADERS)
def test_no_batch_of_one_is_larger_than_was_said(
    key: bytes, value: bytes | None, headers: Headers
) -> None:
    batch, _ = built([(0, key, value, headers)], 1 << 20, quick=True)
    assert len(batch) <= size_of(key, value, headers)


def test_headers_of_the_usual_kind_are_written_as_before() -> None:
    builder = _Builder(
        magic=2, compression_type=0, is_transactional=False, producer_id=-1, producer_epoch=-1,
        base_sequence=-1, batch_size=1000,
    )  # fmt: skip
    _append(builder, 0, _MADE, b"k", b"v", [("h", b"x"), ("none", None)])
    (record,) = DefaultRecordBatch(bytes(builder.build()))
    assert (record.key, record.value, record.headers) == (b"k", b"v", [("h", b"x"), ("none", None)])


class _Noting(type):
    """Notes what is set of a class."""

    def __setattr__(cls, name: str, value: object) -> None:
        cls.noted.append(name)
        super().__setattr__(name, value)

    noted: list[str]


def test_the_client_is_told_once_to_take_headers_as_they_are_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each change of a class takes one of the numbers by which Python knows what classes are."""
    builder = _Noting("builder", (), {"append": None, "noted": []})
    monkeypatch.setattr(quick_send, "_Builder", builder)
    producer = Mock()
    producer._accumulator.append.return_value = (Mock(), False, False, False)
    to = TopicPartition("topic", 0)
    for _ in range(3):
        hand_over(producer, to, b"k", b"v", (), lambda _: None, lambda _: None)
    assert builder.noted == ["append"]
    assert producer._accumulator.append.call_count == 3


@given(st.binary(max_size=64))
def test_a_key_has_the_partition_of_every_client(key: bytes) -> None:
    assert murmur2(key) == client_murmur2(key) & 0xFFFFFFFF


def test_the_client_is_one_whose_inside_is_known(kafka_config: KafkaConfig) -> None:
    """With another version messages go the usual way: then this is to be looked at."""
    assert KNOWN
    bus = KafkaBus(kafka_config)
    outlet = bus.outlet()
    assert isinstance(outlet, KafkaOutlet)
    headers = (("schema", b"fingerprints/1"), ("empty", b""))
    sent = [Outgoing(topics.FINGERPRINTS, f"k{n % 5}", b"v%d" % n, headers) for n in range(50)]
    sent.append(Outgoing(topics.FINGERPRINTS, "k1", None, ()))
    for message in sent:
        outlet.send(message)
    outlet.close()
    read = list(bus.read(topics.FINGERPRINTS))
    for key in {message.key for message in sent}:
        wanted = [(m.value, m.headers) for m in sent if m.key == key]
        assert [(m.value, m.headers) for m in read if m.key == key] == wanted
    assert len({message.partition for message in read}) == 2
