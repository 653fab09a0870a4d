"""A disk that is full, at whatever write: said clearly, nothing lost, and gone on with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from reusewatch.streams import topics
from tests.command import Done
from tests.end_to_end.conftest import Crawl
from tests.end_to_end.runs import run, state_in, wait_until
from tests.end_to_end.test_kafka import check
from tests.end_to_end.test_labels import build
from tests.end_to_end.workers import cluster_at, is_ready, stop

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="a disk of a chosen size needs root: sudo .venv/bin/python -m pytest"
)
SIZES = (16, 96, 160, 256, 400, 640, 1000, 1600, 3000)


@dataclass(frozen=True)
class Disk:
    """A disk of a chosen size."""

    at: Path

    def resize(self, kilobytes: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={kilobytes}k", self.at], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    at = tmp_path / "disk"
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", at], check=True)
    try:
        yield Disk(at)
    finally:
        # A process that has just ended may still have a file there.
        subprocess.run(["umount", "--lazy", at], check=True)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_replay_stops_and_goes_on_with_more_room(
    crawl: Crawl, tmp_path: Path, disk: Disk, workers: int
) -> None:
    often = {"commit_seconds": 0.05, "snapshot_seconds": 0.2, "workers": workers}
    refused = 0
    for size in SIZES[:: 1 if workers == 1 else 2]:
        disk.resize(size)
        ended = run("replay", crawl.archive, "--bus", "local:disk/s", cwd=tmp_path, **often)
        assert "Traceback" not in ended.err, ended.err
        if ended.code == 1:
            break
        assert ended.code == 3, ended.err
        assert "free some space" in ended.err or "run it again" in ended.err, ended.err
        refused += 1
    else:
        disk.resize(60_000)
        ended = run("replay", crawl.archive, "--bus", "local:disk/s", cwd=tmp_path, **often)
        assert ended.code == 1, ended.err
    assert refused >= 3
    assert state_in(disk.at / "s") == crawl.wanted


def test_labels_of_a_disk_that_is_full_or_read_only(tmp_path: Path, disk: Disk) -> None:
    pack, other = build(tmp_path, "known", 1), build(tmp_path, "other", 2)
    bus = ("--bus", "local:disk/s")
    disk.resize(1000)
    assert run("labels", "push", pack, *bus, cwd=tmp_path).code == 0
    changes = (("push", other, "--whole"), ("remove", "known"), ("rollback",))
    with (disk.at / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while filler.write(bytes(512)):
            pass
    for words in changes:
        refuses(run("labels", *words, *bus, cwd=tmp_path), "free some space")
    (disk.at / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,ro", disk.at], check=True)
    for words in changes:
        refuses(run("labels", *words, *bus, cwd=tmp_path), "Read-only file system")


def refuses(ended: Done, said: str) -> None:
    assert ended.code == 3, ended.err
    assert "Traceback" not in ended.err, ended.err
    assert said in ended.err, ended.err


def test_an_index_that_cannot_write_its_snapshot_commits_nothing_past_it(
    broker: str, crawl: Crawl, tmp_path: Path, disk: Disk
) -> None:
    with cluster_at(broker, tmp_path, snapshot_seconds=0.1) as cluster:
        fingerprint = cluster.work("fingerprint", state=str(tmp_path / "none"))
        index = cluster.work("index", state=str(disk.at / "state"))
        wait_until(lambda: is_ready(index))
        assert cluster.run("replay", crawl.archive).code == 1
        ended = index.end()
        assert ended.code == 3, ended.err
        # Terms of a large batch fill the disk before its snapshot does.
        assert "free some space and start again" in ended.err
        assert "Traceback" not in ended.err
        assert not list(disk.at.rglob("*.partial"))
        disk.resize(60_000)
        index = cluster.work("index", state=str(disk.at / "state"))
        cluster.await_done()
        assert [stop(worker).code for worker in (fingerprint, index)] == [0, 0]
        assert list(disk.at.rglob("*.snapshot"))
        check(cluster, crawl)
        assert cluster.count(topics.DEAD_LETTERS) == len(crawl.wanted.dead)
