"""The loop around a stage: what it makes last and in which order, and how it begins and leaves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, Message, Outgoing, Partition, PastRetention
from reusewatch.streams.dead_letter_limit import WorkerStopped
from reusewatch.streams.questions import Parameters, Rows
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.news import WorkerLog
from reusewatch.streams.running.worker import Pace
from reusewatch.streams.stages.snapshot import Snapshots, State
from reusewatch.streams.stages.stage import Condition, Output
from tests.pages import SCHEME
from tests.streams.memory_bus import MemoryBus
from tests.streams.stages.making import NEVER, inlet_of, work_off, worker_of


class Adder:
    """Sends each number on, and remembers their sum."""

    name = "index"
    reads = (topics.FINGERPRINTS,)
    sole = True

    def __init__(self, fails_at: int = -1) -> None:
        self.sum = 0
        self.seen: list[int] = []
        self.fails_at = fails_at

    def process(self, messages: Sequence[Message]) -> Output:
        sent = []
        for message in messages:
            number = int(message.value or b"0")
            if number == self.fails_at:
                raise ZeroDivisionError
            self.sum += number
            self.seen.append(number)
            sent.append(Outgoing(topics.VERDICTS, str(number), str(number).encode()))
        return Output(sent, len(sent))

    def rows(self) -> int:
        return len(self.seen)

    def nbytes(self) -> int:
        return 8 * len(self.seen)

    def condition(self) -> Condition:
        return Condition()

    def save(self) -> State:
        return State(facts={"sum": self.sum})

    def restore(self, state: State | None, *, question: str | None = None) -> None:
        self.sum = 0 if state is None else state.facts["sum"]

    def answer(self, name: str, parameters: Parameters) -> Rows:
        return [{"sum": self.sum}]


def bus_of(count: int, partitions: int = 1) -> MemoryBus:
    bus = MemoryBus({topics.FINGERPRINTS: partitions})
    for number in range(count):
        part = number % partitions
        bus.append(Outgoing(topics.FINGERPRINTS, "k", str(number).encode(), partition=part))
    return bus


def numbers_sent(bus: MemoryBus) -> list[int]:
    return [int(message.value or b"") for message in bus.read(topics.VERDICTS)]


def note_snapshots(bus: MemoryBus, monkeypatch: pytest.MonkeyPatch) -> None:
    save = Snapshots.save

    def saved(
        self: Snapshots, state: State, offsets: dict[Partition, int], flush: Callable[[], None]
    ) -> Path:
        path = save(self, state, offsets, flush)
        bus.did.append("snapshot")
        return path

    monkeypatch.setattr(Snapshots, "save", saved)


def test_outputs_then_snapshot_then_offsets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = bus_of(5)
    worker = worker_of(Adder(), bus, snapshots=tmp_path)
    note_snapshots(bus, monkeypatch)
    work_off(worker)
    worker.commit(snapshot=True)
    bus.append(Outgoing(topics.FINGERPRINTS, "k", b"5"))
    work_off(worker)
    worker.close()
    order = ["flush", "snapshot", "commit"]
    assert bus.did == ["join", *order, *order, "leave", "flush"]


class Late:
    """A message that is made when somebody says so."""

    def __init__(self, place: Outgoing, made: Outgoing) -> None:
        self.there = False
        self.pair = place, made

    def ready(self) -> bool:
        return self.there

    def finished(self) -> list[tuple[Outgoing, Outgoing]]:
        return [self.pair]


class Deferring(Adder):
    """Every third number is made elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[Late] = []

    def process(self, messages: Sequence[Message]) -> Output:
        output = super().process(messages)
        made = [sent for sent in output.messages if int(sent.key) % 3 == 0]
        late = [Late(Outgoing("", sent.key, None), sent) for sent in made]
        places = {id(made): place for one in late for place, made in [one.pair]}
        self.late += late
        sent = [places.get(id(one), one) for one in output.messages]
        return replace(output, messages=sent, unfinished=late)


def test_what_is_made_elsewhere_keeps_its_place() -> None:
    bus, stage = bus_of(3), Deferring()
    worker = worker_of(stage, bus)
    work_off(worker)
    worker.outlet.flush()
    assert numbers_sent(bus) == []
    stage.late[0].there = True
    for number in (b"3", b"4"):
        bus.append(Outgoing(topics.FINGERPRINTS, "k", number))
        work_off(worker)
        worker.outlet.flush()
        assert numbers_sent(bus) == [0, 1, 2]


