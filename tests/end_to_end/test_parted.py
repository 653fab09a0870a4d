"""A local bus that lost a part is never a bus on which nothing is found."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from tests.command import Done
from tests.end_to_end.conftest import Crawl
from tests.end_to_end.runs import run, started, state_in, wait_until

OFTEN = {"commit_seconds": 0.05, "batch_pages": 8}


def replay(crawl: Crawl, directory: Path, *more: object) -> Done:
    return run("replay", crawl.archive, "--bus", "local:s", *more, cwd=directory)


def without_database(directory: Path) -> None:
    for path in (directory / "s").glob("bus.sqlite*"):
        path.unlink()


def begins_anew(crawl: Crawl, directory: Path) -> None:
    """`--restart` finds all there is to be found, and the bus is whole again."""
    done = replay(crawl, directory, "--restart", "--allow-damaged")
    assert done.code == 0, done.err
    assert "set-aside-1" in done.err
    assert state_in(directory / "s") == crawl.wanted
    again = replay(crawl, directory, "--restart", "--allow-damaged")
    assert again.code == 0
    assert "set-aside" not in again.err


def test_a_database_that_is_gone_ends_the_next_run(crawl: Crawl, tmp_path: Path) -> None:
    replay(crawl, tmp_path)
    without_database(tmp_path)
    for command in (("replay", crawl.archive), ("alerts",)):
        done = run(*command, "--bus", "local:s", cwd=tmp_path)
        assert done.code == 1, done.err
        assert "bus.sqlite is gone" in done.err
        assert "--restart" in done.err
        assert "Traceback" not in done.err
    begins_anew(crawl, tmp_path)


def test_a_database_that_is_taken_away_ends_the_run(crawl: Crawl, tmp_path: Path) -> None:
    cursors = tmp_path / "s" / "replays"
    with started("replay", crawl.archive, "--bus", "local:s", cwd=tmp_path, **OFTEN) as first:
        wait_until(lambda: list(cursors.glob("*.json")) or not first.running)
        without_database(tmp_path)
        done = first.end()
    assert done.code == 1, done.err
    assert "--restart" in done.err
    assert "Traceback" not in done.err
    begins_anew(crawl, tmp_path)


@pytest.mark.parametrize("part", ["fingerprints", "snapshots"])
def test_another_part_that_is_gone_loses_nothing(crawl: Crawl, tmp_path: Path, part: str) -> None:
    replay(crawl, tmp_path)
    shutil.rmtree(tmp_path / "s" / part)
    done = replay(crawl, tmp_path, "--allow-damaged")
    assert done.code in (0, 1)
    if done.code:
        assert "--restart" in done.err
        begins_anew(crawl, tmp_path)
    assert state_in(tmp_path / "s") == crawl.wanted


def test_a_damaged_database_is_said_at_the_start(crawl: Crawl, tmp_path: Path) -> None:
    replay(crawl, tmp_path)
    database = tmp_path / "s" / "bus.sqlite"
    with database.open("r+b") as file:
        file.seek(database.stat().st_size // 8192 * 4096)
        file.write(Random(2).randbytes(4096))
    done = replay(crawl, tmp_path)
    assert done.code == 1, done.err
    assert "is damaged" in done.err
    assert "--restart" in done.err
    assert "Traceback" not in done.err
    begins_anew(crawl, tmp_path)
