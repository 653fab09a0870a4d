"""Damage anywhere: nothing raises, and no record is lost but the one that was hit."""

from __future__ import annotations

import gzip
import tempfile
import tracemalloc
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.crawler.archives import members
from reusewatch.crawler.archives.careful import INDEX_BIT
from reusewatch.crawler.archives.members import Gzip, begins
from reusewatch.crawler.archives.reading import Limits
from reusewatch.crawler.compression.views import InMemory
from tests.crawler.archives import zoo
from tests.crawler.archives.zoo import CONTAINERS, read_all

_RECORDS = [zoo.response(zoo.url(number), zoo.html(f"page {number} " * 9)) for number in range(5)]
_PACKS = {"gzip": zoo.member_each, "zstd": zoo.frame_each, "plain": zoo.plain}


def _pages(data: bytes) -> tuple[list[str], list[str]]:
    """URLs and reasons that bytes yield as an archive."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x"
        path.write_bytes(data)
        events = read_all(path)
    # Whatever the damage, reading goes on.
    for before, after in pairwise(events):
        assert _order(before.offset) < _order(before.next_offset) <= _order(after.offset)
    pages = [event.page.url for event in events if event.page]
    return pages, [event.damage.reason for event in events if event.damage]


def _order(offset: int) -> tuple[int, int]:
    """The place of a record: its member's, and its own in the member."""
    return offset & ((1 << INDEX_BIT) - 1), offset >> INDEX_BIT


@settings(max_examples=60)
@given(st.data(), st.sampled_from(["gzip", "zstd"]))
def test_one_flipped_byte_costs_one_record(data: st.DataObject, name: str) -> None:
    parts = [_PACKS[name]([record]) for record in _RECORDS]
    hit = data.draw(st.integers(0, len(parts) - 1))
    at = data.draw(st.integers(0, len(parts[hit]) - 1))
    bit = data.draw(st.integers(0, 7))
    broken = bytearray(parts[hit])
    broken[at] ^= 1 << bit
    urls, _ = _pages(b"".join([*parts[:hit], broken, *parts[hit + 1 :]]))
    others = [zoo.url(number) for number in range(5) if number != hit]
    assert [url for url in urls if url in others] == others


@settings(max_examples=60)
@given(st.data(), st.sampled_from(sorted(_PACKS)))
def test_what_is_before_a_flipped_byte_is_read(data: st.DataObject, name: str) -> None:
    whole = _PACKS[name](_RECORDS)
    before = data.draw(st.integers(0, 4))
    start = len(_PACKS[name](_RECORDS[:before]))
    broken = bytearray(whole)
    broken[data.draw(st.integers(start, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    urls, _ = _pages(bytes(broken))
    assert urls[:before] == [zoo.url(number) for number in range(before)]


@settings(max_examples=60)
@given(st.data(), st.sampled_from(sorted(_PACKS)))
def test_an_end_in_a_record_is_noticed(data: st.DataObject, name: str) -> None:
    parts = [_PACKS[name]([record]) for record in _RECORDS]
    hit = data.draw(st.integers(1, len(parts) - 1))
    # Four line ends after a block are no part of what it says.
    spare = 5 if name == "plain" else 1
    size = data.draw(st.integers(1, len(parts[hit]) - spare))
    urls, reasons = _pages(b"".join([*parts[:hit], parts[hit][:size]]))
    assert urls == [zoo.url(number) for number in range(hit)]
    assert len(reasons) == 1


@settings(max_examples=60)
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=200),
            st.sampled_from([*_RECORDS, zoo.info(), b"WARC/1.0\r\n", b"\r\n\r\n", b"\x1f\x8b\x08"]),
        ),
        max_size=8,
    ),
    st.sampled_from(sorted(CONTAINERS)),
)
def test_nothing_raises_whatever_the_bytes(parts: list[bytes], name: str) -> None:
    urls, reasons = _pages(CONTAINERS[name](parts) if parts else b"")
    assert len(urls) <= len(parts)
    assert urls or reasons or not any(part in _RECORDS for part in parts)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_bombs_take_no_more_memory_than_allowed(tmp_path: Path, encoding: str) -> None:
    pack = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": lambda data: brotli.compress(data, quality=3),
        "zstd": zstandard.compress,
    }[encoding]
    path = tmp_path / "bomb"
    path.write_bytes(zoo.around(zoo.encoded(pack(bytes(64 << 20)), encoding)))
    assert _peak(path, Limits(max_body_bytes=1 << 20)) < 8 << 20


@pytest.mark.parametrize("pack", [zoo.member_each, zoo.frame_each, zoo.one_member])
def test_large_members_take_no_more_memory_than_allowed(tmp_path: Path, pack) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(zoo.around(zoo.response(zoo.B, bytes(64 << 20)), pack))
    limits = Limits(max_body_bytes=1 << 20, max_record_bytes=2 << 20)
    assert _peak(path, limits) < 16 << 20


def _peak(path: Path, limits: Limits) -> int:
    read_all(path, limits=limits)
    tracemalloc.start()
    try:
        urls = zoo.seen(read_all(path, limits=limits))[0]
        assert (urls[0], urls[-1]) == (zoo.A, zoo.C)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class Counting(InMemory):
    """Counts the bytes that are asked for."""

    served = 0

    def at(self, offset: int, length: int) -> bytes:
        found = super().at(offset, length)
        self.served += len(found)
        return found


def test_what_only_looks_like_a_member_costs_little() -> None:
    """A header with a name that never ends: it takes in everything, and gives nothing."""
    data = (b"\x1f\x8b\x08\x08" + b"a" * 12) * 20_000
    view = Counting(data)
    assert begins(Gzip(), view, 0, 4096) == b""
    assert view.served <= 1 << 15


_PLAIN = zoo.response(zoo.url(9), zoo.html("a page as it is " * 9))


@pytest.mark.parametrize(
    ("between", "reasons"),
    [
        (b"WARC/1.0\r\n", ["garbage"]),
        (_PLAIN[:-60], ["bad-length"]),
        (_PLAIN[:-4] + b"junk", ["bad-length"]),
        (zoo.response(zoo.url(9), zoo.html("x"), length=1 << 20), ["bad-length"]),
    ],
)
def test_members_behind_a_broken_record_that_is_none_are_read(
    between: bytes, reasons: list[str]
) -> None:
    first, *others = (zoo.member_each([record]) for record in _RECORDS)
    urls, damages = _pages(b"".join([first, between, *others]))
    assert urls == [zoo.url(number) for number in range(5)]
    assert damages == reasons


def test_members_are_looked_for_once_however_much_is_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[int] = []

    search = members.next_member

    def next_member(*given: Any) -> int:
        looked.append(found := search(*given))
        return found

    monkeypatch.setattr(members, "next_member", next_member)
    broken = b"".join(b"WARC/1.0\r\nContent-Length: x\r\n\r\n" for _ in range(99))
    urls, damages = _pages(zoo.plain(_RECORDS[:1]) + broken + zoo.member_each(_RECORDS[1:]))
    assert urls == [zoo.url(number) for number in range(5)]
    assert len(damages) > len(looked) == 1
