"""Groups: members come, go and die; each message has an owner, and none is passed over."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from kafka import TopicPartition

from reusewatch.streams import topics
from reusewatch.streams.bus import Message, NotOwner, Outgoing, Partition, PastRetention
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
from reusewatch.streams.kafka.admin import admin_client
from tests.streams.reading import PATIENCE, ends, numbered, numbers, poll_until, take

PAGES = [Partition(topics.PAGES, n) for n in range(3)]


def send(bus: KafkaBus, messages: Sequence[Outgoing]) -> None:
    outlet = bus.outlet()
    for message in messages:
        outlet.send(message)
    outlet.close()


class Ledger:
    """Who owns what, and what was processed, over all members."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.owner: dict[Partition, str] = {}
        self.processed: list[Message] = []
        self.trouble: list[str] = []

    def take(self, member: str, partitions: Sequence[Partition]) -> None:
        with self.lock:
            for partition in partitions:
                if partition in self.owner:
                    self.trouble.append(f"{member} got {partition} of {self.owner[partition]}")
                self.owner[partition] = member

    def give(self, member: str, partitions: Sequence[Partition]) -> None:
        with self.lock:
            for partition in partitions:
                if self.owner.pop(partition, None) != member:
                    self.trouble.append(f"{member} gave {partition} that it did not have")


