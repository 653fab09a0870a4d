"""The fast path says what the careful path says, and leaves the rest to it."""

from __future__ import annotations

import random
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from reusewatch.crawler.archives.careful import read_members
from reusewatch.crawler.archives.fast import read_fast
from reusewatch.crawler.archives.members import Gzip
from reusewatch.crawler.archives.warc import WARC
from reusewatch.crawler.archives.whole import Ways, way_of
from reusewatch.crawler.compression.views import OnDisk
from reusewatch.crawler.pages.archive_events import Found, Limits, Reading
from tests.crawler.archives import zoo

# All of one size, so that a size alone tells no two of them apart.
_SAME = [zoo.response(zoo.url(number)) for number in range(6)]
_ODD = [
    _SAME[1].replace(b"WARC/1.0", b"VARC/1.0"),
    _SAME[1].replace(b"Content-Length: ", b"Content-Length:  "),
    _SAME[1].replace(b"WARC-Date: ", b"WARC-Date:"),
    zoo.response(zoo.B, length=len(zoo.http(zoo.html(zoo.B))) + 7),
    zoo.response(zoo.B, length=3),
    zoo.record("response", zoo.B, zoo.http(zoo.PAGE), end="\n"),
    _SAME[1] + _SAME[2],
    b"",
    b"\r\n\r\n",
    b"\x00" * len(_SAME[1]),
]
_MEMBERS = st.one_of(
    st.sampled_from([*zoo.crawl(), *_SAME, *_ODD]).map(lambda data: zoo.member_each([data])),
    st.sampled_from([b"garbage", zoo.member_each([_SAME[0]])[:-5]]),
)


def _both(data: bytes) -> tuple[list[Found], list[Found], int]:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x"
        path.write_bytes(data)
        reading = Reading(str(path), zoo.SCHEME, Limits(), lambda: zoo.NOW)
        with closing(OnDisk(str(path))) as view:
            careful = list(read_members(view, 0, Gzip(), WARC, reading))
            fast, stop = [], 0
            steps = read_fast(view, 0, reading, Ways())
            while True:
                try:
                    fast.append(next(steps))
                except StopIteration as end:
                    stop = end.value
                    break
    # How far the file was read differs, and may.
    return (
        [replace(event, position=0) for event in careful],
        [replace(event, position=0) for event in fast],
        stop,
    )


@settings(max_examples=120)
@given(st.lists(_MEMBERS, max_size=8))
def test_what_it_yields_is_what_the_careful_path_yields(members: list[bytes]) -> None:
    careful, fast, stop = _both(b"".join(members))
    assert fast == careful[: len(fast)]
    assert stop == (fast[-1].next_offset if fast else 0)


def test_of_a_sound_archive_it_leaves_the_last_record_only() -> None:
    careful, fast, stop = _both(zoo.member_each(zoo.crawl(9)))
    assert fast == careful[:-1]
    assert stop == careful[-1].offset


def _stored(data: bytes) -> bytes:
    """A member that holds its data as it is."""
    packer = zlib.compressobj(0, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def _urls(found: list[Found]) -> list[str]:
    return [event.page.url for event in found if event.page]


def test_what_looks_like_a_member_within_one_ends_none() -> None:
    rest = zoo.member_each(_SAME)
    size = len(zoo.response(zoo.A, b"<p>size\x1f\x8b\x08</p>")).to_bytes(4, "little")
    for inner in (_stored(zoo.response(zoo.B)), size + b"\x1f\x8b\x08"):
        outer = _stored(zoo.response(zoo.A, b"<p>" + inner + b"</p>"))
        careful, fast, stop = _both(rest + outer + rest)
        assert len(careful) == len(_urls(careful)) == 13
        assert fast == careful[:6]
        assert stop == len(rest)


def test_a_page_behind_a_member_cannot_end_it_later() -> None:
    for level in (0, 6):
        packer = zlib.compressobj(level, zlib.DEFLATED, 31)
        member = packer.compress(_SAME[0]) + packer.flush()
        forged = zoo.member_each([_SAME[1], _SAME[2]])
        size = len(_SAME[0]).to_bytes(4, "little")
        plain = zoo.response(zoo.B, b"<p>" + size + forged + b"</p>")
        for head in (member, member[:3] + b"\x10" + member[4:10] + b"told\x00" + member[10:]):
            careful, fast, stop = _both(head + plain + member)
            assert fast == []
            assert stop == 0
            assert _urls(careful)[:1] == [zoo.url(0)]


def test_bytes_before_a_checksum_are_damage() -> None:
    member = zoo.member_each(_SAME[:1])
    _, fast, stop = _both(member[:-8] + b"more" + member[-8:] + member)
    assert (fast, stop) == ([], 0)


@pytest.mark.parametrize("size", [0, 1, 1 << 22, 0xFFFFFFFF])
def test_a_size_that_is_wrong_is_not_believed(size: int) -> None:
    first, second = (zoo.member_each([data]) for data in _SAME[:2])
    _, fast, stop = _both(second + first[:-4] + size.to_bytes(4, "little") + second)
    assert _urls(fast) == [zoo.url(1)]
    assert stop == len(second)


def test_large_members_are_read_up_to_a_bound() -> None:
    noise = random.Random(1).randbytes(20 << 20)
    large = zoo.member_each([zoo.response(zoo.B, noise[: 1 << 20])])
    larger = zoo.member_each([zoo.response(zoo.B, noise)])
    small = zoo.member_each(_SAME[:1])
    careful, fast, stop = _both(small + large + small + larger + small)
    assert stop == len(small + large + small)
    assert fast == careful[:3]
    assert len(careful) == 5


def test_ways_are_learnt_once_for_all_of_an_archive(tmp_path: Path) -> None:
    names = [f"X-{number}: y\r\nWARC-Date".encode() for number in range(200)]
    records = [_SAME[0].replace(b"WARC-Date", name, 1) for name in names]
    path = tmp_path / "x.warc.gz"
    path.write_bytes(zoo.member_each(records))
    way_of.cache_clear()
    assert len(_urls(zoo.read_all(path))) == len(records)
    asked = way_of.cache_info()
    assert 9 < asked.hits + asked.misses < 99
