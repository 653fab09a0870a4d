"""The fast path: FastWARC over a gzipped WARC with a member per record, as long as all is well.

FastWARC passes over damage without a word, so nothing of it is believed: a record counts only if
another one was found after it, and the size in the trailer before that one is exactly what this
one's header says that it decompresses to. At the first for which that does not hold, reading
is handed over, at that record, to the path that looks closely.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from functools import lru_cache
from typing import NamedTuple

from fastwarc.warc import ArchiveIterator, WarcRecord

from reusewatch.crawler.archives.framing import Record
from reusewatch.crawler.archives.judging import PAGE_KINDS, judge
from reusewatch.crawler.compression.views import InMemory, OnDisk
from reusewatch.crawler.pages.archive_events import Found, Reading

_TRAILER = 4
# Ways in which archives name the fields of their records: a writer has a few.
_WAYS = 256


class _Pending(NamedTuple):
    """A record that is believed once its member's end is known."""

    fields: dict[str, str]
    offset: int
    size: int
    block: bytes
    length: int


def read_fast(view: OnDisk, start: int, reading: Reading) -> Generator[Found, None, int]:
    """Records from an offset on. Returns where the other path has to take over."""
    pending: _Pending | None = None
    # Where the first record stands that was not yielded.
    resume = start
    try:
        # A file, not FastWARC's own GzipReader: after a seek that one tells wrong positions.
        with open(view.path, "rb") as file:
            file.seek(view.base + start)
            for record in ArchiveIterator(file, parse_http=False):
                offset = record.stream_pos - view.base
                if pending is not None and _is_sound(view, pending, offset):
                    found, resume, pending = _found(pending, offset, reading), offset, None
                    yield found
                if offset != resume:
                    return resume
                pending = _pending(record, offset, reading)
                if pending is None:
                    return resume
    except (OSError, ValueError):
        # Whatever it is, the other path says what.
        return resume
    # FastWARC ends in the same way at the end and at garbage: the last record is never believed.
    return resume


def _pending(record: WarcRecord, offset: int, reading: Reading) -> _Pending | None:
    """What there is of a record; None if it needs a closer look in any case."""
    headers = record.headers
    pairs = headers.to_tuples()
    names, values = zip(*pairs, strict=True) if pairs else ((), ())
    lowered, plain = _lowered(names)
    fields = dict(zip(lowered, values, strict=True))
    length = record.content_length
    if len(fields) != len(pairs) or length > reading.limits.max_record_bytes:
        return None
    if fields.get("content-length") != str(length):
        return None
    # As they stand in the file if they are written plainly; if not, the sizes do not agree.
    head = plain + len("".join(values))
    size = len(headers.status_line or "") + 2 + head + 2 + length + 4
    is_page = fields.get("warc-type", "").lower() in PAGE_KINDS
    block = record.reader.read() if is_page else b""
    if is_page and len(block) != length:
        return None
    return _Pending(fields, offset, size, block, length)


@lru_cache(maxsize=_WAYS)
def _lowered(names: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Names of fields in lower case, and how long their lines are without the values."""
    return tuple(name.lower() for name in names), sum(len(name) + 4 for name in names)


def _is_sound(view: OnDisk, pending: _Pending, end: int) -> bool:
    if end <= pending.offset:
        # Two records in one member: the size before it is that of an earlier member.
        return False
    trailer = os.pread(view.fd, _TRAILER, view.base + end - _TRAILER)
    return int.from_bytes(trailer, "little") == pending.size & 0xFFFFFFFF


def _found(pending: _Pending, end: int, reading: Reading) -> Found:
    view = InMemory(pending.block)
    return judge(Record(pending.fields, pending.offset, end, view, 0, pending.length), reading)
