"""A record that fills its member is what the close look finds there; all else is left to it."""

from __future__ import annotations

import pytest

from reusewatch.crawler.archives.framing import piece_at
from reusewatch.crawler.archives.warc import WARC
from reusewatch.crawler.archives.whole import Ways, way_of
from reusewatch.crawler.compression.views import InMemory
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS
from tests.crawler.archives import zoo

RECORD = zoo.response(zoo.A)
LINE_END = b"\r\n"
HEAD = RECORD[: RECORD.index(LINE_END * 2) + 4]
SIZE = b"%d" % (len(RECORD) - len(HEAD) - 4)
# No more than fit into a head.
WIDE = b"".join(b"X-%d: y\r\n" % number for number in range(5000))


@pytest.mark.parametrize("record", [*zoo.crawl(3), RECORD.replace(b"-Date: ", b"-Date:   ")])
def test_it_is_the_record_that_the_close_look_finds(record: bytes) -> None:
    ways = Ways()
    for data in (record, bytearray(record)):
        whole = ways.whole(data)
        assert whole is not None
        found, close = whole.record(0, len(record)), piece_at(
            InMemory(record), 0, WARC, DEFAULT_LIMITS
        )  # fmt: skip
        assert close is not None
        assert found._replace(view=close.view) == close
        assert type(found.read(9)) is bytes


@pytest.mark.parametrize(
    "other",
    [
        b"", b"\r\n\r\n", RECORD[:-1], RECORD + b"\n", RECORD * 2, RECORD[1:],
        RECORD.replace(b"\r\n", b"\n"),
        RECORD.replace(b"Content-Length: ", b"Content-Length: 0"),
        RECORD.replace(b"Content-Length: ", b"Content-Size: "),
        RECORD.replace(b"WARC-Type", b"WARC-Typ\xe9"),
        RECORD.replace(b"WARC-Date: ", b"WARC-Date:"),
        RECORD.replace(b"WARC-Date: ", b"WARC-Date: \xe9"),
        RECORD.replace(b"WARC-Date: ", b"X: y\r\n z\r\nWARC-Date: "),
        RECORD.replace(b"WARC-Date: ", b"content-length: 1\r\nWARC-Date: "),
        *(HEAD.replace(SIZE, b"%d" % size) + LINE_END * more for size, more in [(-4, 0), (-2, 1)]),
        RECORD.replace(b"WARC-Date: ", WIDE + b"WARC-Date: "),
        RECORD.replace(b"WARC-Date: ", b"X: " + b"y" * 70_000 + b"\r\nWARC-Date: "),
    ],
)  # fmt: skip
def test_what_is_not_exactly_that_is_left_to_it(other: bytes) -> None:
    ways = Ways()
    assert ways.whole(other) is None
    assert ways.whole(RECORD) is not None
    assert ways.whole(other) is None


def test_a_field_that_is_there_twice_is_for_the_close_look() -> None:
    assert way_of(("WARC-Type", "Content-Length", "warc-type")) is None
    assert way_of(("WARC-Type", "Content-Length")) is not None


def test_ways_are_told_apart_and_bounded() -> None:
    ways, names = Ways(), [f"X-{number}: y\r\nWARC-Date" for number in range(99)]
    records = [RECORD.replace(b"WARC-Date", name.encode(), 1) for name in names]
    learnt = [record for record in records if ways.whole(record)]
    assert 9 < len(learnt) < 99
    assert learnt == [record for record in records if ways.whole(record)]
