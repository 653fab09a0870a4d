"""A broker that is killed, stopped or hangs: nothing acknowledged is lost, and all goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kafka import TopicPartition
from kafka.future import Future
from kafka.producer.record_accumulator import RecordAccumulator

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing, Partition, Unreachable
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, create_topics
from reusewatch.streams.kafka.outlet import KafkaOutlet
from tests.broker import FEW_PARTITIONS, quick_config
from tests.deployed import Broker
from tests.streams.reading import ends, in_order, numbered, numbers, poll_until, take


@pytest.fixture(scope="module")
def own_broker() -> Iterator[Broker]:
    """A broker that these tests may harm."""
    with Broker() as started:
        yield started


@pytest.fixture
def settle(own_broker: Broker) -> Iterator[Broker]:
    yield own_broker
    own_broker.resume()
    if not own_broker.running:
        own_broker.start()


@pytest.fixture
def make_config(settle: Broker) -> Callable[..., KafkaConfig]:
    def make(**settings: object) -> KafkaConfig:
        config = quick_config(settle.address, **settings)
        create_topics(config, partitions=FEW_PARTITIONS)
        return config

    return make


class Background(threading.Thread):
    """Runs a function; `result` waits and raises what it raised."""

    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            self._work()
        except BaseException as error:
            self._error = error

    def result(self, timeout: float = 90.0) -> None:
        self.join(timeout)
        assert not self.is_alive(), "still at work"
        if self._error is not None:
            raise self._error


def wait_until(condition: Callable[[], bool], timeout: float = 60.0) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


class Load:
    """Sends numbered messages, flushing now and then, until told to stop."""

    def __init__(self, bus: KafkaBus) -> None:
        self._bus = bus
        self._stop = threading.Event()
        self.flushed = 0
        self._thread = Background(self._send)

    def _send(self) -> None:
        outlet = self._bus.outlet()
        while not self._stop.is_set():
            some = list(numbered(topics.PAGES, 200, start=self.flushed))
            for message in some[:100]:
                outlet.send(message)
            outlet.send(*some[100:])
            outlet.flush()
            self.flushed += 200
        outlet.close()

    def more(self, count: int = 1000) -> None:
        goal = self.flushed + count
        wait_until(lambda: self.flushed >= goal or not self._thread.is_alive())

    def finish(self) -> int:
        self._stop.set()
        self._thread.result()
        return self.flushed


def kill(broker: Broker) -> None:
    broker.kill()
    broker.start()


def stop(broker: Broker) -> None:
    broker.stop()
    broker.start()


def hang(broker: Broker) -> None:
    broker.pause()
    time.sleep(4)  # how long it hangs is the fault itself
    broker.resume()


def test_a_failing_broker_loses_and_doubles_nothing(
    make_config: Callable[..., KafkaConfig], own_broker: Broker
) -> None:
    bus = KafkaBus(make_config())
    load = Load(bus)
    inlet = bus.inlet("fingerprint", [topics.PAGES])
    seen: list[int] = []
    read = []

    def enough() -> bool:
        return bool(total) and len(set(seen)) >= total[0]

    total: list[int] = []

    def consume() -> None:
        while not enough():
            messages = inlet.poll(0.2)
            read.extend(messages)
            seen.extend(numbers(messages))
            if messages:
                inlet.commit(ends(messages))

    consumer = Background(consume)
    for harm in (kill, hang, stop, kill):
        load.more()
        harm(own_broker)
    load.more()
    total.append(load.finish())
    consumer.result()
    inlet.close()
    assert set(seen) == set(range(total[0]))
    assert in_order(read)
    log = list(bus.read(topics.PAGES))
    assert sorted(numbers(log)) == list(range(total[0]))
    assert in_order(log)


def test_after_a_delivery_timeout_everything_is_sent_again_in_order(
    make_config: Callable[..., KafkaConfig], own_broker: Broker
) -> None:
    said: list[str] = []
    bus = KafkaBus(make_config(delivery_timeout=2.0), report=said.append)
    outlet = bus.outlet()
    for message in numbered(topics.PAGES, 500):
        outlet.send(message)
    outlet.flush()
    own_broker.pause()
    outlet.send(*numbered(topics.PAGES, 500, start=500))
    flushing = Background(outlet.flush)
    wait_until(lambda: any("starting anew" in text for text in said))
    own_broker.resume()
    flushing.result()
    outlet.close()
    log = list(bus.read(topics.PAGES))
    assert set(numbers(log)) == set(range(1000))
    assert in_order(log)


class Stuck:
    """A producer that takes everything, and never says more."""

    class _Sender:
        def force_close(self) -> None:
            pass

        def wakeup(self) -> None:
            pass

    _sender = _Sender()

    def __init__(self) -> None:
        self._accumulator: Any = RecordAccumulator()

    def send(self, *_: object, **__: object) -> Any:
        return Future()

    def close(self, _: float) -> None:
        pass


def test_a_stuck_producer_is_replaced(make_config: Callable[..., KafkaConfig]) -> None:
    bus = KafkaBus(make_config(stall=0.5))
    outlet = bus.outlet()
    assert outlet.partitions(topics.PAGES) == 3
    sound, outlet._producer = outlet._producer, Stuck()  # type: ignore[assignment]
    sound.close(5)
    for message in numbered(topics.PAGES, 100):
        outlet.send(message)
    outlet.flush()
    outlet.close()
    log = list(bus.read(topics.PAGES))
    assert sorted(numbers(log)) == list(range(100))
    assert in_order(log)


@pytest.mark.parametrize(("leave", "come_back"), [("stop", "start"), ("pause", "resume")])
def test_an_outage_longer_than_the_stall_limit_doubles_nothing(
    make_config: Callable[..., KafkaConfig], own_broker: Broker, leave: str, come_back: str
) -> None:
    said: list[str] = []
    # Above the second after which a client tries again: within the limit it has sent what it holds.
    bus = KafkaBus(make_config(stall=4.0, connect_timeout=1.0), report=said.append)
    outlet = bus.outlet()
    outlet.partitions(topics.PAGES)
    getattr(own_broker, leave)()
    for message in numbered(topics.PAGES, 100):
        outlet.send(message)
    flushing = Background(outlet.flush)
    wait_until(lambda: any("no Kafka broker" in text for text in said))
    getattr(own_broker, come_back)()
    flushing.result()
    outlet.close()
    assert sorted(numbers(bus.read(topics.PAGES))) == list(range(100))


def test_sending_waits_rather_than_fill_the_memory(
    make_config: Callable[..., KafkaConfig], own_broker: Broker
) -> None:
    bus = KafkaBus(make_config(in_flight_bytes=1 << 20))
    outlet = bus.outlet()
    outlet.partitions(topics.PAGES)
    own_broker.pause()
    sent: list[int] = []

    def fill() -> None:
        for n in range(60):
            outlet.send(Outgoing(topics.PAGES, "k", str(n).encode() + b" " * 50_000))
            sent.append(n)
        outlet.close()

    filling = Background(fill)
    wait_until(lambda: len(sent) >= 20)
    assert outlet._in_flight.full(50_000)
    assert len(sent) <= 21
    own_broker.resume()
    filling.result()
    assert len(list(bus.read(topics.PAGES))) == 60


def test_a_stop_ends_the_waiting(
    make_config: Callable[..., KafkaConfig], own_broker: Broker
) -> None:
    stopping = threading.Event()
    bus = KafkaBus(make_config(), stopping=stopping.is_set)
    outlet = bus.outlet()
    outlet.partitions(topics.PAGES)
    own_broker.pause()
    outlet.send(Outgoing(topics.PAGES, "k", b"1"))
    stopping.set()
    with pytest.raises(Unreachable, match="1 messages not acknowledged"):
        outlet.close()


def test_patience_has_the_limit_that_is_set(
    make_config: Callable[..., KafkaConfig], own_broker: Broker
) -> None:
    bus = KafkaBus(make_config(patience=1.0))
    outlet = bus.outlet()
    outlet.partitions(topics.PAGES)
    own_broker.pause()
    outlet.send(Outgoing(topics.PAGES, "k", b"1"))
    with pytest.raises(Unreachable, match="given up"):
        outlet.close()


def test_commit_waits_out_an_outage(
    make_config: Callable[..., KafkaConfig], own_broker: Broker
) -> None:
    bus = KafkaBus(make_config())
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.ALERTS, "k", b"1"))
    outlet.close()
    inlet = bus.inlet("watch", [topics.ALERTS])
    read = take(inlet, 1)
    own_broker.kill()
    committing = Background(lambda: inlet.commit(ends(read)))
    own_broker.start()
    committing.result()
    assert inlet.committed() == {Partition(topics.ALERTS, 0): 1}
    inlet.close()


def test_polling_goes_on_through_an_outage(
    make_config: Callable[..., KafkaConfig], own_broker: Broker
) -> None:
    bus = KafkaBus(make_config())
    inlet = bus.inlet("watch", [topics.ALERTS])
    poll_until(inlet, lambda _: bool(inlet.partitions()))
    own_broker.kill()
    assert list(inlet.poll(1.0)) == []
    own_broker.start()
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.ALERTS, "k", b"7"))
    outlet.close()
    assert numbers(take(inlet, 1)) == [7]
    inlet.close()


def test_closing_does_not_wait_for_a_dead_broker(
    make_config: Callable[..., KafkaConfig], own_broker: Broker
) -> None:
    bus = KafkaBus(make_config())
    inlet = bus.inlet("watch", [topics.ALERTS])
    poll_until(inlet, lambda _: bool(inlet.partitions()))
    own_broker.pause()
    Background(inlet.close).result(20)


def test_the_broker_dies_with_its_parent() -> None:
    code = (
        "import time; from tests.deployed import Broker; b = Broker().start();"
        "print(b._process.pid, b.directory, flush=True); time.sleep(100)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid, directory = parent.stdout.readline().split()
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), 20)
    subprocess.run(["rm", "-rf", directory], check=True)


def test_an_outlet_of_a_dead_broker_says_so(make_config: Callable[..., KafkaConfig]) -> None:
    config = quick_config("127.0.0.1:1", connect_timeout=0.5)
    with pytest.raises(Unreachable, match="Connection refused"):
        KafkaOutlet(config, KafkaBus(config)._patience())


def test_a_leader_that_the_client_does_not_know_yet_is_looked_up(
    make_config: Callable[..., KafkaConfig],
) -> None:
    """A broker that came back leads a partition before the client has heard that it came back."""
    config = make_config()
    bus = KafkaBus(config)
    outlet, inlet = bus.outlet(), bus.inlet("late", [topics.ALERTS])
    tp = TopicPartition(config.topic(topics.ALERTS), 0)

    def mislead(client: Any) -> None:
        known = client.cluster
        epoch = known.leader_epoch_for_partition(tp)
        assert known.update_partition_leader(tp, 99, epoch + 1)

    outlet.send(*numbered(topics.ALERTS, 1))
    outlet.flush()
    take(inlet, 1)
    mislead(inlet._consumer._client)
    inlet.poll(0.1)
    mislead(inlet._consumer._client)
    assert inlet.lag() == {Partition(topics.ALERTS, 0): 0}
    mislead(outlet._producer._sender._client)
    outlet.send(*numbered(topics.ALERTS, 1, start=1))
    outlet.flush()
    assert numbers(take(inlet, 1)) == [1]
    inlet.close()
    outlet.close()
