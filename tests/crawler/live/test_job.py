"""A crawl with `--job` goes on however it ended: nothing is lost, and nothing is told twice."""

from __future__ import annotations

import os
import pickle
import sqlite3
from collections import Counter, deque
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest
from scrapy.http import Request
from scrapy.settings import BaseSettings
from scrapy.utils.test import get_crawler

from reusewatch.crawler.demo.live_truth import findings
from reusewatch.crawler.demo.local_web import GAZETTE, MIRROR, LocalWeb
from reusewatch.crawler.errors import JobError, SourceError
from reusewatch.crawler.live import running
from reusewatch.crawler.live.journal import FILE, Journal
from reusewatch.crawler.live.manners import Plan
from reusewatch.crawler.live.notes import packed, request_of, unpacked
from reusewatch.crawler.live.project import check
from reusewatch.crawler.live.resuming import Resuming, Seen
from reusewatch.crawler.live.running import run_crawl
from reusewatch.crawler.spiders.sites import Sites
from reusewatch.streams.local import LocalBus
from reusewatch.streams.settings import Settings, SettingsError
from reusewatch.streams.signals import Stop
from reusewatch.streams.verbs import topic_views
from tests.crawler.live.crawls import crawl_arguments, ended, run, started, until
from tests.crawler.live.test_feeder import Sink, end, feeder, response


def noted(directory: Path) -> tuple[set[bytes], list[str]]:
    """What a crawl that runs, or was killed, has seen, and the URLs that wait."""
    if not (directory / FILE).exists():
        return set(), []
    with closing(sqlite3.connect(directory / FILE)) as database:
        try:
            seen = {row[0] for row in database.execute("SELECT fingerprint FROM seen")}
            rows = database.execute("SELECT request FROM waiting").fetchall()
        except sqlite3.OperationalError:  # it has just begun
            return set(), []
    return seen, [unpacked(row[0]).url for row in rows]


def note(url: str) -> bytes:
    """A request as it is noted."""
    return packed(Request(url), None)


def test_killed_it_goes_on_and_nothing_is_lost_or_told_twice(tmp_path: Path) -> None:
    web, job = LocalWeb(), tmp_path / "job"
    there = {key for key in web.pages if key[0] in (GAZETTE, MIRROR)}
    (tmp_path / "reusewatch.toml").write_text("commit_seconds = 0.1\n")

    def done() -> int:
        seen, waiting = noted(job)
        return len(seen) - len(waiting)

    with web.served():
        urls = (web.url(GAZETTE), web.url(MIRROR))
        arguments = [*crawl_arguments("local:state", *urls), "--delay", "0.05", "--job", "job"]
        with started(arguments, tmp_path) as process:
            until(lambda: done() >= 10)
            process.kill()
            ended(process)
        assert there - web.asked.keys()
        _, waiting = noted(job)
        before = {key: times for key, times in web.asked.items() if web.url(*key) not in waiting}
        code, _, err = run([*arguments, "--delay", "0"], tmp_path)
    assert code == 0, err
    assert there <= web.asked.keys()
    assert {key: web.asked[key] for key in before} == before
    assert len(before) >= 10
    alerts = list(topic_views.alerts(LocalBus(tmp_path / "state")))
    assert Counter(kind for kind, _ in findings(alerts)) == Counter(alert.kind for alert in alerts)
    wanted = {one for one in web.wanted() if one[0] in ("duplicate", "mirror-host")}
    assert findings(alerts) == wanted


def test_what_was_committed_is_known_and_no_more(tmp_path: Path) -> None:
    if not (pid := os.fork()):
        journal = Journal(tmp_path)
        first = journal.add(b"1", note("http://h.example/1"))
        journal.add(None, note("http://h.example/2"))
        journal.commit()
        journal.add(b"3", note("http://h.example/3"))
        journal.done([first])
        os._exit(0)  # as killed
    assert os.waitpid(pid, 0)[1] == 0
    journal = Journal(tmp_path)
    assert list(journal.seen()) == [b"1"]
    assert [noted.url[-1] for _, noted in journal.waiting()] == ["1", "2"]
    journal.done([1])
    journal.close()
    journal = Journal(tmp_path)
    assert [number for number, _ in journal.waiting()] == [2]
    assert journal.add(b"1", note("http://h.example/1")) == 3
    journal.close()