def test_what_could_not_be_made_elsewhere_is_not_committed_as_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bus = bus_of(3)
    worker = worker_of(Deferring(), bus)
    work_off(worker)

    def ended(late: Late) -> list[tuple[Outgoing, Outgoing]]:
        raise WorkerStopped("the processes were ended")

    with monkeypatch.context() as broken:
        broken.setattr(Late, "finished", ended)
        with pytest.raises(WorkerStopped):
            worker.commit()
    worker.commit()
    assert numbers_sent(bus) == [0, 1, 2]


def test_what_is_made_elsewhere_is_sent_before_it_is_committed() -> None:
    bus = bus_of(8)
    worker = worker_of(Deferring(), bus)
    work_off(worker)
    worker.commit()
    assert numbers_sent(bus) == list(range(8))
    worker.close()


def test_what_is_made_elsewhere_does_not_grow_without_end() -> None:
    bus = bus_of(0)
    worker = worker_of(Deferring(), bus)
    for number in range(3 * 64):
        bus.append(Outgoing(topics.FINGERPRINTS, "k", str(number).encode()))
        work_off(worker)
    worker.outlet.flush()
    sent = numbers_sent(bus)
    assert sent == list(range(len(sent)))
    assert len(sent) > 2 * 64


def test_a_snapshot_that_fails_commits_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = bus_of(5)
    worker = worker_of(Adder(), bus, snapshots=tmp_path)
    work_off(worker)

    def full(*_: object) -> None:
        raise BusBroken("full")

    monkeypatch.setattr(Snapshots, "save", full)
    with pytest.raises(BusBroken):
        worker.commit(snapshot=True)
    worker.abandon()
    assert bus.commits == {}


def test_a_stage_that_fails_leaves_without_a_commit_and_the_batch_is_read_again(
    tmp_path: Path,
) -> None:
    bus = bus_of(7)
    worker = worker_of(Adder(fails_at=4), bus, snapshots=tmp_path)
    with pytest.raises(ZeroDivisionError):
        worker.run(threading.Event())
    assert "commit" not in bus.did
    assert bus.did[-1] == "leave"
    assert numbers_sent(bus) == []
    assert not worker.ready()
    stage = Adder()
    again = worker_of(stage, bus, snapshots=tmp_path)
    work_off(again)
    again.close()
    assert stage.sum == sum(range(7))
    assert set(numbers_sent(bus)) == set(range(7))


def test_what_was_committed_is_read_again_in_silence(tmp_path: Path) -> None:
    bus = bus_of(10)
    first = worker_of(Adder(), bus, snapshots=tmp_path)
    first.step(0)
    first.commit(snapshot=True)
    first.step(0)
    first.commit(snapshot=False)
    first.step(0)  # sent, and never flushed: it dies here
    stage = Adder()
    second = worker_of(stage, bus, snapshots=tmp_path)
    work_off(second)
    assert stage.seen == list(range(3, 10))  # from where the snapshot ends
    second.close()
    assert numbers_sent(bus) == list(range(10))  # each once
    assert bus.commits == {("index", Partition(topics.FINGERPRINTS, 0)): 10}


class Sparing(Deferring):
    """Has nothing made elsewhere for what nobody hears."""

    def repeat(self, messages: Sequence[Message]) -> Output:
        return Adder.process(self, messages)


def test_in_silence_nothing_is_made_elsewhere(tmp_path: Path) -> None:
    bus = bus_of(10)
    first = worker_of(Adder(), bus)
    work_off(first)
    first.close()
    bus.append(Outgoing(topics.FINGERPRINTS, "k", b"12"))
    stage = Sparing()
    second = worker_of(stage, bus, snapshots=tmp_path)
    work_off(second)
    assert stage.seen == [*range(10), 12]
    assert [late.pair[0].key for late in stage.late] == ["12"]
    second.close()
    assert numbers_sent(bus) == [*range(10), 12]


