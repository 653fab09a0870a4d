"""What a record comes to by the quick way is byte for byte what it comes to by the client's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import IllegalStateError
from kafka.partitioner.default import murmur2 as client_murmur2
from kafka.producer.producer_batch import ProducerBatch
from kafka.producer.record_accumulator import RecordAccumulator
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.structs import TopicPartition

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing, Partition
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, quick_send
from reusewatch.streams.kafka.inflight import Entry
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


@given(
    st.lists(st.tuples(BYTES, st.none() | BYTES, HEADERS), min_size=1, max_size=12),
    st.integers(60, 4_000),
)
def test_messages_that_are_handed_over_are_the_same_byte_for_byte(
    records: list[tuple[bytes, bytes | None, Headers]], room: int
) -> None:
    accumulator: Any = RecordAccumulator(batch_size=room)
    entries = [
        Entry(Outgoing(TO.topic, key.hex(), value, headers), Partition(*TO), 1, n, 0)
        for n, (key, value, headers) in enumerate(records)
    ]
    hand_over(accumulator, TO, entries, Told())
    begin = 0
    for batch in accumulator._batches[TO]:
        builder, mine = batch.records._builder, records[begin : begin + batch.record_count]
        begin += len(mine)
        client = _Builder(
            magic=2, compression_type=0, is_transactional=False, producer_id=-1, producer_epoch=-1,
            base_sequence=-1, batch_size=room,
        )  # fmt: skip
        # All but the first were written at one time, the latest.
        times = [builder._first_timestamp] + [builder._max_timestamp] * (len(mine) - 1)
        sizes = [
            _usual(client, n, when, key.hex().encode(), value, list(headers)).size
            for n, (when, (key, value, headers)) in enumerate(zip(times, mine, strict=True))
        ]
        assert batch.max_record_size == max(sizes)
        assert bytes(builder.build()) == bytes(client.build())
    assert begin == len(records)


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


TO = TopicPartition("pages", 1)


class Told:
    """What was said of which message."""

    def __init__(self) -> None:
        self.safe: list[int] = []
        self.lost: list[tuple[int, str]] = []

    def acknowledge(self, *entries: Entry) -> None:
        self.safe.extend(entry.order for entry in entries)

    def fail(self, entry: Entry, error: BaseException) -> None:
        self.lost.append((entry.order, str(error)))


def entry(order: int, value: bytes | None) -> Entry:
    message = Outgoing(TO.topic, f"k{order}", value, (("h", b"x"),))
    return Entry(message, Partition(*TO), 1, order, 0)


def handed_over(
    values: Sequence[bytes], room: int, together: int = 1
) -> tuple[Any, list[ProducerBatch], Told]:
    """The client's accumulator with these in it, so many at a time, its batches, and who is told
    of them."""
    accumulator: Any = RecordAccumulator(batch_size=room)
    told = Told()
    entries = [entry(n, value) for n, value in enumerate(values)]
    seen = 0
    for begin in range(0, len(entries), together):
        begun = hand_over(accumulator, TO, entries[begin : begin + together], told)
        batches = list(accumulator._batches[TO])
        assert begun == (len(batches) > seen)
        seen = len(batches)
    return accumulator, batches, told


def drained(batch: Any) -> list[bytes]:
    """What stands in a batch, as the sender takes it."""
    batch.records.close()
    return [one.value for one in DefaultRecordBatch(bytes(batch.records.buffer()))]


@given(
    st.lists(BYTES, min_size=1, max_size=30), st.integers(100, 3000), st.integers(1, 9), st.data()
)
def test_each_message_is_in_one_batch_in_order_and_told_of_as_that_is(
    values: list[bytes], room: int, together: int, data: st.DataObject
) -> None:
    _, batches, told = handed_over(values, room, together)
    safe, lost, at = list[int](), list[tuple[int, str]](), 0
    for number, batch in enumerate(batches):
        held = drained(batch)
        mine = range(at, at + len(held))
        assert held == values[at : mine.stop]
        at = mine.stop
        if data.draw(st.booleans()):
            batch.complete(100, -1)
            safe += mine
        else:
            batch.complete_exceptionally(
                ValueError("batch"), lambda place, number=number: ValueError(f"{number}:{place}")
            )
            lost += [(n, f"{number}:{place}") for place, n in enumerate(mine)]
    assert at == len(values)
    assert (sorted(told.safe), sorted(told.lost)) == (safe, sorted(lost))


def test_of_a_batch_that_the_client_splits_each_message_is_told_of_once_with_its_half() -> None:
    accumulator, (batch,), told = handed_over([b"%d" % n for n in range(7)], 1000)
    drained(batch)
    accumulator._batches[TO].clear()
    assert accumulator.split_and_reenqueue(batch) == 2
    first, second = accumulator._batches[TO]
    # The second half takes more, as the last batch of its partition does.
    assert not hand_over(accumulator, TO, [entry(7, b"7")], told)
    assert [drained(first), drained(second)] == [[b"0", b"1", b"2", b"3"], [b"4", b"5", b"6", b"7"]]
    second.complete_exceptionally(ValueError("batch"), lambda place: ValueError(str(place)))
    first.complete(0, -1)
    assert sorted(told.safe) == [0, 1, 2, 3]
    assert sorted(told.lost) == [(4, "0"), (5, "1"), (6, "2"), (7, "3")]


def test_of_a_producer_that_gives_up_every_message_is_lost_and_none_is_taken() -> None:
    accumulator, _, told = handed_over([b"a", b"b", b"c"], 1000)
    accumulator.close()
    accumulator.abort_incomplete_batches()
    assert sorted(entry for entry, _ in told.lost) == [0, 1, 2]
    assert not told.safe
    with pytest.raises(IllegalStateError):
        hand_over(accumulator, TO, [entry(3, b"d")], told)


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
    outlet.send(*sent[:20])
    for message in sent[20:]:
        outlet.send(message)
    outlet.close()
    read = list(bus.read(topics.FINGERPRINTS))
    for key in {message.key for message in sent}:
        wanted = [(m.value, m.headers) for m in sent if m.key == key]
        assert [(m.value, m.headers) for m in read if m.key == key] == wanted
    assert len({message.partition for message in read}) == 2


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
    accumulator = RecordAccumulator()
    for number in range(3):
        hand_over(accumulator, TO, [entry(number, b"v")], Told())
    assert builder.noted == ["append"]
