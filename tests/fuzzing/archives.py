"""The archive reader: nothing raises, reading ends, and goes on from each offset as it would have.

The first byte of an input says how the rest is packed, so that what stands inside members is
reached as well. Windows are made small, so that a few thousand bytes are enough for a reader to
look back behind one.
"""

from __future__ import annotations

import gzip
import io
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from unittest.mock import patch

import zstandard

from reusewatch.crawler.archives import framing, members, reading
from reusewatch.crawler.compression import views
from reusewatch.crawler.errors import REASONS
from reusewatch.crawler.pages.archive_events import SKIPPED, Limits, Reading
from tests.crawler.archives import zoo

# Deflate makes a thousand bytes of one, and each may be part of a record.
SLOWER = 150
_LIMITS = Limits(max_body_bytes=4096, max_record_bytes=20_000, max_header_bytes=4096)
_PATH = Path(tempfile.mkdtemp()) / "x"
_NEXT = b"\x00NEXT\x00"
_MASK = (1 << reading.INDEX_BIT) - 1
# What a reader may ask a view for, in bytes: so much for a byte of the archive, and at all.
_ASKED_PER_BYTE, _ASKED = 400, 4 << 20


class _Counted:
    """Counts the bytes that files are asked for."""

    bytes = 0
    at = views.OnDisk.at


def _counting(view: views.OnDisk, offset: int, length: int) -> bytes:
    found = _Counted.at(view, offset, length)
    _Counted.bytes += len(found)
    return found


@contextmanager
def _small() -> Iterator[None]:
    """Windows of a few hundred bytes; what is asked of files is counted."""
    with (
        patch.object(views, "STEP", 512), patch.object(members, "STEP", 512),
        patch.object(framing, "_SEARCH", 2048), patch.object(framing, "_OVERLAP", 512),
        patch.object(views.OnDisk, "at", _counting),
    ):  # fmt: skip
        yield


def seeds() -> Iterator[bytes]:
    """The zoo of archives, sound and damaged, and a crawl packed in each way."""
    for specimen in zoo.ZOO.values():
        yield b"\0" + specimen.data[:4096]
    crawl = [zoo.response(zoo.A), zoo.response(zoo.B, length=9), zoo.info()]
    for how in range(4):
        yield bytes([how]) + _NEXT.join(crawl)


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
    """Events are of closed sets, in order, and the same from any offset on."""
    with _small():
        _once(packed(data))


def _once(archive: bytes) -> None:
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


def _ended(events: Iterable[reading.Found]) -> list[reading.Found]:
    """All events; a reader that goes round in circles never comes to an end."""
    found = list(islice(events, 10_000))
    assert len(found) < 10_000
    return found


def _piped(archive: bytes) -> Iterable[reading.Found]:
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