def test_nothing_new_is_judged_before_all_that_was_committed(tmp_path: Path) -> None:
    bus = bus_of(12, partitions=3)
    first = worker_of(Adder(), bus)
    work_off(first)
    first.close()
    for number in range(12, 18):
        bus.append(Outgoing(topics.FINGERPRINTS, "k", str(number).encode(), partition=0))
    stage = Adder()
    second = worker_of(stage, bus, snapshots=tmp_path)
    inlet_of(second).pick = min  # partition 0 first, the new ones with it
    work_off(second)
    assert set(stage.seen[:12]) == set(range(12))
    assert stage.seen[12:] == list(range(12, 18))
    second.close()
    assert sorted(numbers_sent(bus)) == list(range(18))


def test_a_worker_that_loses_its_share_begins_anew_when_it_gets_it_back(tmp_path: Path) -> None:
    bus = bus_of(6)
    stage = Adder()
    worker = worker_of(stage, bus, snapshots=tmp_path)
    work_off(worker)
    worker.commit(snapshot=True)
    share = [Partition(topics.FINGERPRINTS, 0)]
    inlet_of(worker).lose(share)
    assert not worker.ready()
    # Somebody else went on meanwhile, and so did the state there.
    bus.append(Outgoing(topics.FINGERPRINTS, "k", b"6"))
    bus.commits["index", share[0]] = 7
    inlet_of(worker).to_come.append(share)
    work_off(worker)
    assert stage.sum == sum(range(7))
    worker.close()
    assert numbers_sent(bus) == list(range(6))


def test_it_is_not_ready_before_recovery_is_through(tmp_path: Path) -> None:
    bus = bus_of(6)
    first = worker_of(Adder(), bus)
    work_off(first)
    first.close()
    ready: list[bool] = []

    class Asked(Adder):
        def restore(self, state: State | None, *, question: str | None = None) -> None:
            ready.append(worker.ready())
            super().restore(state)

        def process(self, messages: Sequence[Message]) -> Output:
            ready.append(worker.ready())
            return super().process(messages)

    worker = worker_of(Asked(), bus, snapshots=tmp_path)
    ready.append(worker.ready())
    work_off(worker)
    assert len(ready) == 4
    assert not any(ready[:3])
    assert worker.ready()
    worker.abandon()


def test_a_worker_without_a_share_leaves_no_snapshot_behind(tmp_path: Path) -> None:
    bus = bus_of(6)
    worker = worker_of(Adder(), bus, snapshots=tmp_path)
    work_off(worker)
    inlet_of(worker).lose([Partition(topics.FINGERPRINTS, 0)])
    worker.close()
    assert list(tmp_path.iterdir()) == []
    assert bus.commits == {("index", Partition(topics.FINGERPRINTS, 0)): 6}


def test_a_share_that_shrinks_during_recovery_is_no_damage(tmp_path: Path) -> None:
    bus = bus_of(20, partitions=2)
    first = worker_of(Adder(), bus)
    work_off(first)
    first.close()
    stage = Adder()
    second = worker_of(stage, bus, snapshots=tmp_path)
    inlet_of(second).pick = min
    second.step(0)
    inlet_of(second).lose([Partition(topics.FINGERPRINTS, 0)])
    work_off(second)
    assert set(stage.seen) >= set(range(1, 20, 2))
    second.close()
    assert sorted(numbers_sent(bus)) == list(range(20))


def test_what_is_given_away_is_committed_first_and_not_after() -> None:
    bus = bus_of(12, partitions=2)
    worker = worker_of(Adder(), bus)
    work_off(worker)
    lost = Partition(topics.FINGERPRINTS, 0)
    inlet_of(worker).lose([lost])
    assert bus.commits["index", lost] == 6
    bus.commits["index", lost] = 1  # whoever has it now
    bus.append(Outgoing(topics.FINGERPRINTS, "k", b"12", partition=1))
    work_off(worker)
    worker.close()
    assert bus.commits == {("index", lost): 1, ("index", Partition(topics.FINGERPRINTS, 1)): 7}


def test_what_retention_took_before_it_was_read_is_loud(tmp_path: Path) -> None:
    bus = bus_of(10)
    part = Partition(topics.FINGERPRINTS, 0)
    bus.commits["index", part] = 4
    bus.first[part] = 6
    worker = worker_of(Adder(), bus, snapshots=tmp_path)
    with pytest.raises(PastRetention, match="done up to offset 4, and the next that is there is 6"):
        work_off(worker)
    worker.abandon()


