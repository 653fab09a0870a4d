"""A record read again by itself is the one that the archive's reader gave, whatever the archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from reusewatch.crawler.archives.again import known_again, member_again
from reusewatch.crawler.archives.reading import read_archived
from reusewatch.crawler.archives.whole import Ways
from reusewatch.crawler.errors import OriginLost
from reusewatch.crawler.pages.archive_events import Limits, Reading
from reusewatch.streams.records import Origin
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import read_all
from tests.pages import SCHEME
from tests.streams.stages.making import NOW


def reading(path: Path, limits: Limits) -> Reading:
    return Reading(str(path), SCHEME, limits, lambda: NOW)


def test_a_sound_member_is_all_that_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    records = [zoo.response(zoo.url(n), zoo.html(f"words {n} " * 9)) for n in range(4)]
    data = zoo.member_each(records)
    path.write_bytes(data)
    pages = [found.page for found in read_all(path) if found.page]
    assert len(pages) == 4
    for page in pages:
        assert member_again(page.origin.offset or 0, reading(path, Limits())) == page
    # Damage elsewhere does not matter, damage here does: then the careful path says what it is.
    second = pages[1].origin.offset or 0
    path.write_bytes(b"\0" * second + data[second:])
    assert member_again(second, reading(path, Limits())) == pages[1]
    path.write_bytes(data[: second + 40] + b"damage" + data[second + 46 :])
    assert member_again(second, reading(path, Limits())) is None
    with pytest.raises(OriginLost):
        read_archived(pages[1].origin, scheme=SCHEME)


def test_what_is_no_such_member_is_left_to_the_careful_path(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    both = zoo.response(zoo.A) + zoo.response(zoo.url(2))
    for data in (both, zoo.member_each([both]), zoo.member_each([b"no record"]), b""):
        path.write_bytes(data)
        assert member_again(0, reading(path, Limits())) is None
    path.write_bytes(zoo.member_each([zoo.response(zoo.A, b"x" * 100_000)]))
    small = Limits(max_record_bytes=1000)
    assert member_again(0, reading(path, small)) is None
    assert member_again(0, reading(tmp_path / "none", Limits())) is None
    origin = Origin(source=str(tmp_path / "none"), offset=0)
    with pytest.raises(OriginLost):
        read_archived(origin, scheme=SCHEME)


def test_who_knows_the_hash_has_the_same_page_without_its_digests(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    large = zoo.html(" ".join(f"{n * n:x}" for n in range(20_000)))
    bodies = [zoo.html("a few words"), large, zoo.html("last")]
    path.write_bytes(
        zoo.member_each([zoo.response(zoo.url(n), body) for n, body in enumerate(bodies)])
    )
    pages = [found.page for found in read_all(path) if found.page]
    with path.open("rb") as file:
        again = [
            known_again(file.fileno(), page.origin.offset or 0, reading(path, Limits()), Ways())
            for page in pages
        ]
        assert again == pages
        small = Limits(max_record_bytes=100)
        assert known_again(file.fileno(), 0, reading(path, small), Ways()) is None
        assert known_again(file.fileno(), 7, reading(path, Limits()), Ways()) is None
        assert known_again(file.fileno(), 1 << 40, reading(path, Limits()), Ways()) is None
    path.write_bytes(path.read_bytes()[:60])
    with path.open("rb") as file:
        assert known_again(file.fileno(), 0, reading(path, Limits()), Ways()) is None


def test_an_archive_that_holds_something_else_is_not_said_to_be_gone(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    origin = Origin(source=str(path), offset=0)
    for data in (b"no archive", zoo.member_each([zoo.response(zoo.A)])[9:], b""):
        path.write_bytes(data)
        with pytest.raises(OriginLost) as lost:
            read_archived(origin, scheme=SCHEME)
        assert lost.value.why == "changed"
    path.unlink()
    with pytest.raises(OriginLost) as lost:
        read_archived(origin, scheme=SCHEME)
    assert lost.value.why == "archive gone"
