"""What a user names, a tree of saved pages, a directory that a crawl writes to."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.replaying.origins import read_origin
from reusewatch.crawler.replaying.sources import expand, follow
from reusewatch.crawler.replaying.trees import tree_pages
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import read_all, seen

_DATA = zoo.member_each(zoo.crawl(1))


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    for name in ("b.warc.gz", "deep/er/a.warc", "no-name"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_DATA)
    (tmp_path / "c.wacz").write_bytes(zoo.wacz(_DATA))
    (tmp_path / "README").write_text("no archive")
    (tmp_path / "page.html.warc.gz").write_bytes(zoo.PAGE)
    (tmp_path / "d.warc.gz.open").write_bytes(_DATA)
    return tmp_path


def _names(directory: Path, *paths: str) -> list[str]:
    names = [source.name for source in expand([str(directory / path) for path in paths])]
    return [name.removeprefix(f"{directory}/") for name in names]


def test_a_directory_is_its_archives_sorted(crawl: Path) -> None:
    wanted = [
        "b.warc.gz",
        "c.wacz!archive/data.warc.gz",
        "deep/er/a.warc",
        "no-name",
        "page.html.warc.gz",
    ]
    assert _names(crawl, "") == wanted


def test_patterns_files_and_members_are_each_read_once(crawl: Path) -> None:
    assert _names(crawl, "*.warc.gz", "b.warc.gz") == ["b.warc.gz", "page.html.warc.gz"]
    assert _names(crawl, "**/*.warc") == ["deep/er/a.warc"]
    member = "c.wacz!archive/data.warc.gz"
    assert _names(crawl, member) == [member]
    assert [(source.name, source.size) for source in expand(["-"])] == [("-", None)]


def test_sizes_are_those_of_the_files(crawl: Path) -> None:
    sizes = {source.size for source in expand([str(crawl / "b.warc.gz"), str(crawl / "c.wacz")])}
    assert sizes == {len(_DATA)}


@pytest.mark.parametrize("path", ["gone.warc", "*.arc", "c.wacz!archive/gone", "empty"])
def test_what_names_nothing_is_named(crawl: Path, path: str) -> None:
    (crawl / "empty").mkdir()
    with pytest.raises(SourceError, match=r"empty|gone|\.arc"):
        expand([str(crawl / path)])


def test_a_source_reads_its_archive(crawl: Path) -> None:
    (source,) = expand([str(crawl / "c.wacz")])
    events = list(read_archive(source.name, scheme=zoo.SCHEME, clock=lambda: zoo.NOW))
    assert seen(events)[0] == (zoo.A,)
    assert max(event.position for event in events) == source.size


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "saved"
    for name in ("index.html", "a b/index.html", "a b/ä.html", "x.txt", "style.css", "raw"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(zoo.PAGE)
        os.utime(path, (1_500_000_000, 1_500_000_000))
    return root


def test_a_tree_is_the_site_that_it_was(tree: Path) -> None:
    def pages(start: int = 0) -> list:
        base = "http://example.org/base/"
        return list(
            tree_pages(str(tree), base, scheme=zoo.SCHEME, start=start, clock=lambda: zoo.NOW)
        )

    events = pages()
    assert [
        event.page.url.removeprefix("http://example.org/base/") for event in events if event.page
    ] == [
        "a%20b/",
        "a%20b/%C3%A4.html",
        "",
        "raw",
        "x.txt",
    ]
    assert [event.skipped for event in events if event.skipped] == ["content-type"]
    for event in events:
        assert pages(event.next_offset) == events[event.next_offset :]
        if event.page:
            assert event.page.fetched_at == datetime.fromtimestamp(1_500_000_000, UTC)
            assert read_origin(event.page.origin, scheme=zoo.SCHEME) == event.page


def test_a_tree_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="gone"):
        list(
            tree_pages(
                str(tmp_path / "gone"), "http://a.test/", scheme=zoo.SCHEME, clock=datetime.now
            )
        )


def _followed(directory: Path, steps: list[Callable[[], object]]) -> list[tuple[int, str]]:
    """What `follow` yields, and at which step: each step is one wait, and one minute long."""
    clock = [4e9]
    done: list[int] = []

    def wait(_seconds: float) -> None:
        steps[len(done)]()
        done.append(1)
        clock[0] += 60

    found = follow(
        str(directory),
        stop=lambda: len(done) == len(steps),
        settle_seconds=90,
        wait=wait,
        now=lambda: clock[0],
    )
    return [(len(done), Path(source.name).name) for source in found]


def _write(path: Path, data: bytes, written: float) -> None:
    path.write_bytes(data)
    os.utime(path, (written, written))


def test_a_renamed_file_is_finished_at_once(tmp_path: Path) -> None:
    opened, path = tmp_path / "x.warc.gz.open", tmp_path / "x.warc.gz"
    steps = [
        lambda: _write(opened, _DATA[:50], 4e9),
        lambda: _write(opened, _DATA, 4e9 + 60),
        lambda: opened.rename(path),
        lambda: None,
        lambda: None,
    ]
    assert _followed(tmp_path, steps) == [(3, "x.warc.gz")]


def test_a_file_written_in_place_is_finished_when_it_settled(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.gz"
    steps = [
        lambda: _write(path, _DATA[:50], 4e9),
        lambda: _write(path, _DATA, 4e9 + 60),
        lambda: None,
        lambda: None,
        lambda: None,
    ]
    # Last written at the second step, and ninety seconds are over after two more.
    assert _followed(tmp_path, steps) == [(3, "x.warc.gz")]


def test_old_files_are_finished_from_the_start_and_yielded_once(tmp_path: Path) -> None:
    _write(tmp_path / "x.warc.gz", _DATA, 3e9)
    assert _followed(tmp_path, [lambda: None, lambda: None, lambda: None]) == [(0, "x.warc.gz")]


def test_a_source_that_cannot_be_followed_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="gone"):
        next(follow(str(tmp_path / "gone"), stop=lambda: False))


def test_a_package_is_resumed_by_member(tmp_path: Path) -> None:
    path = tmp_path / "x.wacz"
    path.write_bytes(zoo.wacz(_DATA))
    with pytest.raises(ValueError, match=r"x\.wacz!archive/data\.warc\.gz"):
        read_all(path, 5)


def test_a_name_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.warc")).write_bytes(b"")
    with pytest.raises(SourceError, match=r"caf\\xe9.warc.*rename"):
        expand([str(tmp_path)])


def test_a_pipe_in_a_tree_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.html")
    (tmp_path / "y.html").write_bytes(b"<p>words")
    pages = tree_pages(str(tmp_path), "http://a.test/", scheme=zoo.SCHEME, clock=lambda: zoo.NOW)
    assert [event.page.url for event in pages if event.page] == ["http://a.test/y.html"]
