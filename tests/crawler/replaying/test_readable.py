"""A message names a file; it is opened only where that may be, and never waited for."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest

from reusewatch.crawler.errors import OriginLost
from reusewatch.crawler.replaying.origins import origin_reader, read_origin
from reusewatch.crawler.replaying.readable import Readable
from reusewatch.detector.errors import BadPage
from reusewatch.streams.records import Origin
from tests.crawler.archives import zoo
from tests.pages import Fetch, write_warc


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "crawls" / "a.warc.gz"
    path.parent.mkdir()
    write_warc([Fetch(0, 0, 1, 2)], path)
    return path


def may(archive: Path, readable: Readable) -> bool:
    read = origin_reader(zoo.SCHEME, 1 << 20, readable)
    with suppress(BadPage):
        return read(Origin(source=str(archive), offset=0)).body != b""
    with pytest.raises(BadPage, match="archive_roots"):
        read(Origin(source=str(archive), offset=0))
    return False


def test_a_pipe_is_never_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.warc"
    os.mkfifo(pipe)
    for source in (str(pipe), f"tree:http://a.test/#{pipe}", "/dev/zero", str(tmp_path)):
        with pytest.raises(OriginLost, match="no regular file"):
            read_origin(Origin(source=source, offset=0), scheme=zoo.SCHEME)


def test_a_file_that_nobody_replayed_is_not_opened(tmp_path: Path, archive: Path) -> None:
    assert not may(archive, Readable((), tmp_path / "state"))
    assert not may(archive, Readable((str(tmp_path / "crawl"),), tmp_path / "state"))


def test_what_was_replayed_and_what_the_settings_name_is_opened(
    tmp_path: Path, archive: Path
) -> None:
    assert may(archive, Readable((str(archive.parent),), tmp_path / "state"))
    readable = Readable((), tmp_path / "state")
    assert not may(archive, readable)
    readable.note("a replay", [str(archive)])
    assert may(archive, readable)
    readable.note("another", [str(tmp_path / "elsewhere")])
    assert may(archive, readable)
    readable.note("a replay", [str(archive.with_name("b.warc.gz"))])
    assert not may(archive, readable)
    readable.note("a followed directory", [str(archive.parent)])
    assert may(archive, readable)


def test_a_link_out_of_a_root_leads_nowhere(tmp_path: Path, archive: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link.warc.gz").symlink_to(archive)
    assert not may(root / "link.warc.gz", Readable((str(root),), tmp_path / "state"))
    assert not may(root / ".." / "crawls" / "a.warc.gz", Readable((str(root),), tmp_path / "state"))
