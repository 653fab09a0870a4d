"""The fast path says what the careful path says, and leaves the rest to it."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.crawler.archives.careful import read_members
from reusewatch.crawler.archives.fast import read_fast
from reusewatch.crawler.archives.members import Gzip
from reusewatch.crawler.archives.warc import WARC
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
            steps = read_fast(view, 0, reading)
            while True:
                try:
                    fast.append(next(steps))
                except StopIteration as end:
                    stop = end.value
                    break
    # How far the file was read differs, and may.
    return (
        [event._replace(position=0) for event in careful],
        [event._replace(position=0) for event in fast],
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
