"""Pages that went by are at hand; others are read again."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from reusewatch.streams.origins import spool_origin
from reusewatch.streams.records import STDIN, Origin, Page
from reusewatch.streams.running.recent_pages import HELD_BYTES, RecentPages
from tests.pages import Fetch, page_of


def at(number: int, body: bytes = b"") -> Page:
    page = page_of(Fetch(number, number, number, 1))
    origin = Origin(source="a.warc.gz", offset=number)
    return msgspec.structs.replace(page, origin=origin, body=body or page.body)


def noting(asked: list[int | None]) -> RecentPages:
    """Room for 100 bytes; what is read again is noted."""

    def read(origin: Origin) -> Page:
        asked.append(origin.offset)
        return at(origin.offset or 0)

    return RecentPages(read, most_bytes=100)


def test_what_went_by_is_not_read_again() -> None:
    asked: list[int | None] = []
    recent = noting(asked)
    for number in range(3):
        recent.saw(at(number, b"x" * 40))
    recent.saw(at(2, b"y" * 60))  # again: in place of what was there
    recent.saw(msgspec.structs.replace(at(4), by_reference=True, body=b""))
    recent.saw(msgspec.structs.replace(at(5), origin=Origin(source="crawl")))
    assert recent(at(2).origin).body == b"y" * 60
    assert recent(at(1).origin).body == b"x" * 40
    assert asked == []
    assert [recent(at(number).origin).url for number in (0, 4)] == [at(0).url, at(4).url]
    assert asked == [0, 4]


def test_what_is_judged_together_is_at_hand_whatever_its_bytes() -> None:
    asked: list[int | None] = []
    recent = noting(asked)
    recent.saw(at(0, b"x" * 40))
    recent.saw(*(at(number, b"y" * 40) for number in range(1, 6)))
    assert [recent(at(number).origin).body for number in range(1, 6)] == [b"y" * 40] * 5
    assert asked == []
    recent.saw(at(6, b"z" * 40))  # of those before it only what there is room for
    assert [recent(at(number).origin).url for number in (0, 4)] == [at(0).url, at(4).url]
    assert asked == [0, 4]
    assert recent(at(5).origin).body == b"y" * 40


def test_what_is_asked_for_later_stays_at_hand_until_then() -> None:
    asked: list[int | None] = []
    recent = noting(asked)
    for number in range(3):
        recent.saw(at(number, b"x" * 40))
        recent.hold(at(number).origin)
    recent.hold(at(7).origin)  # it did not go by
    recent.saw(at(3, b"x" * 90))
    assert recent(at(0).origin).body == b"x" * 40
    assert asked == []
    assert recent(at(0).origin).body == at(0).body  # held for one time
    assert asked == [0]


def test_so_many_bytes_are_held_those_that_are_asked_for_first() -> None:
    half = bytes(HELD_BYTES // 2)
    recent = RecentPages(lambda origin: at(9), most_bytes=HELD_BYTES)

    def holds(*numbers: int) -> None:
        for number in numbers:
            recent.saw(at(number, half))
            recent.hold(at(number).origin)

    holds(0, 1, 2, 3, 4, 5)  # the last two are at hand, the first two held, and no others
    recent.release(at(1).origin)
    recent.release(at(7).origin)  # it is not held
    recent.release(at(5).origin)
    recent.saw(at(6, bytes(HELD_BYTES)))
    assert [number for number in range(6) if recent(at(number).origin).body == half] == [0, 4]


def test_files_can_be_read_by_another_process_pipes_and_spools_cannot(tmp_path: Path) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "a.warc.gz"
    os.mkfifo(pipe)
    file.touch()
    recent = noting([])
    only_here = [Origin(source=STDIN, offset=0), Origin(source=str(pipe)), spool_origin("a", 0)]
    assert [recent.only_here(one) for one in only_here] == [True] * 3
    files = [str(file), f"tree:https://a.example/#{file}", f"{file}!member"]
    assert not any(recent.only_here(Origin(source=one, offset=0)) for one in files)
