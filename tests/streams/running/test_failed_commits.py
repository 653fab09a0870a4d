"""A commit that fails, and whoever tidies up behind it: nothing stands for pages that are not safe.

The faults are real: the database is locked by another connection, and the system refuses to write
beyond a size. Each ends before anything is released, as a disk does that has room again.
"""

from __future__ import annotations

import resource
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Event

import pytest

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, BusError, Outgoing, Unreachable
from reusewatch.streams.local import DATABASE, LocalBus, database
from reusewatch.streams.records import UNDATED, DeadLetter, Page
from reusewatch.streams.segments import bases
from reusewatch.streams.wire import dead_letter_message
from tests.end_to_end.runs import state_in
from tests.pages import Fetch, page_of
from tests.streams.running.test_sinks import sink_in
from tests.streams.running.test_spool_judge import (
    PAGES,
    fingerprinted,
    judge_in,
    judged_in,
    verdicts_in,
    write,
)

LETTER = DeadLetter(reason="empty-file", source="x", offset=0, url=None, detail="", at=UNDATED)
Fault = Callable[[Path], AbstractContextManager[None]]


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Another connection writes."""
    other = sqlite3.connect(directory / DATABASE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


@contextmanager
def cut_off(directory: Path) -> Iterator[None]:
    """No file of this process grows beyond what the database has written by now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (directory / f"{DATABASE}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture(params=[locked, cut_off])
def fault(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Fault:
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.01)
    found: Fault = request.param
    return found


def pages(count: int, first: int = 0) -> Sequence[Page]:
    return [page_of(Fetch(n, n % 5, n, n % 7)) for n in range(first, first + count)]


@pytest.mark.parametrize("workers", [1, 2])
def test_no_cursor_stands_for_pages_whose_commit_failed(
    tmp_path: Path, fault: Fault, workers: int
) -> None:
    sink = sink_in(tmp_path, workers=workers, batch_pages=4)
    for page in pages(8):
        sink.put(page)
    sink.checkpoint_at(lambda: ("job", 1))
    for page in pages(8, first=8):
        sink.put(page)
    with fault(tmp_path), pytest.raises(Unreachable):
        sink.checkpoint_at(lambda: ("job", 2))
    sink.abandon()
    assert LocalBus(tmp_path).cursor_of("job") == 1
    sink = sink_in(tmp_path, workers=workers, batch_pages=4)
    assert fingerprinted(tmp_path) == 8
    for page in pages(8, first=8):
        sink.put(page)
    sink.close()
    assert fingerprinted(tmp_path) == 16
    assert len(verdicts_in(tmp_path)) == 16


@pytest.mark.parametrize("workers", [1, 2])
def test_no_position_of_a_spool_stands_for_pages_whose_commit_failed(
    tmp_path: Path, fault: Fault, workers: int
) -> None:
    bus, whole = tmp_path / "bus", tmp_path / "whole"
    for directory in (bus, whole):
        for part in range(2):
            write(directory, PAGES[part::2]).close()
    judged_in(whole)
    judge = judge_in(bus, workers=workers)
    with fault(bus), pytest.raises(Unreachable):
        judge.run(Event())
    judge.abandon()
    assert len(judged_in(bus)) == len(PAGES)
    assert state_in(bus).alerts.keys() == state_in(whole).alerts.keys()
    assert fingerprinted(bus) == len(PAGES)


def test_after_a_failed_flush_an_outlet_takes_nothing_more(tmp_path: Path, fault: Fault) -> None:
    outlet = LocalBus(tmp_path).outlet()
    outlet.remember("spool", 3)
    outlet.send(Outgoing(topics.FINGERPRINTS, "a", b"block"))
    with fault(tmp_path), pytest.raises(Unreachable):
        outlet.flush()
    acts: list[Callable[[], object]] = [
        outlet.flush,
        lambda: outlet.flush_then(lambda: None),
        lambda: outlet.send(Outgoing(topics.ALERTS, "a", b"{}")),
        lambda: outlet.remember("spool", 4),
        lambda: outlet.stands_for("job", 1),
        outlet.close,
    ]
    for act in acts:
        with pytest.raises(BusError):
            act()
    outlet = LocalBus(tmp_path).outlet()
    assert outlet.judged() == {}
    assert outlet.log(topics.FINGERPRINTS).end == 0
    outlet.close()


def test_what_could_not_be_appended_is_not_stood_for(tmp_path: Path) -> None:
    outlet = LocalBus(tmp_path).outlet()
    outlet.remember("spool", 3)
    large = Outgoing(topics.FINGERPRINTS, "a", bytes(1 << 20))
    with cut_off(tmp_path), pytest.raises(Unreachable):
        outlet.send(large)
    with pytest.raises(Unreachable):
        outlet.flush()
    outlet.abandon()
    outlet = LocalBus(tmp_path).outlet()
    assert outlet.judged() == {}
    outlet.close()


def test_an_abandoned_outlet_keeps_its_dead_letters_and_nothing_that_stands_for_pages(
    tmp_path: Path,
) -> None:
    outlet = LocalBus(tmp_path).outlet()
    outlet.stands_for("job", 1)
    outlet.remember("spool", 3)
    outlet.send(Outgoing(topics.FINGERPRINTS, "a", b"block"))
    outlet.send(dead_letter_message(LETTER), Outgoing(topics.ALERTS, "a", b"{}"))
    outlet.abandon()
    outlet.abandon()
    bus = LocalBus(tmp_path)
    assert bus.cursor_of("job") is None
    assert list(bus.read(topics.ALERTS)) == []
    assert len(list(bus.read(topics.DEAD_LETTERS))) == 1
    outlet = bus.outlet()
    assert outlet.judged() == {}
    assert outlet.log(topics.FINGERPRINTS).end == 0
    outlet.close()


def test_a_log_that_lacks_what_was_flushed_is_refused(tmp_path: Path) -> None:
    outlet = LocalBus(tmp_path).outlet()
    outlet.send(Outgoing(topics.FINGERPRINTS, "a", b"block"))
    outlet.close()
    [base] = bases(tmp_path / topics.FINGERPRINTS)
    (tmp_path / topics.FINGERPRINTS / f"{base:020d}.log").write_bytes(b"")
    outlet = LocalBus(tmp_path).outlet()
    for _ in range(2):
        with pytest.raises(BusBroken, match="pages are missing"):
            outlet.log(topics.FINGERPRINTS)
    outlet.close()
