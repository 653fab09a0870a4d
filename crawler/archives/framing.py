"""Where records start and end in a run of bytes, and where the next one starts after damage.

A record is a head that names the length of its block. The length is believed if it leads to where
a record can begin; then nothing inside the block is looked at, since a page that holds the text of
a record would otherwise forge one. Only where a length leads nowhere is the next head searched for
from inside the block, so that a lying length swallows nothing. Who wrote what is found so nobody
knows: a `Break` says how far to doubt.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from reusewatch.crawler.compression.views import InMemory, View
from reusewatch.crawler.pages.archive_events import Limits

# As an offset up to which records are doubted: all that follow.
ALL = 1 << 62
_SEARCH = 1 << 18
_LONGEST = 8192
_FIRST = 4096
# An ARC's head is one line with a URL in it: that long it may be.
_OVERLAP = 1 << 15


@dataclass(frozen=True, slots=True)
class Head:
    """A record's head: its fields in WARC's words, its own length, its block's."""

    fields: dict[str, str]
    length: int
    block_length: int | None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How WARC, or ARC, writes a record."""

    name: str
    # The head at the start of these bytes; None where there is none.
    parse: Callable[[bytes], Head | None]
    # What a head's first bytes are, at a glance, and what it starts with when it is looked at.
    opening: re.Pattern[bytes]
    start: re.Pattern[bytes]
    # What stands after a block.
    trailer: re.Pattern[bytes]


class Record(NamedTuple):
    """A record whose length is right; its block is read when it is asked for."""

    fields: dict[str, str]
    offset: int
    next_offset: int
    view: View
    start: int
    length: int

    def read(self, limit: int) -> bytes:
        """The block, or the start of it."""
        return self.view.at(self.start, min(self.length, limit))


class Break(NamedTuple):
    """Bytes that are no sound record."""

    reason: str
    detail: str
    offset: int
    next_offset: int
    url: str | None = None
    # Records that begin before this offset may be forged: they were searched for, not reached.
    doubt: int = ALL


Ahead = Callable[[int], int]
"""From an offset on, where a record begins that is written in another way: a search ends there."""


def nothing_ahead(offset: int) -> int:
    """All records are written in the same way."""
    return ALL


def piece_at(
    view: View, offset: int, dialect: Dialect, limits: Limits, ahead: Ahead = nothing_ahead
) -> Record | Break | None:
    """The record or break at an offset, after blank lines; None at the end."""
    offset = skip_blank(view, offset)
    view.forget(offset)
    if not view.at(offset, 1):
        return None
    head = head_at(view, offset, dialect, limits)
    if head is None:
        return _garbage(view, offset, dialect, ahead)
    if head.block_length is None:
        after = search(view, offset + 1, dialect, ahead(offset + 1))
        return Break("bad-header", "no Content-Length", offset, after, url_of(head))
    return _framed(view, offset, head, dialect, limits, ahead)


def head_at(view: View, offset: int, dialect: Dialect, limits: Limits) -> Head | None:
    """The head at an offset. Most fit the first read."""
    data = view.at(offset, _FIRST)
    head = dialect.parse(data)
    if head is None and len(data) == _FIRST:
        head = dialect.parse(view.at(offset, limits.max_header_bytes))
    return head


def _garbage(view: View, offset: int, dialect: Dialect, ahead: Ahead) -> Break:
    begin = view.at(offset, 48)
    after = search(view, offset + 1, dialect, ahead(offset + 1))
    return Break("garbage", f"{after - offset} bytes that are no record: {begin!r}", offset, after)


def _framed(
    view: View, offset: int, head: Head, dialect: Dialect, limits: Limits, ahead: Ahead
) -> Record | Break:
    length = head.block_length or 0
    start = offset + head.length
    if length > limits.max_record_bytes and not view.seekable:
        return _passed_over(view, offset, start, head, dialect, limits)
    if length and not view.at(start + length - 1, 1):
        return _cut_short(view, offset, start, head, dialect, ahead)
    landing = _landing(view, start + length, dialect)
    if landing is not None:
        return Record(head.fields, offset, landing, view, start, length)
    after = search(view, start, dialect, ahead(start))
    detail = f"Content-Length {length} does not lead to the next record"
    return Break("bad-length", detail, offset, after, url_of(head))


def _passed_over(
    view: View, offset: int, start: int, head: Head, dialect: Dialect, limits: Limits
) -> Record | Break:
    """A block of a stream that is too long to be kept: its start is, the rest is read past.

    To search in it instead would let any page of this size write the archive's next records.
    """
    length = head.block_length or 0
    kept = view.at(start, limits.max_record_bytes)
    if len(kept) < limits.max_record_bytes:
        return _cut_short(view, offset, start, head, dialect, nothing_ahead)
    # The last byte stays: whether a line begins behind it is asked where the length leads nowhere.
    view.skip(start + length - 1)
    if not view.at(start + length - 1, 1):
        detail = f"{view.start - start} bytes of {length}, which were passed over"
        return Break("truncated", detail, offset, view.start, url_of(head))
    landing = _landing(view, start + length, dialect)
    if landing is not None:
        return Record(head.fields, offset, landing, InMemory(kept), 0, length)
    after = search(view, start + length, dialect)
    detail = f"Content-Length {length} does not lead to a record; so much was passed over"
    return Break("bad-length", detail, offset, after, url_of(head))


def _cut_short(
    view: View, offset: int, start: int, head: Head, dialect: Dialect, ahead: Ahead
) -> Break:
    """A block that reaches past the end: a lie if another record follows, else truncation."""
    after = search(view, start, dialect, ahead(start))
    if view.at(after, 1):
        detail = f"Content-Length {head.block_length} reaches past the end and over other records"
        return Break("bad-length", detail, offset, after, url_of(head))
    detail = f"{after - start} bytes of {head.block_length}"
    return Break("truncated", detail, offset, after, url_of(head))


def _landing(view: View, end: int, dialect: Dialect) -> int | None:
    """Where reading goes on after a block; None where its length cannot be right."""
    trailer = dialect.trailer.match(view.at(end, 8))
    if trailer:
        return end + trailer.end()
    # Nothing is forgotten here: the block is read after this, or searched. So no more line ends are
    # looked at than a window may keep; behind that many, whatever follows is the next piece.
    blank = view.at(end, _OVERLAP)
    rest = blank.lstrip(b"\r\n")
    after = end + len(blank) - len(rest)
    data = view.at(after, _OVERLAP) if rest else b""
    return after if not data or dialect.start.match(data) else None


def skip_blank(view: View, offset: int) -> int:
    """The first offset that holds no line end. What lies before it may be forgotten."""
    size = 64
    while data := view.at(offset, size):
        rest = data.lstrip(b"\r\n")
        offset += len(data) - len(rest)
        if rest:
            break
        view.forget(offset)
        size = _SEARCH
    return offset


def search(view: View, offset: int, dialect: Dialect, until: int = ALL) -> int:
    """Where the next head that parses starts, at the start of a line; the end if there is none.

    Where none begins before `until`, that is the answer, and nothing behind it is given up.
    """
    # A line starts after a line end: the byte before is looked at too.
    offset = max(offset - 1, 0)
    # Little first: of damage that comes in pieces each is searched from.
    size = _FIRST
    while True:
        data = view.at(offset, size)
        found = _head_in(data, dialect)
        if found is not None:
            return min(offset + found, until)
        if len(data) < size:
            return min(offset + len(data), until)
        if size == _SEARCH:
            offset += _SEARCH - _OVERLAP
            if offset >= until:
                return until
            view.forget(offset)
        size = min(8 * size, _SEARCH)


def _head_in(data: bytes, dialect: Dialect) -> int | None:
    """The first head in these bytes. Each byte is parsed once: no head holds another's start."""
    starts = re.compile(rb"\n(?=" + dialect.start.pattern + rb")").finditer(data)
    at = next(starts, None)
    while at is not None:
        then = next(starts, None)
        end = then.end() if then else len(data)
        if dialect.parse(data[at.end() : min(end, at.end() + _LONGEST)]) is not None:
            return at.end()
        at = then
    return None


def url_of(head: Head) -> str | None:
    """The URL that a head names."""
    return head.fields.get("warc-target-uri")
