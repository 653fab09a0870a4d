"""One crawl for all tests of this directory, and what an undisturbed replay makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.end_to_end.runs import State, run, state_in
from tests.pages import Fetch, mixed_crawl, write_warc

PAGES = 1200
DAMAGED = 2


@dataclass(frozen=True)
class Crawl:
    """An archive on disk, and what is to be found in it."""

    archive: Path
    fetches: list[Fetch]
    wanted: State

    @property
    def ids(self) -> set[str]:
        return set(self.wanted.alerts)


@pytest.fixture(scope="session")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    directory = tmp_path_factory.mktemp("crawl")
    random = Random(5)
    fetches = mixed_crawl(PAGES, random.randrange)
    random.shuffle(fetches)
    archive = directory / "crawl.warc.gz"
    write_warc(fetches, archive)
    _damage(archive, random)
    done = run("replay", archive, "--bus", "local:state", "--json", cwd=directory)
    assert done.code == 1, done.err
    assert done.objects[0]["damaged"] == DAMAGED
    return Crawl(archive, fetches, state_in(directory / "state"))


def _damage(archive: Path, random: Random) -> None:
    """Bytes that are no record, between two that are: in the first half and in the second."""
    data = archive.read_bytes()
    member = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
    middle = len(data) // 2
    first, second = data.index(member, middle // 2), data.index(member, middle)
    garbage = b"this is no record\n" * 3
    archive.write_bytes(data[:first] + garbage + data[first:second] + garbage + data[second:])
