"""What stands where an archive or a page is expected: pipes, links, names, floods of damage."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.crawler.errors import Stopped
from reusewatch.crawler.pages.archive_events import Found, Limits
from reusewatch.crawler.replaying.cursors import Cursors
from reusewatch.crawler.replaying.giving_up import LEAST, until_given_up
from reusewatch.crawler.replaying.jobs import Reader, job_of
from reusewatch.crawler.replaying.sources import expand
from reusewatch.crawler.replaying.trees import tree_pages
from reusewatch.streams.bus import Unreachable
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import read_all, seen

_DATA = zoo.member_each(zoo.crawl(2))


def tree(directory: Path, **options: bool) -> list[Found]:
    pages = tree_pages(
        str(directory), "http://a.test/", scheme=zoo.SCHEME, clock=lambda: zoo.NOW, **options
    )
    return list(pages)


def write_into(pipe: Path, data: bytes) -> threading.Thread:
    """Somebody who writes; opening waits for whoever reads."""
    thread = threading.Thread(target=pipe.write_bytes, args=(data,), daemon=True)
    thread.start()
    return thread


def test_a_named_pipe_yields_what_the_file_does(tmp_path: Path) -> None:
    pipe = tmp_path / "x.warc.gz"
    os.mkfifo(pipe)
    (source,) = expand([str(pipe)])
    assert source.size is None
    writer = write_into(pipe, _DATA)
    assert seen(read_all(pipe))[0] == (zoo.url(0), zoo.url(1))
    writer.join(10)


def test_a_pipe_of_the_shell_yields_what_the_file_does() -> None:
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as file:
            file.write(_DATA)
        assert seen(read_all(f"/dev/fd/{reading}"))[0] == (zoo.url(0), zoo.url(1))
    finally:
        os.close(reading)


def test_who_waits_for_a_pipe_can_be_stopped(tmp_path: Path) -> None:
    pipe = tmp_path / "x.warc.gz"
    os.mkfifo(pipe)
    asked = iter([False, False, True])
    events = read_archive(
        str(pipe), scheme=zoo.SCHEME, clock=lambda: zoo.NOW, stop=lambda: next(asked)
    )
    with pytest.raises(Stopped):
        list(events)


def test_a_job_with_a_pipe_cannot_be_resumed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "x.warc.gz").write_bytes(_DATA)
    reader = Reader(zoo.SCHEME, Limits())
    for name, resumable in (("pipe", False), ("x.warc.gz", True)):
        job = job_of(
            [str(tmp_path / name)], [], None, reader=reader, settle_seconds=1,
            stop=threading.Event(),
        )  # fmt: skip
        assert job.resumable is resumable


def test_a_pipe_in_a_directory_is_passed_over_whatever_its_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.warc.gz")
    (tmp_path / "y.warc.gz").write_bytes(_DATA)
    assert [Path(source.name).name for source in expand([str(tmp_path)])] == ["y.warc.gz"]


def test_a_name_that_is_no_text_costs_one_file_of_a_tree(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.html")).write_bytes(zoo.PAGE)
    (tmp_path / "z.html").write_bytes(zoo.PAGE)
    events = tree(tmp_path)
    assert [event.page.url for event in events if event.page] == ["http://a.test/z.html"]
    (letter,) = (event.damage for event in events if event.damage)
    assert letter.reason == "unreadable"
    assert "caf\\xe9.html" in letter.detail
    letter.source.encode()


def test_a_link_leads_out_of_a_tree_only_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("words of this machine")
    root = tmp_path / "saved"
    root.mkdir()
    (root / "own.txt").write_text("words of the site")
    (root / "inside.txt").symlink_to("own.txt")
    (root / "passwd.txt").symlink_to("../secret.txt")
    pages = {event.page.url[14:] for event in tree(root) if event.page}
    assert pages == {"own.txt", "inside.txt"}
    assert [event.skipped for event in tree(root) if event.skipped] == ["link"]
    all_of_them = {event.page.url[14:] for event in tree(root, follow_links=True) if event.page}
    assert all_of_them == {"own.txt", "inside.txt", "passwd.txt"}


def test_an_archive_of_damage_is_left_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    broken = zoo.response(zoo.B).replace(b"Content-Length", b"Content-Langth")
    path.write_bytes(zoo.response(zoo.A) + broken * 5000 + zoo.response(zoo.C))
    events = list(until_given_up(read_all(path), 0.5))
    reasons = [event.damage.reason for event in events if event.damage]
    assert reasons == ["bad-header"] * LEAST + ["given-up"]
    assert events[-1].damage is not None
    assert events[-1].damage.offset == events[-2].next_offset
    everything = [event.damage.reason for event in read_all(path) if event.damage]
    assert everything == ["bad-header"] * 5000


def test_a_share_below_the_limit_is_borne(tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    broken = zoo.response(zoo.B).replace(b"Content-Length", b"Content-Langth")
    path.write_bytes((zoo.response(zoo.A) * 2 + broken) * 400)
    events = read_all(path)
    assert list(until_given_up(events, 0.5)) == events


def test_an_archive_without_a_record_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    path = tmp_path / "x.warc.zst"
    path.write_bytes(zoo.with_dictionary([]))
    assert [event.damage.reason for event in read_all(path) if event.damage]


def test_a_state_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bus"
    path.write_bytes(b"")
    cursors = Cursors(path)
    cursors.clear("job")
    with pytest.raises(Unreachable, match=r"bus.*Not a directory.*--bus local:DIR"):
        cursors.load("job")
