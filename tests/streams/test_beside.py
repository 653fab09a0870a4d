"""Rows of a local bus that a thread writes beside who sends: none is lost, and trouble is told."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing, Parted
from reusewatch.streams.local import LocalBus, LocalOutlet
from reusewatch.streams.stages.snapshot import Snapshots, State
from tests.pages import SCHEME
from tests.streams.running.test_sinks import sink_in
from tests.streams.stages.test_near_order import page
from tests.streams.test_generation import FINGERPRINTS, filled, without_database


def nothing() -> None:
    """What comes then."""


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[LocalBus]:
    found = LocalBus(tmp_path)
    found.write_beside()
    yield found
    found.close()


def hold(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Rows are written once the returned is called."""
    held, write = Event(), LocalOutlet._write_rows

    def once_let(self: LocalOutlet, sent: object) -> None:
        if sent.rows:  # type: ignore[attr-defined]
            held.wait()
        write(self, sent)  # type: ignore[arg-type]

    monkeypatch.setattr(LocalOutlet, "_write_rows", once_let)
    return held.set


def values(directory: Path, topic: str = topics.ALERTS) -> dict[str, bytes | None]:
    return {one.key: one.value for one in LocalBus(directory).read(topic)}


def test_all_is_on_disk_before_what_comes_then(tmp_path: Path, bus: LocalBus) -> None:
    outlet = bus.outlet()
    seen: list[int] = []
    for number in range(300):
        outlet.send(Outgoing(topics.ALERTS, str(number), b"{}"))
    outlet.flush_then(lambda: seen.append(len(values(tmp_path))))
    outlet.flush()
    assert seen == [300]
    outlet.close()


def test_what_is_sent_meanwhile_is_of_the_next_flush(
    tmp_path: Path, bus: LocalBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    let = hold(monkeypatch)
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.ALERTS, "a", b"1"))
    outlet.send(Outgoing(topics.ALERTS, "b", b"1"))
    outlet.flush_then(nothing)
    outlet.send(Outgoing(topics.ALERTS, "a", b"2"))
    assert values(tmp_path) == {}
    let()
    outlet.flush()
    assert values(tmp_path) == {"a": b"2", "b": b"1"}
    outlet.close()


def test_trouble_is_told_by_each_flush_and_nothing_comes_then(
    tmp_path: Path, bus: LocalBus
) -> None:
    filled(tmp_path)
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.ALERTS, "lost", b"{}"))
    without_database(tmp_path)
    then: list[None] = []
    outlet.flush_then(lambda: then.append(None))
    for _ in range(2):
        with pytest.raises(Parted, match="removed or replaced"):
            outlet.flush()
    with pytest.raises(Parted):
        outlet.close()
    assert not then


def test_labels_count_at_once(tmp_path: Path, bus: LocalBus) -> None:
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.LABELS, "a", b"{}"))
    outlet.flush_then(nothing)
    assert values(tmp_path, topics.LABELS) == {"a": b"{}"}
    outlet.close()


def test_what_was_not_written_when_it_was_killed_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let, directory, killed = hold(monkeypatch), tmp_path / "bus", tmp_path / "killed"
    sink = sink_in(directory, workers=2)
    try:
        for number, text in enumerate((0, 1, 2)):
            sink.put(page(number, number, text))
        sink.checkpoint_at(lambda: ("job", 7))
        shutil.copytree(directory, killed, ignore=shutil.ignore_patterns("lock", "processes"))
    finally:
        let()
    sink.close()
    assert values(killed, topics.VERDICTS) == {}
    assert LocalBus(killed).cursor_of("job") == 7
    sink_in(killed).close()
    found = values(directory, topics.VERDICTS)
    assert len(found) == 3
    assert values(killed, topics.VERDICTS).keys() == found.keys()
    assert values(killed).keys() == values(directory).keys()


def test_a_snapshot_has_a_name_once_all_is_flushed_and_says_so(tmp_path: Path) -> None:
    bus = filled(tmp_path / "bus")
    kept = Snapshots(tmp_path / "kept", "index", SCHEME, bus)
    shutil.copytree(tmp_path / "bus", tmp_path / "before")

    def flush() -> None:
        assert not kept.paths()
        filled(tmp_path / "bus", 41)

    kept.save(State({"numbers": np.arange(5)}, {"a": 1}), {FINGERPRINTS: 1}, flush)
    state = kept.load().state
    assert state is not None
    assert state.arrays["numbers"].tolist() == [0, 1, 2, 3, 4]
    before = LocalBus(tmp_path / "before")
    with pytest.raises(Parted, match="older than"):
        Snapshots(tmp_path / "kept", "index", SCHEME, before).load()


def test_a_snapshot_without_a_flush_has_no_name(tmp_path: Path) -> None:
    kept = Snapshots(tmp_path / "kept", "index", SCHEME)

    def flush() -> None:
        raise Parted("gone")

    with pytest.raises(Parted):
        kept.save(State({"numbers": np.arange(5)}), {FINGERPRINTS: 1}, flush)
    assert list((tmp_path / "kept").iterdir()) == []
