"""The fast path: FastWARC over a gzipped WARC with a member per record, as long as all is well.

FastWARC passes over damage without a word, so nothing of it is believed: a record counts only if
another one was found after it, and the size in the trailer before that one is exactly what this
one's header says that it decompresses to. At the first for which that does not hold, reading
is handed over, at that record, to the path that looks closely.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import BinaryIO, NamedTuple, cast

from fastwarc.warc import ArchiveIterator, WarcRecord

from reusewatch.crawler.archives.framing import Record
from reusewatch.crawler.archives.judging import PAGE_KINDS, judge
from reusewatch.crawler.archives.usual import Way, usual_page, way_of
from reusewatch.crawler.compression.views import InMemory, OnDisk
from reusewatch.crawler.pages.archive_events import Found, Reading

_TRAILER = 4


class _Pieces:
    """What FastWARC reads of: a file from a place on. The piece that it had last is kept, as the
    trailer of the member before stands in it but for one of many."""

    def __init__(self, descriptor: int, start: int) -> None:
        self._descriptor = descriptor
        self._piece = b""
        self._begin = self._end = start

    def read(self, size: int) -> bytes:
        """The next piece. Not FastWARC's own file: after a seek that one tells wrong positions."""
        self._piece = os.pread(self._descriptor, size, self._end)
        self._begin, self._end = self._end, self._end + len(self._piece)
        return self._piece

    def tell(self) -> int:
        """How far it was read."""
        return self._end

    def number(self, at: int) -> int:
        """The last number of the trailer of a member that ends there."""
        begin = at - _TRAILER - self._begin
        if begin >= 0:
            return int.from_bytes(self._piece[begin : begin + _TRAILER], "little")
        return int.from_bytes(os.pread(self._descriptor, _TRAILER, at - _TRAILER), "little")


class Pending(NamedTuple):
    """A record that is believed once its member's end is known."""

    way: Way
    values: tuple[str, ...]
    asked: tuple[str, ...]
    size: int
    block: bytes
    length: int

    def judged(self, offset: int, end: int, reading: Reading) -> Found:
        """What it is, between these offsets."""
        if self.way.is_usual:
            found = usual_page(self.asked, self.block, offset, end, reading)
            if found is not None:
                return found
        fields = dict(zip(self.way.names, self.values, strict=False))
        return judge(Record(fields, offset, end, InMemory(self.block), 0, self.length), reading)


def read_fast(view: OnDisk, start: int, reading: Reading) -> Generator[Found, None, int]:
    """Records from an offset on. Returns where the other path has to take over."""
    base, most = view.base, reading.limits.max_record_bytes
    pieces = _Pieces(view.fd, base + start)
    pending: Pending | None = None
    # Where the first record stands that was not yielded.
    resume = start
    try:
        # Anything with `read` and `tell` will do.
        for record in ArchiveIterator(cast(BinaryIO, pieces), parse_http=False):
            offset = record.stream_pos - base
            # Two records in one member: the size before the second is that of an earlier member.
            if pending is not None and offset > resume:
                if pieces.number(base + offset) != pending.size & 0xFFFFFFFF:
                    return resume
                found = pending.judged(resume, offset, reading)
                resume = offset
                yield found
            if offset != resume:
                return resume
            pending = pending_of(record, most)
            if pending is None:
                return resume
    except (OSError, ValueError):
        # Whatever it is, the other path says what.
        return resume
    # FastWARC ends in the same way at the end and at garbage: the last record is never believed.
    return resume


def pending_of(record: WarcRecord, most: int) -> Pending | None:
    """What there is of a record; None if it needs a closer look in any case."""
    headers, length = record.headers, record.content_length
    names, values = zip(*headers.to_tuples(), ("", ""), strict=True)
    way = way_of(names)
    if way is None or length > most:
        return None
    asked = way.ask(values)
    if asked[0] != str(length):
        return None
    # As they stand in the file if they are written plainly; if not, the sizes do not agree.
    head = way.plain + len("".join(values))
    size = len(headers.status_line or "") + 2 + head + 2 + length + 4
    if asked[1].lower() not in PAGE_KINDS:
        return Pending(way, values, asked, size, b"", length)
    block = record.reader.read()
    return Pending(way, values, asked, size, block, length) if len(block) == length else None