@pytest.mark.parametrize(
    "damaged",
    [
        b"\x80", b"", b"no note", pickle.dumps({"url": "http://h.example/"}), None, 3, b"{}", b"[]",
        b'{"url": 3}', b'{"url": "no url"}', b'{"url": "http://h.example/", "more": 1}',
        b'{"url": "http://h.example/", "callback": "closed"}',
        b'{"url": "http://h.example/", "headers": {"a": ["\xe2\x82\xac"]}}',
        b'{"url": "http://h.example/", "encoding": "none"}',
    ],
)  # fmt: skip
def test_a_note_that_cannot_be_read_is_told_before_the_crawl_begins(
    tmp_path: Path, damaged: object
) -> None:
    Journal(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / FILE)) as database, database:
        database.execute("INSERT INTO waiting (request) VALUES (?)", (damaged,))
    for _ in range(2):  # the job is not held by who could not read it
        with pytest.raises(SourceError, match=r"request 1 cannot be read .* name another --job"):
            Journal(tmp_path)


def test_two_crawls_of_one_job_are_told(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    with pytest.raises(SourceError, match="another crawl"):
        Journal(tmp_path)
    first.close()
    Journal(tmp_path).close()


def test_between_two_commits_nobody_takes_the_job(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    first._database.execute("COMMIT")
    with pytest.raises(SourceError, match="another crawl"):
        Journal(tmp_path)
    first._database.execute("BEGIN IMMEDIATE")
    first.close()


def test_a_job_is_held_from_the_first_look_at_it_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begun_meanwhile(plan: Plan, **_: int) -> NoReturn:
        with pytest.raises(SourceError, match="another crawl"):
            Journal(tmp_path)
        raise NotImplementedError

    monkeypatch.setattr(running, "scrapy_settings", begun_meanwhile)
    with pytest.raises(NotImplementedError):
        run_crawl(Plan((), job=tmp_path), Settings(), {}, stop=Stop(), progress=len)
    Journal(tmp_path).close()


def test_a_second_crawl_removes_nothing_of_the_first(tmp_path: Path) -> None:
    first = Journal(tmp_path)
    queue = tmp_path / "requests.queue" / "0"
    queue.mkdir(parents=True)
    crawler = get_crawler(settings_dict={"JOBDIR": str(tmp_path), "DUPEFILTER_CLASS": Seen})
    with pytest.raises(SourceError, match="another crawl"):
        Resuming.from_crawler(crawler)
    assert queue.is_dir()
    first.close()


@pytest.mark.parametrize("left", ["requests.seen", "requests.queue"])
def test_what_is_no_journal_of_ours_is_not_begun_anew(tmp_path: Path, left: str) -> None:
    (tmp_path / left).mkdir()
    with pytest.raises(SourceError, match=f"{left}.* name another --job"):
        Journal(tmp_path)
    assert os.listdir(tmp_path) == [left]


@pytest.mark.parametrize("when", ["INSERT", "DELETE"])
def test_notes_that_cannot_be_written_end_the_crawl(tmp_path: Path, when: str) -> None:
    web, job = LocalWeb(), tmp_path / "job"
    Journal(job).close()
    with closing(sqlite3.connect(job / FILE)) as database:
        which = "WHEN (SELECT count(*) FROM waiting) > 1" if when == "INSERT" else ""
        database.execute(
            f"CREATE TRIGGER no BEFORE {when} ON waiting {which} "
            "BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )
        database.commit()
    with web.served():
        arguments = [*crawl_arguments("local:state", web.url(GAZETTE)), "--job", "job"]
        code, _, err = run(arguments, tmp_path)
    assert code == 1, err
    assert "--job job: no room" in err.splitlines()[-1]
    # Nothing is done: the next crawl asks for all of it.
    seen, waiting = noted(job)
    assert len(seen) <= len(waiting)


def test_what_fails_leaves_the_job_to_others(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal._database.execute("PRAGMA max_page_count = 8")
    with pytest.raises(JobError, match="full"):
        journal.add(None, note("http://h.example/" + "x" * 99_999))
    journal.abandon()
    journal.abandon()
    Journal(tmp_path).close()


def test_what_can_never_be_done_is_not_put_by() -> None:
    sink, crawl = Sink(), Resuming.__new__(Resuming)
    sink.gate.set()
    fed = feeder(lambda: sink, checkpoint_seconds=0.01)
    crawl._handed, crawl._through = {}, deque()
    for _ in range(3):
        crawl._put_by(fed, set())
    assert not crawl._through, "nothing has come"
    crawl._handed = {Request("http://a.example/1"): 1}
    crawl._put_by(fed, set())
    assert list(crawl._through) == [(0, [1])]
    sink.lost = 1  # and the crawl goes on
    fed.offer(response(2))
    until(lambda: fed.waiting() == 0)
    crawl._handed = {Request("http://a.example/2"): 2}
    crawl._put_by(fed, set())
    assert list(crawl._through) == [(0, [1])]
    assert not crawl._handed
    end(fed)


def test_a_directory_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "job").write_text("")
    with pytest.raises(SourceError, match="--job"):
        Journal(tmp_path / "job")


def test_what_is_noted_is_the_request(tmp_path: Path) -> None:
    made = Request(
        "http://h.example/?a=%20", headers={"A": ["b", "\xe9"]}, body=b"\xff", method="POST",
        meta={"depth": 2}, cookies={"c": "d"}, priority=-3, flags=["f"], cb_kwargs={"site": "h"},
    )  # fmt: skip
    again = request_of(unpacked(packed(made, None)), Sites((), depth=None, other_sites=False))
    assert again.to_dict() == made.to_dict()


def test_a_job_that_cannot_be_opened_ends_the_crawl(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "job")
    journal.add(None, note("http://127.0.0.1:9/"))
    journal.close()
    (tmp_path / "job" / "requests.queue").touch()
    arguments = [*crawl_arguments("local:state", "http://127.0.0.1:9/"), "--job", "job"]
    code, _, err = run(arguments, tmp_path)
    assert code == 2, err
    assert "requests.queue" in err.splitlines()[-1]


@pytest.mark.parametrize("mode", [0o770, 0o777])
def test_a_job_that_others_may_write_is_refused(tmp_path: Path, mode: int) -> None:
    job = tmp_path / "job"
    Journal(job).close()
    job.chmod(mode)
    with pytest.raises(SourceError, match=r"can be written by other users .* name another --job"):
        Journal(job)
    job.chmod(0o755)
    Journal(job).close()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
@pytest.mark.parametrize("whose", [".", FILE, "spider.state"])
def test_a_job_of_somebody_else_is_refused(tmp_path: Path, whose: str) -> None:
    job = tmp_path / "job"
    Journal(job).close()
    (job / "spider.state").touch()
    os.chown(job / whose, 65534, 65534)
    with pytest.raises(SourceError, match="belongs to another user"):
        Journal(job)


def test_a_project_with_the_jobdir_of_others_is_refused(tmp_path: Path) -> None:
    job = tmp_path / "job"
    check(BaseSettings({"JOBDIR": str(job)}))
    job.mkdir(mode=0o700)
    check(BaseSettings({"JOBDIR": str(job)}))
    (job / "requests.queue").touch()
    (job / "requests.queue").chmod(0o666)
    with pytest.raises(SettingsError, match=r"JOBDIR: .*requests.queue can be written by other"):
        check(BaseSettings({"JOBDIR": str(job)}))
