"""Coverage-guided fuzzing of the archive reader, by hand:

    pip install atheris && python tests/fuzz/archive_fuzz.py -max_total_time=1800 CORPUS

The directory CORPUS is filled with the specimens of the zoo of archives first. The first byte of an
input says how the rest is packed, so that what stands inside members is reached as well. Windows
are made small, so that a few thousand bytes are enough for a reader to look back behind one.
"""

from __future__ import annotations

import gzip
import io
import sys
import tempfile
from itertools import islice, pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import atheris  # type: ignore[import-not-found]

with atheris.instrument_imports(include=["reusewatch.crawler.archives", "reusewatch.crawler.pages",
                                         "reusewatch.crawler.compression"]):  # fmt: skip
    from reusewatch.crawler.archives import framing, members, reading
    from reusewatch.crawler.compression import views

import zstandard

from reusewatch.crawler.errors import REASONS
from reusewatch.crawler.pages.archive_events import SKIPPED, Limits, Reading
from tests.crawler.archives import zoo

_LIMITS = Limits(max_body_bytes=4096, max_record_bytes=20_000, max_header_bytes=4096)
_PATH = Path(tempfile.mkdtemp()) / "x"
_NEXT = b"\x00NEXT\x00"
_MASK = (1 << reading.INDEX_BIT) - 1
# What a reader may ask a view for, in bytes: so much for a byte of the archive, and at all.
_ASKED_PER_BYTE, _ASKED = 400, 4 << 20

views.STEP = members.STEP = 512
framing._SEARCH, framing._OVERLAP = 2048, 512


class _Counted:
    """Counts the bytes that files are asked for."""

    bytes = 0
    at = views.OnDisk.at


def _counting(view: views.OnDisk, offset: int, length: int) -> bytes:
    found = _Counted.at(view, offset, length)
    _Counted.bytes += len(found)
    return found


views.OnDisk.at = _counting  # type: ignore[method-assign]


def packed(data: bytes) -> bytes:
    """An archive: as it is, a member for each part, one for all, a frame for each part."""
    how, rest = data[:1] or b"\0", data[1:]
    parts = rest.split(_NEXT)
    return (
        rest,
        b"".join(gzip.compress(part, 1) for part in parts),
        gzip.compress(rest, 1),
        b"".join(zstandard.compress(part, 1) for part in parts),
    )[how[0] & 3]


def once(data: bytes) -> None:
    """Nothing raises, reading ends, events are of closed sets, and go on from each offset."""
    archive = packed(data)
    _PATH.write_bytes(archive)
    _Counted.bytes = 0
    events = _ended(
        reading.read_archive(str(_PATH), scheme=zoo.SCHEME, limits=_LIMITS, clock=lambda: zoo.NOW)
    )
    assert _Counted.bytes <= _ASKED + _ASKED_PER_BYTE * len(archive), _Counted.bytes
    assert events
    _check(events)
    if len(events) > 1:
        middle = events[len(events) // 2]
        if middle.source == str(_PATH):
            rest = zoo.read_all(_PATH, middle.next_offset, _LIMITS, middle.doubt)
            assert _told(rest) == _told(events[len(events) // 2 + 1 :])
    _check(_ended(_piped(archive)))


def _ended(events: object) -> list[reading.Found]:
    """All events; a reader that goes round in circles never comes to an end."""
    found = list(islice(events, 10_000))  # type: ignore[call-overload]
    assert len(found) < 10_000
    return found


def _piped(archive: bytes) -> object:
    """The same bytes, as they come out of a pipe."""
    view = views.Window(io.BytesIO(archive).read)
    told = Reading(str(_PATH), zoo.SCHEME, _LIMITS, lambda: zoo.NOW)
    return reading._read_view(view, 0, 0, told)


def _check(events: list[reading.Found]) -> None:
    for event in events:
        assert [event.page, event.skipped, event.damage].count(None) == 2
        assert event.damage is None or event.damage.reason in REASONS
        assert event.skipped is None or event.skipped in SKIPPED
    for before, after in pairwise(event for event in events if event.source == str(_PATH)):
        assert before.offset != before.next_offset
        assert before.next_offset & _MASK <= after.offset & _MASK


def _told(events: list[reading.Found]) -> list[object]:
    return [(event.page, event.skipped, event.damage) for event in events]


if __name__ == "__main__":
    corpus = next((Path(word) for word in sys.argv[1:] if not word.startswith("-")), None)
    if corpus is not None:
        corpus.mkdir(parents=True, exist_ok=True)
        for number, specimen in enumerate(zoo.ZOO.values()):
            (corpus / f"zoo-{number}").write_bytes(b"\0" + specimen.data[:4096])
        crawl = [zoo.response(zoo.A), zoo.response(zoo.B, length=9), zoo.info()]
        for how in range(4):
            (corpus / f"crawl-{how}").write_bytes(bytes([how]) + _NEXT.join(crawl))
    atheris.Setup(sys.argv, once)
    atheris.Fuzz()
