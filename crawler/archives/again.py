"""One record of an archive, read again where it stands: for evidence, which reads few of many.

Of a gzip member that holds one WARC record nothing else is looked at, neither the archive's shape
nor the record before. Whatever is not exactly that is left to `reading`, which looks closely.

Who knows the hash of what the record held needs no more than its body: neither its digests nor its
member's end are looked at then, since the hash says all that they do.
"""

from __future__ import annotations

import os
import zlib

from reusewatch.crawler.archives.fast import unpacked
from reusewatch.crawler.archives.framing import Record, piece_at
from reusewatch.crawler.archives.judging import PAGE_KINDS, judge
from reusewatch.crawler.archives.members import Gzip
from reusewatch.crawler.archives.usual import found_in
from reusewatch.crawler.archives.warc import WARC
from reusewatch.crawler.archives.whole import Ways
from reusewatch.crawler.compression.views import InMemory
from reusewatch.crawler.pages.archive_events import Reading
from reusewatch.streams.records import Page

_GZIP = 16 + zlib.MAX_WBITS
# Most members end within it; what stands behind one is read and copied for nothing.
_STEP = 1 << 14
# Of a larger one so much is read at once; what is larger still is left to the careful path.
_LARGE = 1 << 17


def member_again(offset: int, reading: Reading) -> Page | None:
    """The page of the record that is the member at this offset; None if it needs a closer look."""
    try:
        data = _member(reading.source, offset, reading.limits.max_record_bytes)
    except (OSError, ValueError, OverflowError, zlib.error):
        return None
    if data is None:
        return None
    piece = piece_at(InMemory(data), 0, WARC, reading.limits)
    if not isinstance(piece, Record) or piece.next_offset != len(data):
        return None
    if piece.fields.get("warc-type", "").strip().lower() not in PAGE_KINDS:
        return None
    return judge(piece._replace(offset=offset, next_offset=offset + 1), reading).page


def known_again(descriptor: int, offset: int, reading: Reading, ways: Ways) -> Page | None:
    """The page of the record that begins at this offset, unverified: for who knows its hash. None
    if it needs a closer look."""
    for step in (_STEP, _LARGE):
        packed = os.pread(descriptor, step, offset)
        if not packed.startswith(Gzip.magic):
            return None
        end = packed.find(Gzip.magic, 1)
        if end < 0 and len(packed) < step:
            end = len(packed)
        data = None if end < 0 else unpacked(packed, 0, end, reading.limits.max_record_bytes)
        if data is not None:
            whole = ways.whole(data)
            return None if whole is None else found_in(whole, offset, offset + 1, reading).page
    return None


def _member(path: str, offset: int, most: int) -> bytes | None:
    """What the member decompresses to, if it is sound and holds no more than `most`."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        data = os.pread(descriptor, _STEP, offset)
        if not data.startswith(Gzip.magic):
            return None
        member, parts, size = zlib.decompressobj(_GZIP), list[bytes](), 0
        while data:
            parts.append(member.decompress(data, most + 1 - size))
            size += len(parts[-1])
            if member.eof:
                return b"".join(parts)
            if size > most:
                return None
            offset += _STEP
            data = os.pread(descriptor, _STEP, offset)
        return None
    finally:
        os.close(descriptor)
