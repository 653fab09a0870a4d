"""What a worker says: a line when its state changes, none in between."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from kafka.errors import KafkaConnectionError

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing, Partition
from reusewatch.streams.kafka.patience import Patience
from reusewatch.streams.running.news import WorkerLog
from reusewatch.streams.running.worker import Pace
from tests.streams.memory_bus import MemoryBus
from tests.streams.running.test_worker import Adder, bus_of
from tests.streams.stages.making import inlet_of, work_off, worker_of

AT = datetime(2026, 11, 1, 12, 0, 0, 500_000, UTC)
SHARE = [Partition(topics.FINGERPRINTS, 0)]


def json_log(lines: list[str]) -> WorkerLog:
    return WorkerLog("index", "json", lines.append, now=lambda: AT)


def events(lines: list[str]) -> list[str]:
    return [json.loads(line)["event"] for line in lines]


def test_a_line_a_change_and_quiet_in_between(tmp_path: Path) -> None:
    bus, lines = bus_of(6), list[str]()
    worker = worker_of(Adder(), bus, snapshots=tmp_path, news=json_log(lines))
    work_off(worker)
    begun = ["took-over", "recovered"]
    assert events(lines) == begun
    for _ in range(50):
        bus.append(Outgoing(topics.FINGERPRINTS, "k", b"1"))
        worker.step(0)
        worker.commit(snapshot=False)
    assert events(lines) == begun
    inlet_of(worker).lose(SHARE)
    worker.step(0)
    worker.step(0)
    assert events(lines) == [*begun, "revoked", "standing-by"]
    inlet_of(worker).to_come.append(SHARE)
    work_off(worker)
    worker.commit(snapshot=True)
    worker.abandon()
    assert events(lines)[4:] == ["took-over", "recovered", "snapshot"]
    again = json.loads(lines[5])
    assert again["read_again"] == 56
    assert json.loads(lines[0])["partitions"] == ["fingerprints/0"]


def test_it_says_why_it_stops(tmp_path: Path) -> None:
    lines: list[str] = []
    worker = worker_of(Adder(), bus_of(3), snapshots=tmp_path, news=json_log(lines))
    stop = threading.Event()
    stop.set()
    worker.run(stop, lambda: "SIGTERM")
    assert json.loads(lines[0]) == {
        "at": "2026-11-01T12:00:00.500Z", "level": "info", "stage": "index", "event": "stopping",
        "text": "stopping: SIGTERM", "why": "SIGTERM",
    }  # fmt: skip


def test_a_snapshot_that_is_due_is_said_with_its_size(tmp_path: Path) -> None:
    bus, lines = bus_of(2), list[str]()
    pace = Pace(commit_seconds=1e-9, snapshot_seconds=1e-9)
    worker = worker_of(Adder(), bus, snapshots=tmp_path, pace=pace, news=json_log(lines))
    work_off(worker)
    worker.abandon()
    assert [json.loads(line)["rows"] for line in lines if "snapshot of" in line][-1] == 2


def test_lines_for_people_have_time_level_and_stage_and_hold_no_second_line() -> None:
    lines: list[str] = []
    log = WorkerLog("fingerprint", "plain", lines.append, now=lambda: AT)
    log.trouble("bad\n2026-11-01T12:00:00.500Z info index: all is well")
    assert lines == [
        "2026-11-01T12:00:00.500Z warning fingerprint: "
        "bad 2026-11-01T12:00:00.500Z info index: all is well"
    ]


def test_json_has_nothing_that_a_terminal_obeys() -> None:
    lines: list[str] = []
    json_log(lines).trouble("\x1b]0;x\x07 \x9b31m \u202e \U000e0001")
    assert lines[0].isascii()
    assert lines[0].isprintable()
    assert json.loads(lines[0])["text"] == "\x1b]0;x\x07 \x9b31m \u202e \U000e0001"


@pytest.mark.parametrize("others", [1, 3])
def test_a_broker_is_away_once_and_back_once(others: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many of a process wait for it, and however often they say so."""
    lines: list[str] = []
    log = json_log(lines)
    waiting = [Patience(away_to=log.away, back_to=log.back) for _ in range(others)]
    for seconds in (3.0, 6.0, 60.0):
        for one in waiting:
            monkeypatch.setattr(one, "_reported_at", float("-inf"))
            one.waiting(seconds, "reading")
    tries = iter([KafkaConnectionError("no"), None])

    def attempt() -> None:
        if (error := next(tries, None)) is not None:
            raise error

    for one in waiting:
        one.retry(attempt, "reading", lambda: 6.0)
    assert events(lines) == ["broker-away", "broker-back"]
    assert "waiting for the broker for 6 s" in json.loads(lines[0])["text"]


def test_a_bus_that_never_failed_says_nothing() -> None:
    lines: list[str] = []
    log = json_log(lines)
    Patience(away_to=log.away, back_to=log.back).retry(lambda: None, "reading")
    assert lines == []


def test_a_member_that_waits_for_its_share_is_not_said_to_stand_by(tmp_path: Path) -> None:
    bus, lines = MemoryBus({topics.FINGERPRINTS: 1}), list[str]()
    worker = worker_of(Adder(), bus, snapshots=tmp_path, news=json_log(lines))
    inlet = inlet_of(worker)
    inlet.to_come.clear()
    inlet.member = False
    worker.step(0)
    assert lines == []
    inlet.member = True
    worker.step(0)
    worker.abandon()
    assert events(lines) == ["standing-by"]
