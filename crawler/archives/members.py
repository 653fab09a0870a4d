"""Compressed members: what one gzip member, or one zstd frame, decompresses to, and where it ends.

Nothing is decompressed without a bound. A member that is cut short or corrupt is a value that
says so, since the members after it are still to be read.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from reusewatch.crawler.archives.framing import Dialect, nothing_ahead
from reusewatch.crawler.compression import frames
from reusewatch.crawler.compression.views import STEP, InMemory, View

_OUT = 1 << 18
# Bytes of a member that are read before it has given any.
_LOOK = 1 << 14
MAX_DICTIONARY = 8 << 20
# First bytes of compressed data that name a block type that there is none of.
_NO_BLOCK = b"".join(b"\\x%02x" % byte for byte in range(256) if byte >> 1 & 3 == 3)
# Longest head that is searched for, and what the first look at a candidate takes in.
_HEAD = 16
_GLANCE = 512
# So little is handed over at a time where what is broken is undone up to the break.
_CRUMB = 16
State = Literal["whole", "truncated", "corrupt", "too-large"]


@dataclass(frozen=True, slots=True)
class Member:
    """The data of one member, as far as it is kept, and how it ended."""

    data: bytes
    size: int
    end: int
    state: State
    detail: str = ""


class Flaw(Exception):
    """A member that does not decompress to its end; what came before has been yielded."""

    def __init__(self, state: State, detail: str) -> None:
        super().__init__(detail)
        self.state = state
        self.detail = detail


class Codec(Protocol):
    """A way to compress an archive member by member."""

    name: str
    magic: bytes
    # How a member's head begins, strictly: what is searched for after damage.
    head: re.Pattern[bytes]
    # What keeps all members from being read.
    trouble: str | None

    def pieces(self, view: View, offset: int) -> Iterator[tuple[bytes, int]]:
        """What the member at an offset decompresses to, each piece with how far was read.

        The last piece comes with where the member ends. Raises Flaw.
        """
        ...

    def begin(self, view: View, offset: int, size: int, look: int) -> bytes:
        """The first `size` bytes at most of what `look` bytes there decompress to."""
        ...

    def begin_of_broken(self, view: View, offset: int, size: int, look: int) -> bytes:
        """The same, also where what comes next is broken."""
        ...


class Gzip:
    """gzip members (RFC 1952)."""

    name = "gzip"
    magic = b"\x1f\x8b\x08"
    # Reserved flags are 0, the extra flags name a level, and no first block is of type 3 (RFC 1951,
    # §3.2.3). Each candidate costs a decompressor, and a file of mere magic has millions.
    head = re.compile(
        rb"\x1f\x8b\x08(?:\x00.{4}[\x00\x02\x04].[^%b]|[\x01-\x1f].{4}[\x00\x02\x04])" % _NO_BLOCK,
        re.DOTALL,
    )
    trouble: str | None = None

    def pieces(self, view: View, offset: int) -> Iterator[tuple[bytes, int]]:
        """What the member at an offset decompresses to."""
        inflate = zlib.decompressobj(31)
        begin, first, data = offset, True, b""
        # Small first: most members of an archive are, and what follows one is read again.
        step = _LOOK
        while not inflate.eof:
            if not data:
                data = view.at(offset, step)
                offset += len(data)
                step = min(2 * step, STEP)
            try:
                out = inflate.decompress(data, _OUT)
            except zlib.error as error:
                if first:
                    yield _before_flaw(data, _OUT), begin
                raise Flaw("corrupt", f"gzip: {error}") from error
            first = False
            if not out and not data and not inflate.eof:
                raise Flaw("truncated", "the file ends inside a gzip member")
            data = inflate.unconsumed_tail
            yield out, offset - len(inflate.unused_data)

    def begin(self, view: View, offset: int, size: int, look: int) -> bytes:
        """The first bytes of the member at an offset."""
        inflate = zlib.decompressobj(31)
        try:
            # Of most members a little is all: what follows one would be read for nothing.
            begin = inflate.decompress(view.at(offset, min(look, _LOOK)), size)
            if look <= _LOOK or inflate.eof:
                return begin
            return zlib.decompressobj(31).decompress(view.at(offset, look), size)
        except zlib.error:
            return b""

    def begin_of_broken(self, view: View, offset: int, size: int, look: int) -> bytes:
        """The first bytes of a member that may break after them: slower, for one member."""
        return self.begin(view, offset, size, look) or _before_flaw(view.at(offset, look), size)


def _before_flaw(data: bytes, size: int) -> bytes:
    """What the start of a broken member still gives: an error takes all of a call's output away.

    Without it nobody knows which record is damaged, and how far to doubt what follows.
    """
    inflate, out = zlib.decompressobj(31), bytearray()
    try:
        for at in range(0, len(data), _CRUMB):
            out += inflate.decompress(data[at : at + _CRUMB], size)
            if len(out) >= size:
                break
    except zlib.error:
        pass
    return bytes(out[:size])


class Zstd:
    """zstd frames, with the dictionary that the first frame may hold."""

    name = "zstd"
    magic = frames.MAGIC
    head = re.compile(re.escape(frames.MAGIC))

    def __init__(self, view: View) -> None:
        self.trouble: str | None = None
        words = None
        try:
            words = dictionary_of(view)
        except TooLargeDictionary as error:
            self.trouble = str(error)
        self._decoder = frames.decoder_with(words)

    def pieces(self, view: View, offset: int) -> Iterator[tuple[bytes, int]]:
        """What the frame at an offset decompresses to."""
        try:
            yield from frames.frame_pieces(view, offset, self._decoder)
        except frames.CutShort as error:
            raise Flaw("truncated", f"zstd: {error}") from error
        except frames.NotAFrame as error:
            raise Flaw("corrupt", f"zstd: {error}") from error

    def begin(self, view: View, offset: int, size: int, look: int) -> bytes:
        """The first bytes of the frame at an offset. A block gives at most 128 KiB."""
        out = b""
        try:
            for data, end in self.pieces(view, offset):
                out += data
                if len(out) >= size or end - offset >= look:
                    break
        except Flaw:
            pass
        return out[:size]

    # A frame gives what its blocks give, up to the broken one.
    begin_of_broken = begin


class TooLargeDictionary(ValueError):
    """A dictionary that decompresses to more than `MAX_DICTIONARY`."""


def dictionary_of(view: View) -> bytes | None:
    """The dictionary of a .warc.zst: the content of its first frame, itself compressed or not.

    None where there is none, or a broken one: what needs it is then found to be corrupt. Writers
    make dictionaries of about 100 KiB. Raises TooLargeDictionary.
    """
    begin = view.at(0, 8)
    if begin[:4] != frames.DICTIONARY_MAGIC:
        return None
    size = int.from_bytes(begin[4:], "little")
    content = view.at(8, min(size, MAX_DICTIONARY))
    if not content.startswith(frames.MAGIC):
        return content
    out = bytearray()
    try:
        for data, _ in frames.frame_pieces(InMemory(content), 0, frames.decoder_with()):
            out += data
            # 32 KB of frames decompress to a gigabyte.
            if len(out) > MAX_DICTIONARY:
                raise TooLargeDictionary(f"its dictionary takes more than {MAX_DICTIONARY} bytes")
        return bytes(out)
    except (frames.NotAFrame, frames.CutShort):
        return None


def member_at(
    codec: Codec, view: View, offset: int, keep: int, allow: Callable[[bytes], int]
) -> Member:
    """The member at an offset. `keep` bytes of it are kept; `allow` says how many there may be."""
    parts: list[bytes] = []
    size, end = 0, offset
    allowed: int | None = None
    try:
        for data, end in codec.pieces(view, offset):
            size += len(data)
            if size - len(data) < keep:
                parts.append(data)
            elif allowed is None:
                allowed = allow(b"".join(parts))
            if allowed is not None and size > allowed:
                detail = f"more than {allowed} bytes once {codec.name} is undone"
                return Member(b"".join(parts), size, end, "too-large", detail)
            # What is not kept is not looked at again either: memory stays bounded.
            if end - offset > keep:
                view.forget(end)
    except Flaw as flaw:
        return Member(b"".join(parts), size, end, flaw.state, flaw.detail)
    return Member(b"".join(parts), size, end, "whole")


def begins(codec: Codec, view: View, offset: int, size: int, look: int = _LOOK) -> bytes:
    """The first bytes of the member at an offset; fewer if it is short, or is none.

    Something that takes in much and gives nothing is none.
    """
    return codec.begin_of_broken(view, offset, size, max(look, size))


class MembersAhead:
    """Where the next member that begins with a record stands: looked for once for all who ask from
    before it, or damage in pieces would have the rest of an archive searched for each of them."""

    def __init__(self, codec: Codec, view: View, dialect: Dialect) -> None:
        self._codec, self._view, self._dialect = codec, view, dialect
        self._looked_from = self._at = -1

    def __call__(self, offset: int) -> int:
        """From this offset on; the end if there is none. A stream would forget what it searches:
        there, none is known."""
        if not self._view.seekable:
            return nothing_ahead(offset)
        if not self._looked_from <= offset <= self._at:
            self._looked_from = offset
            self._at = next_member(self._codec, self._view, offset, self._dialect)
        return self._at


def next_member(codec: Codec, view: View, offset: int, dialect: Dialect | None) -> int:
    """Where the next member starts that begins with a record, or with anything; else the end."""
    while True:
        data = view.at(offset, STEP)
        for match in codec.head.finditer(data):
            at = offset + match.start()
            # A glance first: there may be millions of candidates, and few begin as an archive does.
            glance = codec.begin(view, at, 64, _GLANCE).lstrip(b"\r\n")
            if dialect is None and glance:
                return at
            if dialect is not None and dialect.opening.match(glance):
                begin = codec.begin(view, at, 4096, _LOOK).lstrip(b"\r\n")
                if dialect.start.match(begin):
                    return at
        if len(data) < STEP:
            return offset + len(data)
        offset += STEP - _HEAD
        view.forget(offset)
