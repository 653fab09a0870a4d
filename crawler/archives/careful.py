"""Reading records one after the other, carefully: damage is named, and what follows it is read.

Three shapes of archive: records as they are; one compressed member per record; and one member,
or any members, around the whole, read as the records they decompress to.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from msgspec.structs import replace

from reusewatch.crawler.archives.arc import ARC
from reusewatch.crawler.archives.covering import covered_in
from reusewatch.crawler.archives.doubt import INDEX_BIT, salvaged
from reusewatch.crawler.archives.framing import (
    ALL,
    Ahead,
    Break,
    Dialect,
    Head,
    Record,
    head_at,
    nothing_ahead,
    piece_at,
    search,
    url_of,
)
from reusewatch.crawler.archives.judging import found_of
from reusewatch.crawler.archives.members import Codec, Flaw, Member, member_at, next_member
from reusewatch.crawler.compression.views import InMemory, View, Window
from reusewatch.crawler.pages.archive_events import Found, Reading

_OFFSET_MASK = (1 << INDEX_BIT) - 1


def read_plain(
    view: View,
    start: int,
    dialect: Dialect,
    reading: Reading,
    *,
    until: bytes | None = None,
    ahead: Ahead = nothing_ahead,
) -> Generator[Found, None, int]:
    """The records of an archive that is not compressed, up to one that begins with `until`; where
    damage is searched, up to what is `ahead`. Returns the offset after the last one that was
    read."""
    offset = start
    while (
        not begins_with(view, offset, until)
        and (piece := piece_at(view, offset, dialect, reading.limits, ahead)) is not None
    ):
        found = found_of(piece, reading)
        if isinstance(piece, Record) and _is_wrong(found):
            # A length that leads exactly to a later record has swallowed those between. Where the
            # answer says where its body ends, nothing of that body is taken for a record.
            block = piece.read(reading.limits.max_record_bytes)
            begin = covered_in(block, arc=dialect is ARC) or 0
            inner = search(view, piece.start + begin, dialect, piece.next_offset)
            found = replace(found, next_offset=inner, doubt=piece.next_offset)
        yield found
        offset = found.next_offset
    return offset


def begins_with(view: View, offset: int, magic: bytes | None) -> bool:
    """Whether a record that is written in another way begins there."""
    return magic is not None and view.at(offset, len(magic)) == magic


def _is_wrong(found: Found) -> bool:
    return found.damage is not None and found.damage.reason in ("wrong-digest", "bad-length")


class _Unpacked:
    """What all members of an archive decompress to, one after the other."""

    def __init__(self, codec: Codec, view: View) -> None:
        self.codec = codec
        self.view = view
        self.at = 0
        self.flaw: Flaw | None = None
        # How many bytes were read before the first flaw.
        self.sound = ALL
        self._given = 0
        self._pieces = codec.pieces(view, 0)

    def read(self, _size: int) -> bytes:
        """The next bytes; none at the end. A broken member ends where it breaks."""
        while True:
            try:
                data, self.at = next(self._pieces)
            except StopIteration:
                if not self.view.at(self.at, 1):
                    return b""
                self._pieces = self.codec.pieces(self.view, self.at)
                continue
            except Flaw as flaw:
                self.flaw = flaw
                self.sound = min(self.sound, self._given)
                self._resync()
                continue
            self.view.forget(self.at)
            self._given += len(data)
            if data:
                return data

    def _resync(self) -> None:
        begin = max(self.at + 1, self.view.start)
        self.at = next_member(self.codec, self.view, begin, None)
        self._pieces = (
            self.codec.pieces(self.view, self.at) if self.view.at(self.at, 1) else iter(())
        )


def read_whole(
    view: View, start: int, codec: Codec, dialect: Dialect, reading: Reading
) -> Iterator[Found]:
    """The records of an archive whose members do not fit its records, by decompressed offsets."""
    unpacked = _Unpacked(codec, view)
    window = Window(unpacked.read, lambda: unpacked.at)
    window.skip(start)
    is_told = window.start < start
    end = start
    for found in read_plain(window, start, dialect, reading):
        end = found.next_offset
        is_told = found.damage is not None and not window.at(end, 1)
        # A record that goes on past a flaw is made of two, and what follows was searched for.
        doubt = ALL if end > unpacked.sound else found.doubt
        # Past the end, so that reading on from here does not tell of a broken member again.
        yield replace(found, next_offset=end + is_told, position=window.position(), doubt=doubt)
    if unpacked.flaw and not is_told:
        yield reading.damage(unpacked.flaw.state, unpacked.flaw.detail, end, end + 1)


def read_members(
    view: View,
    start: int,
    codec: Codec,
    dialect: Dialect,
    reading: Reading,
    *,
    most: int | None = None,
    until: bytes | None = None,
) -> Generator[Found, None, int]:
    """The records of an archive with a member for each; of `most` members at most, up to a place
    that begins with `until`.

    Returns the offset after the last one that was read.
    """
    offset, index = start & _OFFSET_MASK, start >> INDEX_BIT
    while view.at(offset, 1) and (most is None or most > 0):
        if begins_with(view, offset, until):
            break
        end, pieces = _member_pieces(view, offset, codec, dialect, reading)
        broken = _first_break(pieces)
        for number, piece in enumerate(pieces[index:], index):
            here = offset | number << INDEX_BIT
            after = offset | (number + 1) << INDEX_BIT if number + 1 < len(pieces) else end
            found = found_of(piece._replace(offset=here, next_offset=after), reading)
            # What stands behind damage in a member was searched for.
            found = salvaged(found) if number > broken else found
            # Where there are several, offsets say which of them, too, and are no bytes read.
            yield replace(found, position=view.position()) if len(pieces) > 1 else found
        offset, index = end, 0
        most = None if most is None else most - 1
        view.forget(offset)
    return offset


def _first_break(pieces: list[Record | Break]) -> int:
    breaks = (number for number, piece in enumerate(pieces) if isinstance(piece, Break))
    return next(breaks, len(pieces))


def _member_pieces(
    view: View, offset: int, codec: Codec, dialect: Dialect, reading: Reading
) -> tuple[int, list[Record | Break]]:
    """Where reading goes on after the member at an offset, and what it holds."""
    limits = reading.limits

    def allow(data: bytes) -> int:
        head = dialect.parse(data[: limits.max_header_bytes])
        return head.length + (head.block_length or 0) + 4096 if head else len(data)

    keep = limits.max_record_bytes + limits.max_header_bytes
    # Now: once the next member was searched for, a stream has forgotten these.
    begin_bytes = view.at(offset, 48)
    member = member_at(codec, view, offset, keep, allow)
    if member.state == "whole":
        # The next member begins where this one ends, whatever stands in it.
        return member.end, [
            piece._replace(doubt=0) if isinstance(piece, Break) else piece
            for piece in _whole_pieces(member, dialect, reading)
        ]
    begin = max(offset + 1, view.start)
    end = next_member(codec, view, begin, dialect)
    if not begin_bytes.startswith(codec.magic):
        detail = f"{end - offset} bytes that are no record: {begin_bytes!r}"
        return end, [Break("garbage", detail, 0, 0)]
    return end, _broken_pieces(member, offset, dialect, reading)


def _whole_pieces(member: Member, dialect: Dialect, reading: Reading) -> list[Record | Break]:
    if member.size > len(member.data):
        return [_large(member, dialect, reading)]
    pieces = list(_pieces(member.data, dialect, reading))
    # The member is whole: what reaches past it lies about its length.
    return [
        piece._replace(reason="bad-length")
        if isinstance(piece, Break) and piece.reason == "truncated"
        else piece
        for piece in pieces
    ]


def _pieces(data: bytes, dialect: Dialect, reading: Reading) -> Iterator[Record | Break]:
    view, offset = InMemory(data), 0
    while (piece := piece_at(view, offset, dialect, reading.limits)) is not None:
        yield piece
        offset = piece.next_offset


def _large(member: Member, dialect: Dialect, reading: Reading) -> Record | Break:
    """A record of which only the start is kept; its length was counted."""
    view = InMemory(member.data)
    head = head_at(view, 0, dialect, reading.limits)
    if head is None or head.block_length is None:
        return Break("garbage", f"{member.size} bytes that are no record", 0, 0)
    if not 0 <= member.size - head.length - head.block_length <= 4:
        detail = f"Content-Length {head.block_length} in a member of {member.size} bytes"
        return Break("bad-length", detail, 0, 0, url_of(head))
    return Record(head.fields, 0, 0, view, head.length, head.block_length)


def _broken_pieces(
    member: Member, offset: int, dialect: Dialect, reading: Reading
) -> list[Record | Break]:
    """What stands before the break is sound; the record that it is in is not."""
    pieces = list(_pieces(member.data, dialect, reading)) if member.state != "too-large" else []
    head: Head | None = dialect.parse(member.data[: reading.limits.max_header_bytes])
    is_one = head is not None and len(pieces) < 2
    url = url_of(head) if head and is_one else None
    doubt = offset + _packed_at_most(head) if head and is_one and pieces else ALL
    return [*pieces[:-1], Break(member.state, member.detail, 0, 0, url, doubt)]


def _packed_at_most(head: Head) -> int:
    """Bytes that the member of a record takes at most: up to there a page may have written them.

    What cannot be compressed is stored as it is, with a few bytes for each block, and a page may
    choose to be such that a member of its own making stands in the archive byte by byte.
    """
    size = head.length + (head.block_length or 0)
    return size + size // 8 + 4096
