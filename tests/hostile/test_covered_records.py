"""A record whose length covers the next one: that one does not vanish, and a quote is no record."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from reusewatch.crawler.pages.archive_events import Found
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import read_all

OUTER, INNER, LATER = "http://outer.example/", "http://inner.example/", "http://later.example/"
BODY = zoo.html("a page of which somebody counted the bytes")


def answer(body: bytes, *fields: str, length: int | None = None) -> bytes:
    """An HTTP answer that says how long its body is."""
    size = len(body) if length is None else length
    return zoo.http(body, "text/html", f"Content-Length: {size}", *fields)


def record(block: bytes, url: str = OUTER, *, digest: bool = False) -> bytes:
    return zoo.record("response", url, block, digest=digest)


def covering(block: bytes, *, digest: bool = False) -> bytes:
    """A record whose length covers the one after it as well."""
    inner = zoo.response(INNER)
    return record(block + b"\r\n\r\n" + inner.removesuffix(b"\r\n\r\n"), digest=digest)


CHUNKED = zoo.http(b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY), "text/html",
                   "Transfer-Encoding: chunked")  # fmt: skip
PACKED = gzip.compress(BODY, mtime=0)
COVERING = {
    "by its length": answer(BODY),
    "by its chunks": CHUNKED,
    "as it was packed": answer(PACKED, "Content-Encoding: gzip"),
    "with a quote within": answer(BODY + b"\r\n\r\n" + zoo.response("http://quoted.test/") + BODY),
}
QUOTE = b"\r\n\r\n" + zoo.response("http://quoted.test/", date="1999-01-01T00:00:00Z")
HONEST = {
    "a quote that the length counts": answer(BODY + QUOTE + BODY),
    "a quote at the end": answer(BODY + QUOTE),
    "a quote in chunks": zoo.http(
        b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY + QUOTE), BODY + QUOTE), "text/html",
        "Transfer-Encoding: chunked",
    ),
    "an answer without a length": zoo.http(BODY + QUOTE, "text/html"),
    "a body stored without its encoding": answer(
        BODY + QUOTE, "Content-Encoding: gzip", length=len(BODY)
    ),
    "more than the length, and no record": answer(BODY + b"\r\n\r\nWARC/1.0 is a format", length=9),
}  # fmt: skip


def read(path: Path, records: list[bytes], *, whole: bool) -> list[Found]:
    data = b"".join(records)
    path.write_bytes(gzip.compress(data) if whole else data)
    return read_all(path)


def pages_of(events: list[Found]) -> dict[str, bool]:
    return {event.page.url: event.page.salvaged for event in events if event.page}


@pytest.mark.parametrize("whole", [False, True], ids=["plain", "one member"])
@pytest.mark.parametrize("name", COVERING)
def test_a_record_that_covers_the_next_is_damage_and_the_next_is_read(
    tmp_path: Path, name: str, whole: bool
) -> None:
    path = tmp_path / "x"
    events = read(path, [covering(COVERING[name]), zoo.response(LATER)], whole=whole)
    letters = [event.damage for event in events if event.damage]
    assert [(letter.reason, letter.url) for letter in letters] == [("bad-length", OUTER)]
    assert "covers another record" in letters[0].detail
    assert pages_of(events) == {INNER: True, LATER: False}
    for number, event in enumerate(events):
        rest = read_all(path, event.next_offset, doubt=event.doubt)
        assert pages_of(rest) == pages_of(events[number + 1 :])


def test_a_member_that_holds_two_records_as_one_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(zoo.member_each([covering(answer(BODY)), zoo.response(LATER)]))
    events = read_all(path)
    assert [event.damage.reason for event in events if event.damage] == ["bad-length"]
    assert pages_of(events)[LATER] is False


def test_a_digest_of_the_block_says_that_it_is_whole(tmp_path: Path) -> None:
    events = read(tmp_path / "x", [covering(answer(BODY), digest=True)], whole=False)
    assert pages_of(events) == {OUTER: False}
    assert not any(event.damage for event in events)


def arc(block: bytes, later: bytes = b"") -> list[bytes]:
    """An archive of lines: its head, a record with this block, one after it."""
    head, *_ = zoo.arc([])
    return [head, zoo.arc_record(OUTER, block), later or zoo.arc_record(LATER, zoo.http(BODY))]


@pytest.mark.parametrize("whole", [False, True], ids=["plain", "one member"])
@pytest.mark.parametrize("name", COVERING)
def test_a_line_that_covers_the_next_record_is_damage_and_the_next_is_read(
    tmp_path: Path, name: str, whole: bool
) -> None:
    inner = zoo.arc_record(INNER, zoo.http(BODY)).removesuffix(b"\n")
    events = read(tmp_path / "x.arc", arc(COVERING[name] + b"\n" + inner), whole=whole)
    letters = [event.damage for event in events if event.damage]
    assert [(letter.reason, letter.url) for letter in letters] == [("bad-length", OUTER)]
    assert pages_of(events) == {INNER: True, LATER: False}


@pytest.mark.parametrize("name", [name for name in HONEST if "record" not in name])
def test_a_page_of_an_arc_that_quotes_a_record_is_no_damage(tmp_path: Path, name: str) -> None:
    quoted = zoo.arc_record("http://quoted.test/", zoo.http(BODY))
    block = HONEST[name].replace(QUOTE, b"\n" + quoted.ljust(len(QUOTE) - 1))
    events = read(tmp_path / "x.arc", arc(block), whole=False)
    assert pages_of(events) == {OUTER: False, LATER: False}
    assert not any(event.damage for event in events)


@pytest.mark.parametrize("name", HONEST)
def test_a_page_that_quotes_a_record_is_no_damage(tmp_path: Path, name: str) -> None:
    events = read(tmp_path / "x", [record(HONEST[name]), zoo.response(LATER)], whole=False)
    assert pages_of(events) == {OUTER: False, LATER: False}
    assert not any(event.damage for event in events)
