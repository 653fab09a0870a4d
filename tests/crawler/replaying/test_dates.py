"""Dates that archives claim: who made one cannot turn a mirror round unless he is believed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

import pytest

from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.ahead import Range
from reusewatch.crawler.replaying.cursors import Cursors
from reusewatch.crawler.replaying.jobs import Archive, Job, Reader, job_of
from reusewatch.crawler.replaying.replay import Interrupted, run_replay
from reusewatch.crawler.replaying.sources import Source
from reusewatch.streams.records import Alert, DeadLetter, Page
from tests.crawler.archives import zoo
from tests.streams.stages import test_mirroring, test_reusing
from tests.streams.stages.test_mirroring import TEXTS

CRAWLED, CLAIMED = "2026-01-05T00:00:00Z", "1999-01-01T00:00:00Z"
BEGAN = datetime(2026, 1, 9, tzinfo=UTC)
VICTIM, THIEF = "http://author.example/", "http://mirror.example/"


def archive(path: Path, host: str, date: str) -> None:
    path.parent.mkdir()
    records = [
        zoo.response(f"{host}{at}.html", zoo.html(" ".join(text)), date=date)
        for at, text in enumerate(TEXTS)
    ]
    path.write_bytes(zoo.member_each(records))


def job(directory: Path, *trusted: Path) -> Job:
    """The victim's pages as they were crawled, and a stranger's archive of copies."""
    mine, stranger = directory / "crawls" / "mine.warc.gz", directory / "given" / "old.warc.gz"
    if not mine.exists():
        archive(mine, VICTIM, CRAWLED)
        archive(stranger, THIEF, CLAIMED)
    reader = Reader(
        zoo.SCHEME, Limits(), trust_dates=tuple(map(str, trusted)) or ("/",), began=BEGAN
    )
    return job_of(
        [str(mine), str(stranger)], [], None, reader=reader, settle_seconds=0, stop=Event()
    )


def pages_of(some: Job) -> list[Page]:
    events = (event for source in some.sources(lambda: None) for event in source.read(0))
    return [event.page for event in events if event.page is not None]


def called_copies(pages: list[Page]) -> set[str]:
    """The prefixes that are mirrors, or bad, by when their pages were first seen."""
    alerts = [*test_mirroring.alerts_of(pages), *test_reusing.alerts_of(pages)]
    # That is never more than information: who was seen first is not who wrote.
    assert {one.severity for one in alerts} == {"info"}
    return {
        str(one.prefix) for one in alerts
        if one.direction is not None and one.direction.original == "there"
    }  # fmt: skip


@pytest.mark.parametrize("turned", [False, True])
def test_dates_that_are_not_believed_accuse_nobody(tmp_path: Path, turned: bool) -> None:
    believed = pages_of(job(tmp_path))
    assert {one.fetched_at.year for one in believed} == {2026, 1999}
    # Who believes the thief hears that the victim is his mirror.
    assert called_copies(believed) == {VICTIM}
    pages = pages_of(job(tmp_path, tmp_path / "crawls"))
    assert {one.fetched_at for one in pages if one.host == "mirror.example"} == {BEGAN}
    assert called_copies(pages[::-1] if turned else pages) == {THIEF}


def test_ranges_that_processes_read_count_as_fetched_as_the_rest(tmp_path: Path) -> None:
    _, stranger = job(tmp_path, tmp_path / "crawls").archives
    assert isinstance(stranger, Archive)
    assert stranger.dated == BEGAN
    _, pages = Range(stranger.name, zoo.SCHEME, Limits(), 0, 0, 5, stranger.dated).read()
    assert [page.fetched_at for page in pages] == [BEGAN] * 5


def test_what_a_link_leads_out_to_is_not_believed(tmp_path: Path) -> None:
    job(tmp_path)
    linked = tmp_path / "crawls" / "linked.warc.gz"
    linked.symlink_to(tmp_path / "given" / "old.warc.gz")
    reader = Reader(zoo.SCHEME, Limits(), trust_dates=(str(tmp_path / "crawls"),), began=BEGAN)
    assert reader.dated(str(linked), BEGAN) == BEGAN


def test_a_revisit_of_one_refers_to_no_date(tmp_path: Path) -> None:
    fields = (f"WARC-Refers-To-Target-URI: {VICTIM}", f"WARC-Refers-To-Date: {CLAIMED}")
    data = zoo.record("revisit", THIEF, zoo.http(b""), *fields, date=CLAIMED)
    path = tmp_path / "x.warc.gz"
    path.write_bytes(zoo.member_each([data]))
    reader = Reader(zoo.SCHEME, Limits(), trust_dates=(), began=BEGAN)
    (page,) = pages_of(job_of([str(path)], [], None, reader=reader, settle_seconds=0, stop=Event()))
    assert page.revisit_of is not None
    assert (page.fetched_at, page.revisit_of.fetched_at) == (BEGAN, None)


def test_a_tree_whose_dates_are_not_believed(tmp_path: Path) -> None:
    (tmp_path / "x.html").write_bytes(zoo.html("a page"))
    reader = Reader(zoo.SCHEME, Limits(), trust_dates=(), began=BEGAN)
    tree = [f"{tmp_path}=http://author.example/"]
    (page,) = pages_of(job_of([], tree, None, reader=reader, settle_seconds=0, stop=Event()))
    assert page.fetched_at == BEGAN


class Kept:
    """Keeps pages, and has the replay stopped when it has so many."""

    alerts, lost, remark = None, 0, None

    def __init__(self, most: int, stop: Event) -> None:
        self.pages: list[Page] = []
        self.dead = Counter[str]()
        self._most, self._stop = most, stop

    def put(self, page: Page) -> None:
        self.pages.append(page)
        if len(self.pages) >= self._most:
            self._stop.set()

    def bury(self, letter: DeadLetter) -> None:
        raise AssertionError(letter)

    def report(self, alert: Alert) -> None:
        raise AssertionError(alert)

    def checkpoint(self) -> None:
        pass

    close = abandon = checkpoint


def replayed(some: Job, most: int, directory: Path) -> list[Page]:
    """What a process takes before it is stopped at so many pages."""
    stop = Event()
    sink = Kept(most, stop)
    try:
        run_replay(sink, some, Cursors(directory), stop=stop, checkpoint_seconds=1e9)
    except Interrupted:
        assert len(sink.pages) == most
    return sink.pages


def test_a_replay_that_goes_on_a_day_later_counts_its_pages_as_fetched_when_it_began(
    tmp_path: Path,
) -> None:
    first = job(tmp_path, tmp_path / "nowhere")
    later = first.going_on(BEGAN + timedelta(days=1))
    pages = replayed(first, 4, tmp_path) + replayed(later, 1000, tmp_path)
    assert len(pages) == 2 * len(TEXTS)
    assert {page.fetched_at for page in pages} == {BEGAN}
    # Run again from the begin it is another.
    assert {page.fetched_at for page in replayed(later, 5, tmp_path)} == {later.reader.began}


def test_an_archive_that_was_found_by_following_counts_as_fetched_then(tmp_path: Path) -> None:
    some = job(tmp_path, tmp_path / "nowhere")
    path = str(tmp_path / "given" / "old.warc.gz")
    source = Source(path, Path(path).stat().st_size)
    found = [Archive(source, some.reader, BEGAN + timedelta(days=day)) for day in (1, 2)]
    pages = [
        page for one in found
        for page in replayed(replace(some, archives=(one,)), 4, tmp_path)
    ]  # fmt: skip
    assert {page.fetched_at for page in pages} == {BEGAN + timedelta(days=1)}


def test_a_pipe_is_believed_where_everything_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for trusted, believed in (((str(tmp_path),), False), (("/data", "/"), True)):
        reader = Reader(zoo.SCHEME, Limits(), trust_dates=trusted, began=BEGAN)
        (piped,) = job_of(["-"], [], None, reader=reader, settle_seconds=0, stop=Event()).archives
        assert isinstance(piped, Archive)
        assert piped.dated == (None if believed else BEGAN)