@pytest.mark.parametrize("first", [3, 4, 10])
def test_what_retention_took_after_it_was_read_is_no_loss(tmp_path: Path, first: int) -> None:
    bus = bus_of(10)
    part = Partition(topics.FINGERPRINTS, 0)
    bus.commits["index", part] = 4 if first < 10 else 10
    bus.first[part] = first
    worker = worker_of(Adder(), bus, snapshots=tmp_path)
    work_off(worker)
    worker.close()
    assert numbers_sent(bus) == list(range(4, 10)) * (first < 10)


def test_a_group_that_is_new_begins_where_the_topic_does(tmp_path: Path) -> None:
    bus = bus_of(10)
    bus.first[Partition(topics.FINGERPRINTS, 0)] = 6
    worker = worker_of(Adder(), bus, snapshots=tmp_path)
    assert worker.step(0) == 3
    assert worker.ready()
    work_off(worker)
    worker.close()
    assert numbers_sent(bus) == [6, 7, 8, 9]


def test_a_topic_that_was_made_anew_is_loud_and_not_silently_muted(tmp_path: Path) -> None:
    bus = bus_of(10)
    bus.commits["index", Partition(topics.FINGERPRINTS, 0)] = 50
    worker = worker_of(Adder(), bus, snapshots=tmp_path)
    with pytest.raises(BusBroken, match="ends at offset 10, yet it is done up to 50"):
        work_off(worker)
    worker.abandon()


def test_a_stop_finishes_the_batch_commits_and_leaves() -> None:
    bus = bus_of(100)
    stop = threading.Event()

    class Stopping(Adder):
        def process(self, messages: Sequence[Message]) -> Output:
            if len(self.seen) > 5:
                stop.set()
            return super().process(messages)

    stage = Stopping()
    worker = worker_of(stage, bus)
    worker.run(stop)
    assert numbers_sent(bus) == stage.seen
    assert bus.commits["index", Partition(topics.FINGERPRINTS, 0)] == len(stage.seen) < 100


def test_a_slow_stage_reads_no_more_than_it_is_at_work_on() -> None:
    """Ten arrive while one is processed: what waits, waits on the bus, and is shown as lag."""
    bus = bus_of(0)
    part = Partition(topics.FINGERPRINTS, 0)
    held: list[int] = []

    class Slow(Adder):
        def process(self, messages: Sequence[Message]) -> Output:
            held.append(len(messages))
            for _ in range(10 * len(messages)):
                bus.append(Outgoing(topics.FINGERPRINTS, "k", b"1"))
            return super().process(messages)

    bus.append(Outgoing(topics.FINGERPRINTS, "k", b"1"))
    meters = Meters("index", SCHEME.name)
    worker = worker_of(Slow(), bus, pace=Pace(commit_seconds=1e-9), meters=meters)
    for _ in range(20):
        worker.step(0)
    assert max(held) <= inlet_of(worker).limit
    waiting = meters.lag_records.labels("index", part.topic, "0")._value.get()
    assert waiting == len(bus.logs[part]) - inlet_of(worker).held[part] > 100
    worker.abandon()


def test_a_lag_that_does_not_move_is_trouble() -> None:
    bus = bus_of(3)
    worker = worker_of(Adder(), bus, pace=Pace(commit_seconds=1e-9))
    work_off(worker)
    assert worker.trouble() is None
    worker._lag = 7
    worker._moved_at = time.monotonic() - 301
    assert "7 messages waiting and none processed for 301 s" in (worker.trouble() or "")
    worker.abandon()


def test_a_broker_that_is_away_is_no_trouble_of_the_worker() -> None:
    """No restart mends it; where it is back, the worker has its time."""
    log = WorkerLog("index", "plain", lambda line: None)
    worker = worker_of(Adder(), bus_of(3), pace=Pace(commit_seconds=1e-9), news=log)
    work_off(worker)
    worker._lag = 7
    worker._moved_at = time.monotonic() - 1000
    log.away("no answer")
    assert worker.trouble() is None
    log.back()
    assert worker.trouble() is None
    log._back_at -= 301
    assert "none processed for 301 s" in (worker.trouble() or "")
    worker.abandon()


def test_nothing_is_committed_on_its_own_where_the_pace_says_never() -> None:
    bus = bus_of(5)
    worker = worker_of(Adder(), bus, pace=NEVER)
    work_off(worker)
    assert "commit" not in bus.did
    worker.close()
