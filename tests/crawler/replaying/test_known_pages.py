"""Pages that are read together are those that each by itself is, and so is why one is not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS
from reusewatch.crawler.replaying import known_pages
from reusewatch.crawler.replaying.known_pages import KnownPages
from reusewatch.crawler.replaying.origins import origin_reader
from reusewatch.crawler.replaying.readable import Readable
from reusewatch.streams.origins import kafka_origin, spool_origin
from reusewatch.streams.page_text import read_or_why, together
from reusewatch.streams.records import Origin, Page
from tests.pages import SCHEME, Fetch, write_warc
from tests.streams.stages.making import NOW


def write(path: Path, text: int) -> list[Page]:
    write_warc([Fetch(0, number, 1, text + number) for number in range(3)], path)
    found = read_archive(str(path), scheme=SCHEME, clock=lambda: NOW)
    return [one.page for one in found if one.page is not None]


def hash_of(page: Page) -> int:
    return SCHEME.of_bytes(page.body)


def test_together_or_each_by_itself_is_the_same(tmp_path: Path) -> None:
    pages = write(tmp_path / "a.warc.gz", 0) + write(tmp_path / "b.warc.gz", 5)
    elsewhere = write(tmp_path / "not-replayed.warc.gz", 9)[0]
    readable = Readable((), tmp_path / "state")
    readable.note("a replay", [str(tmp_path / name) for name in "ab"])
    readable.note("more", [str(tmp_path / f"{name}.warc.gz") for name in ("a", "b", "gone")])
    asked = [(page.origin, hash_of(page)) for page in pages]
    asked += [(pages[0].origin, 1), (elsewhere.origin, hash_of(elsewhere))]
    others = ["gone.warc.gz", "a.warc.gz!archive/x.warc.gz", ""]
    asked += [(Origin(source=str(tmp_path / name), offset=0), 1) for name in others]
    asked += [(spool_origin("x", 0), 1), (kafka_origin("t", 0, 0), 1), (Origin(source="-"), 1)]
    asked += [(Origin(source="tree:http://a.test/#/x", offset=1), 1)]
    read_one = origin_reader(SCHEME, 1 << 20, readable)
    with together(read_one, SCHEME) as read:
        found = [read(*one) for one in asked]
    assert found == [read_or_why(read_one, *one, SCHEME) for one in asked]
    assert found[: len(pages)] == pages
    assert found[len(pages) : len(pages) + 3] == ["changed", "archive gone", "archive gone"]


def test_a_plain_reader_reads_one_after_the_other(tmp_path: Path) -> None:
    page = write(tmp_path / "a.warc.gz", 0)[0]
    with together(lambda origin: page, SCHEME) as read:
        assert [read(page.origin, hash_of(page)), read(page.origin, 1)] == [page, "changed"]


def replaced(path: Path) -> None:
    write(path, 7)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:99])


def garbled(path: Path) -> None:
    path.write_bytes(b"x" * 999)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (replaced, "changed"), (cut, "changed"), (garbled, "changed"),
        (Path.unlink, "archive gone"),
    ],
)  # fmt: skip
def test_an_archive_that_was_replaced_is_told_as_changed(
    tmp_path: Path, change: Callable[[Path], None], why: str
) -> None:
    path = tmp_path / "a.warc.gz"
    page = write(path, 0)[-1]
    change(path)
    with together(origin_reader(SCHEME, 1 << 20), SCHEME) as read:
        assert read(page.origin, hash_of(page)) == why


def test_few_archives_are_open_and_none_is_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_pages, "_MOST_OPEN", 2)
    pages = [write(tmp_path / f"{n}.warc.gz", n)[0] for n in range(4)]
    before = set(os.listdir("/proc/self/fd"))
    known = KnownPages(SCHEME, DEFAULT_LIMITS, None)
    for page in [*pages, *pages[::-1]]:
        assert known.page(page.origin, hash_of(page)) == page
        assert len(set(os.listdir("/proc/self/fd")) - before) <= 3  # one is the listing's own
    known.close()
    assert len(os.listdir("/proc/self/fd")) == len(before)
