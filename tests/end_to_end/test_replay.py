"""`reusewatch replay` on a local bus: what is found, interrupted, gone on with, and found once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.command import COMMAND, PATIENCE, environment
from tests.crawler.archives import zoo
from tests.end_to_end.conftest import DAMAGED, Crawl
from tests.end_to_end.runs import Run, run, started, state_in, wait_until
from tests.pages import Fetch, copies
from tests.streams.stages.test_near_order import page

# How a record of these archives begins.
MEMBER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
# Checkpoints close to each other, so that there is always one before the end.
OFTEN = {"commit_seconds": 0.05, "batch_pages": 8}


def replayed(crawl: Crawl, directory: Path, *more: object, **settings: object) -> None:
    done = run("replay", crawl.archive, "--bus", "local:s", *more, cwd=directory, **settings)
    assert done.code == 1, done.err  # two records are damaged


def before_damage(crawl: Crawl) -> list[Fetch]:
    """The fetches before the first damage of the archive, without revisits of what is behind it."""
    data = crawl.archive.read_bytes()
    count = data[: data.index(b"this is no record")].count(MEMBER)
    found = crawl.fetches[:count]
    stored = {(fetch.page, fetch.at) for fetch in found}
    return [fetch for fetch in found if fetch.of is None or fetch.of in stored]


def test_the_copies_are_found_and_nothing_else(crawl: Crawl, tmp_path: Path) -> None:
    # What stands behind damage, as far as a damaged record can reach, is judged, and is neither a
    # copy nor an original for sure: in an archive as small as this one, all the rest of it.
    assert len(crawl.ids) > 10
    assert crawl.ids == copies(before_damage(crawl))
    assert {url for _, _, _, url in crawl.wanted.dead} == {None}
    assert len(crawl.wanted.dead) == DAMAGED
    answered = {fetch.url for fetch in crawl.fetches}
    assert set(crawl.wanted.verdicts) == answered
    replayed(crawl, tmp_path, "--workers", 2)
    shown = run("alerts", "--json", "--bus", "local:s", cwd=tmp_path)
    assert {alert["id"] for alert in shown.objects} == crawl.ids
    assert state_in(tmp_path / "s") == crawl.wanted


def test_nothing_is_written_where_standard_output_was_closed(crawl: Crawl, tmp_path: Path) -> None:
    replay = (*COMMAND, "replay", str(crawl.archive), "--bus", "local:s", "--json")
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *replay],
        cwd=tmp_path, env=environment(), timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert closed.returncode == 1  # two records are damaged
    assert state_in(tmp_path / "s") == crawl.wanted


def test_replayed_again_it_finds_nothing_new(crawl: Crawl, tmp_path: Path) -> None:
    replayed(crawl, tmp_path)
    before = run("alerts", "--json", "--bus", "local:s", cwd=tmp_path).out
    again = run("replay", crawl.archive, "--bus", "local:s", "--json", cwd=tmp_path)
    assert again.objects[0]["alerts"] == 0
    # Not only the same ids: no alert was sent again.
    assert run("alerts", "--json", "--bus", "local:s", cwd=tmp_path).out == before
    assert state_in(tmp_path / "s") == crawl.wanted


def test_what_settles_at_the_end_is_written_as_it_has_settled_only(tmp_path: Path) -> None:
    near = [page(number, number, text) for number, text in enumerate([0, 1, 10, 11])]
    records = [zoo.response(one.url, zoo.html(one.body.decode())) for one in near]
    (tmp_path / "x.warc.gz").write_bytes(zoo.member_each(records))
    done = run("replay", "x.warc.gz", "--bus", "local:s", cwd=tmp_path, commit_seconds=1000)
    assert done.code == 0, done.err
    shown = run("verdicts", "--json", "--bus", "local:s", cwd=tmp_path).objects
    assert sum(one["near_duplicate"] is not None for one in shown) == 2
    with closing(sqlite3.connect(tmp_path / "s" / "bus.sqlite")) as database:
        written = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'verdicts'")
        assert written.fetchone() == (len(near),)


def cursors(directory: Path) -> list[Path]:
    return list((directory / "s" / "replays").glob("*.json"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", [1, 2])
def test_interrupted_it_goes_on_and_ends_the_same(
    crawl: Crawl, tmp_path: Path, number: signal.Signals, workers: int
) -> None:
    args = ("replay", crawl.archive, "--bus", "local:s", "--workers", workers, "--json")
    with started(*args, cwd=tmp_path, **OFTEN) as first:
        wait_until(lambda: cursors(tmp_path) or not first.running)
        first.tell(number)
        ended = first.end()
    assert ended.code == 130, ended.err
    assert "run it again to go on" in ended.err
    assert ended.out == ""
    part = state_in(tmp_path / "s")
    assert 0 < len(part.verdicts) < len(crawl.wanted.verdicts)
    again = run(*args, cwd=tmp_path, **OFTEN)
    assert "going on after" in again.err
    assert again.code == 1
    summary = again.objects[0]
    assert summary["pages"] == len(crawl.fetches)
    assert summary["damaged"] == DAMAGED
    assert state_in(tmp_path / "s") == crawl.wanted
    assert not cursors(tmp_path)


def test_restart_begins_again(crawl: Crawl, tmp_path: Path) -> None:
    args = ("replay", crawl.archive, "--bus", "local:s", "--json")
    with started(*args, cwd=tmp_path, **OFTEN) as first:
        wait_until(lambda: cursors(tmp_path) or not first.running)
        first.tell(signal.SIGINT)
        assert first.end().code == 130
    again = run(*args, "--restart", cwd=tmp_path)
    assert "going on" not in again.err
    assert again.objects[0]["pages"] == len(crawl.fetches)
    assert state_in(tmp_path / "s") == crawl.wanted


def test_alerts_are_read_while_a_replay_runs_and_a_second_replay_is_refused(
    crawl: Crawl, tmp_path: Path
) -> None:
    args = ("replay", crawl.archive, "--bus", "local:s")
    with started(*args, cwd=tmp_path, **OFTEN) as first:
        wait_until(lambda: cursors(tmp_path) or not first.running)
        first.tell(signal.SIGSTOP)  # in the middle of whatever it does
        try:
            shown = run("alerts", "--json", "--bus", "local:s", cwd=tmp_path)
            assert shown.code == 0, shown.err
            assert {alert["id"] for alert in shown.objects} <= crawl.ids | withdrawn(crawl)
            refused = run(*args, cwd=tmp_path)
            assert refused.code == 3
            assert f"in use by process {first.process.pid}" in refused.err
        finally:
            first.tell(signal.SIGCONT)
        read_all_along(first, tmp_path)
        assert first.end().code == 1
    assert state_in(tmp_path / "s") == crawl.wanted


def withdrawn(crawl: Crawl) -> set[str]:
    """Alerts that stand for a while: of pages of which an earlier sighting comes later."""
    found: set[str] = set()
    for at in range(0, len(crawl.fetches), 50):
        found |= copies(crawl.fetches[:at])
    return found


def read_all_along(replay: Run, directory: Path) -> None:
    """Every reading sees each alert once."""
    from reusewatch.streams.local import LocalBus
    from reusewatch.streams.verbs import topic_views

    while replay.running:
        ids = [alert.id for alert in topic_views.alerts(LocalBus(directory / "s"))]
        assert len(ids) == len(set(ids))


def test_a_second_interrupt_does_not_wait_for_a_source_that_says_nothing(tmp_path: Path) -> None:
    silent, nobody = os.pipe()
    try:
        with started("replay", "-", "--bus", "local:s", cwd=tmp_path, stdin=silent) as replay:
            wait_until((tmp_path / "s" / "bus.sqlite").exists)
            for _ in range(2):
                # It may have ended at the first.
                wait_until(lambda: not replay.running or is_asleep(replay.process.pid))
                replay.tell(signal.SIGINT)
            assert replay.end().code == 130
    finally:
        os.close(silent)
        os.close(nobody)


def is_asleep(pid: int) -> bool:
    """Whether a process waits, with no signal left to be heard."""
    status = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return status["State"].startswith("S") and int(status["ShdPnd"], 16) == 0
