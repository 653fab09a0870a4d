"""What every bus promises, whichever it is. Relies on the protocol alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import pytest

from reusewatch.streams import topics
from reusewatch.streams.bus import BEGINNING, Bus, Outgoing, Partition, TooLarge
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from tests.streams.reading import ends, in_order, numbered, numbers, poll_until, take

MakeBus = Callable[[], Bus]


@pytest.fixture(params=["local", "kafka"])
def make_bus(request: pytest.FixtureRequest) -> MakeBus:
    """Opens the same bus, again and again: a new process, as far as the bus can tell."""
    make: MakeBus = request.getfixturevalue(f"make_{request.param}_bus")
    return make


@pytest.fixture
def make_kafka_bus(kafka_config: KafkaConfig) -> MakeBus:
    return lambda: KafkaBus(kafka_config)


@pytest.fixture
def make_local_bus(tmp_path: Path) -> MakeBus:
    from reusewatch.streams.local import LocalBus

    return lambda: LocalBus(tmp_path)


@pytest.fixture
def bus(make_bus: MakeBus) -> Bus:
    return make_bus()


def send(bus: Bus, messages: Sequence[Outgoing]) -> None:
    outlet = bus.outlet()
    for message in messages:
        outlet.send(message)
    outlet.flush()
    outlet.close()


def test_what_was_flushed_is_read(bus: Bus) -> None:
    send(bus, numbered(topics.PAGES, 100))
    inlet = bus.inlet("fingerprint", [topics.PAGES])
    assert sorted(numbers(take(inlet, 100))) == list(range(100))
    assert not inlet.poll(0.1)
    inlet.close()


def test_keys_headers_values_and_tombstones_survive(bus: Bus) -> None:
    every_byte = bytes(range(256))
    headers = (("schema", b"label/1"), ("content-type", b""), ("schema", every_byte))
    sent = [
        Outgoing(topics.LABELS, "ключ/鍵/🗝", every_byte, headers),
        Outgoing(topics.LABELS, "", b""),
        Outgoing(topics.LABELS, "gone", None),
    ]
    send(bus, sent)
    inlet = bus.inlet("fingerprint", [topics.LABELS])
    read = take(inlet, 3)
    assert [(m.key, m.value, m.headers) for m in read] == [
        (o.key, o.value, o.headers) for o in sent
    ]
    assert all(m.timestamp_ms > 1_600_000_000_000 for m in read)
    inlet.close()


def test_order_is_kept_in_each_partition(bus: Bus) -> None:
    send(bus, numbered(topics.PAGES, 2000))
    inlet = bus.inlet("fingerprint", [topics.PAGES])
    read = take(inlet, 2000)
    assert in_order(read)
    last: dict[Partition, int] = {}
    for message in read:
        assert message.offset == last.get(message.partition, -1) + 1
        last[message.partition] = message.offset
    inlet.close()


def test_the_same_key_is_in_the_same_partition(bus: Bus) -> None:
    outlet = bus.outlet()
    keys = [f"site{n}.example" for n in range(20)]
    wanted = {key: outlet.partition_for(topics.PAGES, key) for key in keys}
    for key in keys * 2:
        outlet.send(Outgoing(topics.PAGES, key, b"1"))
    outlet.close()
    assert {number in range(outlet.partitions(topics.PAGES)) for number in wanted.values()} == {
        True
    }
    other = bus.outlet()
    assert wanted == {key: other.partition_for(topics.PAGES, key) for key in keys}
    other.close()
    read = list(bus.read(topics.PAGES))
    assert {m.key: m.partition.number for m in read} == wanted
    assert len(read) == 40


def test_a_partition_can_be_chosen(bus: Bus) -> None:
    outlet = bus.outlet()
    last = outlet.partitions(topics.FINGERPRINTS) - 1
    for n in range(10):
        outlet.send(Outgoing(topics.FINGERPRINTS, f"site{n}", b"x", partition=last))
    outlet.close()
    read = list(bus.read(topics.FINGERPRINTS))
    assert [m.partition.number for m in read] == [last] * 10


def test_what_was_committed_is_not_read_again(make_bus: MakeBus) -> None:
    bus = make_bus()
    send(bus, numbered(topics.PAGES, 50))
    inlet = bus.inlet("fingerprint", [topics.PAGES])
    inlet.commit(ends(take(inlet, 50)))
    inlet.close()
    bus.close()

    bus = make_bus()
    send(bus, numbered(topics.PAGES, 5, start=50))
    inlet = bus.inlet("fingerprint", [topics.PAGES])
    assert sorted(numbers(take(inlet, 5))) == [50, 51, 52, 53, 54]
    inlet.close()


def test_what_was_not_committed_is_read_again(make_bus: MakeBus) -> None:
    bus = make_bus()
    send(bus, numbered(topics.ALERTS, 30, keys=30))  # or a compacted topic may have dropped some
    inlet = bus.inlet("watch", [topics.ALERTS])
    read = take(inlet, 30)
    inlet.commit(ends(read[:12]))
    inlet.close()
    bus.close()

    inlet = make_bus().inlet("watch", [topics.ALERTS])
    assert numbers(take(inlet, 18)) == numbers(read[12:])
    inlet.close()


def test_committed_says_how_far(bus: Bus) -> None:
    send(bus, numbered(topics.ALERTS, 10))
    inlet = bus.inlet("watch", [topics.ALERTS])
    read = take(inlet, 10)
    assert inlet.committed() == {}
    inlet.commit(ends(read[:4]))
    assert inlet.committed() == {Partition(topics.ALERTS, 0): 4}
    inlet.close()


def test_each_group_reads_everything(bus: Bus) -> None:
    send(bus, numbered(topics.FINGERPRINTS, 20))
    for group in ("index", "neighborhoods"):
        inlet = bus.inlet(group, [topics.FINGERPRINTS])
        read = take(inlet, 20)
        assert sorted(numbers(read)) == list(range(20))
        inlet.commit(ends(read))
        inlet.close()


def test_several_topics_are_read_at_once(bus: Bus) -> None:
    send(bus, numbered(topics.PAGES, 10) + numbered(topics.LABELS, 10, start=10))
    inlet = bus.inlet("fingerprint", [topics.PAGES, topics.LABELS])
    read = take(inlet, 20)
    assert sorted(numbers(m for m in read if m.partition.topic == topics.LABELS)) == [
        *range(10, 20)
    ]
    inlet.close()


def test_seek_reads_again_from_there(bus: Bus) -> None:
    send(bus, numbered(topics.ALERTS, 10))
    inlet = bus.inlet("watch", [topics.ALERTS])
    take(inlet, 10)
    inlet.seek({Partition(topics.ALERTS, 0): 7})
    assert numbers(take(inlet, 3)) == [7, 8, 9]
    inlet.close()


def test_seek_to_the_beginning_reads_everything_again(bus: Bus) -> None:
    send(bus, numbered(topics.ALERTS, 5))
    inlet = bus.inlet("watch", [topics.ALERTS])
    take(inlet, 5)
    inlet.seek({Partition(topics.ALERTS, 0): BEGINNING})
    assert numbers(take(inlet, 5)) == [0, 1, 2, 3, 4]
    inlet.close()


def test_a_stage_may_seek_before_its_first_message(bus: Bus) -> None:
    send(bus, numbered(topics.ALERTS, 10))
    calls: list[Sequence[Partition]] = []

    def on_assigned(partitions: Sequence[Partition]) -> None:
        calls.append(partitions)
        inlet.seek({Partition(topics.ALERTS, 0): 6})

    inlet = bus.inlet("watch", [topics.ALERTS], on_assigned=on_assigned)
    assert numbers(take(inlet, 4)) == [6, 7, 8, 9]
    assert [list(partitions) for partitions in calls] == [[Partition(topics.ALERTS, 0)]]
    inlet.close()


def test_lag_counts_what_waits(bus: Bus) -> None:
    send(bus, numbered(topics.ALERTS, 10))
    inlet = bus.inlet("watch", [topics.ALERTS])
    take(inlet, 10)
    assert inlet.lag() == {Partition(topics.ALERTS, 0): 0}
    send(bus, numbered(topics.ALERTS, 5))
    inlet.seek({Partition(topics.ALERTS, 0): 8})
    assert inlet.lag() == {Partition(topics.ALERTS, 0): 7}
    inlet.close()


def test_a_compacted_topic_is_read_as_a_table(bus: Bus) -> None:
    keys = ["a", "b", "c", "a", "b", "d"]
    send(bus, [Outgoing(topics.ALERTS, key, str(n).encode()) for n, key in enumerate(keys)])
    send(bus, [Outgoing(topics.ALERTS, "b", None)])
    read = [(m.key, m.value) for m in bus.read(topics.ALERTS)]
    assert read == [("c", b"2"), ("a", b"3"), ("d", b"5")]


def test_another_topic_is_read_as_a_log(bus: Bus) -> None:
    send(bus, [Outgoing(topics.DEAD_LETTERS, "same", str(n).encode()) for n in range(50)])
    assert numbers(bus.read(topics.DEAD_LETTERS)) == list(range(50))


def test_an_empty_topic_is_read_to_its_end(bus: Bus) -> None:
    assert list(bus.read(topics.DEAD_LETTERS)) == []


def test_following_sees_what_comes_later(bus: Bus) -> None:
    send(bus, [Outgoing(topics.ALERTS, "a", b"1"), Outgoing(topics.ALERTS, "a", b"2")])
    messages = bus.read(topics.ALERTS, follow=True)
    assert next(messages).value == b"2"
    send(bus, [Outgoing(topics.ALERTS, "b", b"3"), Outgoing(topics.ALERTS, "a", None)])
    assert [(m.key, m.value) for m in islice(messages, 2)] == [("b", b"3"), ("a", None)]


@pytest.mark.parametrize("first", ["withdrawal", "successor"])
def test_following_sees_a_withdrawal_and_its_successor(bus: Bus, first: str) -> None:
    send(bus, [Outgoing(topics.ALERTS, "wrong", b"1")])
    messages = bus.read(topics.ALERTS, follow=True)
    assert next(messages).key == "wrong"
    both = [Outgoing(topics.ALERTS, "wrong", None), Outgoing(topics.ALERTS, "right", b"2")]
    send(bus, both if first == "withdrawal" else both[::-1])
    assert {m.key: m.value for m in islice(messages, 2)} == {"wrong": None, "right": b"2"}


def test_following_says_when_all_is_handed_out_and_ends_when_told(bus: Bus) -> None:
    send(bus, [Outgoing(topics.ALERTS, key, b"1") for key in "ab"])
    seen: list[str] = []
    idle: list[int] = []
    for message in bus.read(
        topics.ALERTS, follow=True, stop=lambda: bool(idle), idle=lambda: idle.append(len(seen))
    ):
        seen.append(message.key)
    assert sorted(seen) == ["a", "b"]
    assert idle == [2]


def test_a_message_over_the_limit_is_refused_and_nothing_else_is_lost(bus: Bus) -> None:
    limit = topics.TOPICS[topics.DEAD_LETTERS].message_bytes
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.DEAD_LETTERS, "k", b"0"))
    with pytest.raises(TooLarge, match=str(limit)):
        outlet.send(Outgoing(topics.DEAD_LETTERS, "k", bytes(limit + 1)))
    with pytest.raises(TooLarge):
        outlet.send(Outgoing(topics.DEAD_LETTERS, "k", b"", (("h", bytes(limit + 1)),)))
    outlet.send(Outgoing(topics.DEAD_LETTERS, "k", b"1"))
    outlet.close()
    assert numbers(bus.read(topics.DEAD_LETTERS)) == [0, 1]


@pytest.mark.parametrize("topic", [topics.DEAD_LETTERS, topics.PAGES])
def test_a_message_just_under_the_limit_passes(bus: Bus, topic: str) -> None:
    body = os.urandom(topics.TOPICS[topic].message_bytes - 1000)
    send(bus, [Outgoing(topic, "k", body)])
    inlet = bus.inlet("archive", [topic])
    assert take(inlet, 1)[0].value == body
    inlet.close()


def test_a_sole_reader_has_everything(bus: Bus) -> None:
    send(bus, numbered(topics.FINGERPRINTS, 40))
    inlet = bus.inlet("index", [topics.FINGERPRINTS], sole=True)
    read = take(inlet, 40)
    assert sorted(numbers(read)) == list(range(40))
    inlet.commit(ends(read))
    inlet.close()


def test_sending_goes_on_after_a_flush(bus: Bus) -> None:
    outlet = bus.outlet()
    for n in range(5):
        outlet.send(Outgoing(topics.ALERTS, str(n), str(n).encode()))
        outlet.flush()
    outlet.flush()
    outlet.close()
    outlet.close()
    assert numbers(bus.read(topics.ALERTS)) == [0, 1, 2, 3, 4]


def test_closing_flushes(bus: Bus) -> None:
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.ALERTS, "k", b"1"))
    outlet.close()
    assert numbers(bus.read(topics.ALERTS)) == [1]


def test_a_sound_bus_has_nothing_to_say(bus: Bus) -> None:
    bus.check()


def test_polling_an_idle_topic_returns(bus: Bus) -> None:
    inlet = bus.inlet("watch", [topics.ALERTS])
    poll_until(inlet, lambda _: bool(inlet.lag()))
    assert list(inlet.poll(0.05)) == []
    inlet.close()