class Member(threading.Thread):
    """A worker: processes at once, commits only when it must."""

    def __init__(
        self, name: str, config: KafkaConfig, ledger: Ledger, *, sole: bool = False
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._bus = KafkaBus(config)
        self._ledger = ledger
        self._sole = sole
        self._leave = threading.Event()
        self._done: dict[Partition, int] = {}
        self.held: set[Partition] = set()
        self.start()

    def run(self) -> None:
        self._inlet = self._bus.inlet(
            "fingerprint", [topics.PAGES], sole=self._sole,
            on_assigned=self._assigned, on_revoked=self._revoked,
        )  # fmt: skip
        try:
            while not self._leave.is_set():
                messages = self._inlet.poll(0.1)
                with self._ledger.lock:
                    self._ledger.processed += messages
                self._done |= ends(messages)
            self._inlet.commit(self._done)
            self._ledger.give(self.name, sorted(self.held))
        except BaseException as error:
            self._ledger.trouble.append(f"{self.name}: {error!r}")
            raise
        finally:
            self._inlet.close()

    def _assigned(self, partitions: Sequence[Partition]) -> None:
        self._ledger.take(self.name, partitions)
        self.held |= set(partitions)

    def _revoked(self, partitions: Sequence[Partition]) -> None:
        self._inlet.commit({p: self._done.pop(p) for p in partitions if p in self._done})
        self._ledger.give(self.name, partitions)
        self.held -= set(partitions)

    def leave(self) -> None:
        self._leave.set()
        self.join(PATIENCE)
        assert not self.is_alive()


def wait_until(condition: object) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_members_share_and_hand_over(kafka_config: KafkaConfig) -> None:
    ledger = Ledger()
    first = Member("first", kafka_config, ledger)
    wait_until(lambda: first.held == set(PAGES))
    second = Member("second", kafka_config, ledger)
    wait_until(lambda: first.held and second.held)
    assert first.held | second.held == set(PAGES)
    first.leave()
    wait_until(lambda: second.held == set(PAGES))
    second.leave()
    assert ledger.trouble == []


def test_members_that_come_and_go_pass_over_nothing_and_repeat_nothing(
    kafka_config: KafkaConfig,
) -> None:
    # What the broker gathers for a member is nobody's when its share goes to another.
    kafka_config = replace(kafka_config, gather=0.2)
    ledger = Ledger()
    bus = KafkaBus(kafka_config)
    outlet = bus.outlet()
    members = [Member("0", kafka_config, ledger)]
    sent = 0
    for n in range(1, 9):
        for message in numbered(topics.PAGES, 300, start=sent):
            outlet.send(message)
        outlet.flush()
        sent += 300
        members.append(Member(str(n), kafka_config, ledger))
        wait_until(lambda: members[-1].held)
        if len(members) > 2:
            members.pop(0).leave()
    outlet.close()
    wait_until(lambda: len(ledger.processed) >= sent)
    for member in members:
        member.leave()
    assert Counter(numbers(ledger.processed)) == Counter(range(sent))
    assert ledger.trouble == []


def test_what_trickles_in_comes_together_and_comes_in_time(kafka_config: KafkaConfig) -> None:
    bus = KafkaBus(replace(kafka_config, gather=20.0, gather_bytes=5_000))
    inlet = bus.inlet("fingerprint", [topics.PAGES])
    poll_until(inlet, lambda _: bool(inlet.partitions()))
    send(bus, numbered(topics.PAGES, 3))
    assert not inlet.poll(0.3)
    send(bus, [Outgoing(topics.PAGES, "k", b"x" * 10_000)])
    assert len(inlet.poll(PATIENCE)) == 4
    inlet.close()
    slow = KafkaBus(replace(kafka_config, gather=0.1)).inlet("watch", [topics.PAGES])
    # Far from enough to wait for more than the moment that it is given.
    assert len(take(slow, 4)) == 4
    slow.close()


def test_sole_means_one_has_all_and_the_next_takes_over(kafka_config: KafkaConfig) -> None:
    ledger = Ledger()
    bus = KafkaBus(kafka_config)
    send(bus, numbered(topics.PAGES, 100))
    members = [Member(name, kafka_config, ledger, sole=True) for name in "abc"]
    wait_until(lambda: len(ledger.processed) == 100)
    owner = next(member for member in members if member.held)
    assert owner.held == set(PAGES)
    # A newcomer changes nothing.
    members.append(Member("0", kafka_config, ledger, sole=True))
    send(bus, numbered(topics.PAGES, 50, start=100))
    wait_until(lambda: len(ledger.processed) == 150)
    assert [member for member in members if member.held] == [owner]
    members.remove(owner)
    owner.leave()
    wait_until(lambda: any(member.held == set(PAGES) for member in members))
    send(bus, numbered(topics.PAGES, 50, start=150))
    wait_until(lambda: len(ledger.processed) >= 200)
    for member in members:
        member.leave()
    assert Counter(numbers(ledger.processed)) == Counter(range(200))
    assert ledger.trouble == []


CHILD = """
import sys
from reusewatch.streams.kafka import KafkaBus, KafkaConfig
config = KafkaConfig((sys.argv[1],), topic_prefix=sys.argv[2], session_timeout=6.0, heartbeat=0.3)
inlet = KafkaBus(config).inlet("fingerprint", ["pages"], sole=True)
while True:
    for message in inlet.poll(1.0):
        print(message.offset, flush=True)
"""


def test_a_dead_sole_owner_is_replaced_and_its_work_done_again(kafka_config: KafkaConfig) -> None:
    bus = KafkaBus(kafka_config)
    send(bus, numbered(topics.PAGES, 10))
    server, prefix = kafka_config.bootstrap_servers[0], kafka_config.topic_prefix
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", CHILD, server, prefix],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline()
    inlet = bus.inlet("fingerprint", [topics.PAGES], sole=True)
    assert list(inlet.poll(0.5)) == []
    child.kill()
    child.wait()
    child.stdout.close()
    assert sorted(numbers(take(inlet, 10))) == list(range(10))
    inlet.close()


def test_what_left_the_topic_unread_is_said_loudly(kafka_config: KafkaConfig) -> None:
    bus = KafkaBus(kafka_config)
    send(bus, numbered(topics.ALERTS, 10))
    inlet = bus.inlet("watch", [topics.ALERTS])
    inlet.commit(ends(take(inlet, 10)[:3]))
    inlet.close()
    alerts = kafka_config.topic(topics.ALERTS)
    with admin_client(kafka_config) as client:
        client.alter_configs([_deletable(alerts)])
        client.delete_records({TopicPartition(alerts, 0): 8})
    inlet = bus.inlet("watch", [topics.ALERTS])
    with pytest.raises(PastRetention, match=r"offset 3 is to be read next.*now starts at 8"):
        poll_until(inlet, lambda _: False)
    with pytest.raises(PastRetention):
        poll_until(inlet, lambda _: False)
    inlet.seek({Partition(topics.ALERTS, 0): 8})
    assert numbers(take(inlet, 2)) == [8, 9]
    inlet.close()


def _deletable(topic: str) -> object:
    from kafka.admin import ConfigResource

    return ConfigResource("TOPIC", topic, {"cleanup.policy": "delete"})


def test_two_processes_of_one_name_find_out(kafka_config: KafkaConfig) -> None:
    config = replace(kafka_config, group_instance_id="worker-1")
    bus = KafkaBus(config)
    send(bus, numbered(topics.ALERTS, 5))
    first = bus.inlet("watch", [topics.ALERTS])
    read = take(first, 5)
    second = bus.inlet("watch", [topics.ALERTS])
    take(second, 5)
    with pytest.raises(NotOwner, match="worker-1"):
        first.commit(ends(read))
    first.close()
    second.commit(ends(read))
    second.close()


def test_a_static_member_comes_back_without_moving_partitions(kafka_config: KafkaConfig) -> None:
    ledger = Ledger()
    other = Member("other", kafka_config, ledger)
    config = replace(kafka_config, group_instance_id="worker-1")
    static = Member("static", config, ledger)
    wait_until(lambda: static.held and other.held)
    before = set(other.held)
    static.leave()
    again = Member("again", config, ledger)
    wait_until(lambda: again.held)
    assert other.held == before
    assert again.held == static.held
    again.leave()
    other.leave()
    assert ledger.trouble == []


def test_a_member_that_was_put_out_loses_its_share_and_starts_over(
    kafka_config: KafkaConfig,
) -> None:
    config = replace(kafka_config, max_poll_interval=1.0)
    bus = KafkaBus(config)
    send(bus, numbered(topics.ALERTS, 10))
    told: list[tuple[str, list[Partition]]] = []
    inlet = bus.inlet(
        "watch", [topics.ALERTS],
        on_assigned=lambda p: told.append(("assigned", list(p))),
        on_revoked=lambda p: told.append(("revoked", list(p))),
    )  # fmt: skip
    read = take(inlet, 10)
    other = KafkaBus(kafka_config).inlet("watch", [topics.ALERTS])
    # Silent until the other has taken over.
    assert numbers(take(other, 10)) == list(range(10))
    other.close()
    inlet.commit(ends(read))
    assert numbers(take(inlet, 10)) == list(range(10))
    share = [Partition(topics.ALERTS, 0)]
    assert told == [("assigned", share), ("revoked", share), ("assigned", share)]
    inlet.close()


def test_polling_makes_no_noise(
    kafka_config: KafkaConfig, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    inlet = KafkaBus(kafka_config).inlet("watch", [topics.ALERTS])
    poll_until(inlet, lambda _: bool(inlet.partitions()))
    inlet.close()
    assert capfd.readouterr() == ("", "")
    assert "_Interruption" not in caplog.text
