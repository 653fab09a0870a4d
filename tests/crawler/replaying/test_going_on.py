"""Where a replay stops, its cursor is behind all that is on the bus; what changed is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.cursors import DIRECTORY, Cursor, Cursors, Tally
from reusewatch.crawler.replaying.done import Done
from reusewatch.crawler.replaying.giving_up import LEAST
from reusewatch.crawler.replaying.jobs import Reader, job_of
from reusewatch.crawler.replaying.replay import Interrupted, run_replay
from reusewatch.streams.local import LocalBus
from tests.crawler.archives import zoo

RECORDS = [zoo.response(zoo.url(number), zoo.html(f"page {number} " * 9)) for number in range(9)]
TOGETHER = 4


class Ahead:
    """Has pages of a range on the bus before what was read is told, as processes bring them."""

    alerts, lost, remark, batch_pages, passed = None, 0, None, TOGETHER, 0

    def __init__(self, stop: Callable[[], None]) -> None:
        self.on_bus: list[str] = []
        self.dead = Counter[str]()
        self._stop = stop
        self.begun = 0

    def ahead(self, task: Any, following: Callable[[Any], Any]) -> Iterator[Any]:
        self.begun += 1
        while task is not None:
            told, pages = task.read()
            self.on_bus += [page.url for page in pages]
            self._stop()
            task = following(told)  # as processes do: it is read while these pages are judged
            yield told

    def put(self, page: Any) -> None:
        raise AssertionError(page)

    bury = report = put

    def checkpoint(self) -> None:
        pass

    close = abandon = checkpoint


class AheadOrNot(Ahead):
    """Takes pages of what cannot be read so, too."""

    def put(self, page: Any) -> None:
        self.on_bus.append(page.url)

    def bury(self, letter: Any) -> None:
        self.dead[letter.reason] += 1


@pytest.mark.parametrize(
    ("third", "begun"),
    [
        (zoo.member_each(RECORDS), 1),
        (zoo.one_member(RECORDS), 2),  # read by this process, and what follows begins anew
        (zoo.member_each([*RECORDS[:1], *[RECORDS[1][:40]] * 2 * LEAST]), 2),  # given up
    ],
)
def test_the_next_archive_is_read_behind_the_last_pages_of_one(
    third: bytes, begun: int, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{n}.warc.gz" for n in range(4)]
    for path, data in zip(paths, [zoo.member_each(RECORDS)] * 2 + [third] * 2, strict=True):
        path.write_bytes(data)
    paths[3].write_bytes(zoo.member_each(RECORDS))
    sink, stop = AheadOrNot(lambda: None), Event()
    reader = Reader(zoo.SCHEME, Limits(), dead_letter_limit=0.5)
    job = job_of([*map(str, paths)], [], None, reader=reader, settle_seconds=0, stop=stop)
    cursor = run_replay(sink, job, Cursors(tmp_path), stop=stop, checkpoint_seconds=1e9)
    urls = [page.page.url for path in paths for page in zoo.read_all(path) if page.page]
    assert cursor.done == [*map(str, paths)]
    assert [url for url in sink.on_bus if url in urls] == urls
    assert sink.begun == begun


def a_bus(directory: Path) -> LocalBus:
    """A local bus with nothing on it."""
    bus = LocalBus(directory / "bus")
    bus.outlet().close()
    return bus


def test_bytes_that_were_read_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    together = zoo.one_member(RECORDS[1:3])
    path.write_bytes(zoo.member_each(RECORDS[:1]) + together + zoo.member_each(RECORDS[3:]))
    sink, stop = AheadOrNot(lambda: None), Event()
    reader = Reader(zoo.SCHEME, Limits())
    job = job_of([str(path)], [], None, reader=reader, settle_seconds=0, stop=stop)
    cursor = run_replay(sink, job, Cursors(tmp_path), stop=stop, checkpoint_seconds=1e9)
    assert (cursor.tally.pages, cursor.tally.bytes) == (len(RECORDS), path.stat().st_size)


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_what_processes_brought_together_is_read_once(tmp_path: Path, seconds: float) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(zoo.member_each(RECORDS))
    on_bus, stops = [], 0
    for _ in RECORDS:
        stop = Event()
        sink = Ahead(stop.set)
        job = job_of(
            [str(path)], [], None, reader=Reader(zoo.SCHEME, Limits()), settle_seconds=0, stop=stop
        )
        try:
            run_replay(sink, job, Cursors(tmp_path), stop=stop, checkpoint_seconds=seconds)
            break
        except Interrupted:
            stops += 1
        finally:
            on_bus += sink.on_bus
    assert on_bus == [zoo.url(number) for number in range(len(RECORDS))]
    assert stops == -(-len(RECORDS) // TOGETHER)


@pytest.mark.parametrize("alone", [None, 0, 1])
def test_archives_are_known_as_done_however_often_the_replay_was_interrupted(
    tmp_path: Path, alone: int | None
) -> None:
    paths = [tmp_path / "x.warc.gz", tmp_path / "y.warc.gz"]
    for path in paths:
        path.write_bytes(zoo.member_each(RECORDS))
    bus = a_bus(tmp_path)

    def replay(*paths: Path) -> bool:
        """Whether it went to its end."""
        stop = Event()
        sink = Ahead(stop.set)
        job = job_of(
            [str(path) for path in paths], [], None, reader=Reader(zoo.SCHEME, Limits()),
            settle_seconds=0, stop=stop,
        )  # fmt: skip
        done = Done(tmp_path, bus, lambda: "now")
        try:
            run_replay(sink, job, Cursors(tmp_path), stop=stop, checkpoint_seconds=0, done=done)
        except Interrupted:
            return False
        return True

    stops = 1
    assert not replay(*paths), "within the first"
    if alone is not None:
        while not replay(paths[alone]):
            stops += 1
    while not replay(*paths):
        stops += 1
    assert stops >= len(paths)
    job = job_of(
        [str(path) for path in paths], [], None, reader=Reader(zoo.SCHEME, Limits()),
        settle_seconds=0, stop=Event(),
    )  # fmt: skip
    known = Done(tmp_path, bus, lambda: "now")
    found = [known.find(source) for source in job.sources(idle=lambda: None)]
    assert [tally and (tally.records, tally.pages) for tally in found] == [(9, 9), (9, 9)]
    bus.close()


def test_an_archive_that_grew_while_it_was_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(zoo.member_each(RECORDS[:5]))
    job = job_of(
        [str(path)], [], None, reader=Reader(zoo.SCHEME, Limits()), settle_seconds=0, stop=Event()
    )
    (source,) = job.sources(idle=lambda: None)
    bus = a_bus(tmp_path)
    for grows, known in ((True, None), (False, Tally(records=5))):
        done = Done(tmp_path, bus, lambda: "now")
        assert done.find(source) is None
        begun = done.begun(source, Tally(records=2))
        if grows:
            path.write_bytes(zoo.member_each(RECORDS))
        note = done.ended(source, begun, Tally(records=7))
        done.save({} if note is None else {source.name: note})
        assert Done(tmp_path, bus, lambda: "now").find(source) == known
    bus.close()


@pytest.mark.parametrize("at", range(0, 60, 7))
def test_notes_with_a_damaged_byte_are_read_as_none(tmp_path: Path, at: int) -> None:
    path = tmp_path / "x.warc.gz"
    path.write_bytes(zoo.member_each(RECORDS))
    job = job_of(
        [str(path)], [], None, reader=Reader(zoo.SCHEME, Limits()), settle_seconds=0, stop=Event()
    )
    (source,) = job.sources(idle=lambda: None)
    bus = a_bus(tmp_path)
    done = Done(tmp_path, bus, lambda: "now")
    done.find(source)
    note = done.ended(source, done.begun(source, Tally()), Tally(records=9))
    assert note is not None
    done.save({source.name: note})
    notes = tmp_path / DIRECTORY / "done.notes"
    data = bytearray(notes.read_bytes())
    data[at] ^= 0xFF
    notes.write_bytes(data)
    assert Done(tmp_path, bus, lambda: "now").find(source) is None
    bus.close()


def test_a_cursor_that_stands_outlasts_the_next_that_is_foreseen(tmp_path: Path) -> None:
    """Killed twice in a row, each time between the cursor and what it stands for."""
    bus = LocalBus(tmp_path)
    cursors = Cursors(tmp_path, marks=bus)
    outlet = bus.outlet()
    cursors.save("job", Cursor(offset=1))
    outlet.stands_for(*cursors.foresee("job", Cursor(offset=2)))
    outlet.flush()
    for _ in range(2):  # killed before it was saved; then before the next one stood
        found = cursors.load("job")
        assert found is not None
        assert found.offset == 2
        cursors.foresee("job", Cursor(offset=3))
    outlet.close()
    bus.close()
