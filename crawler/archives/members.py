"""Compressed members: what one gzip member, or one zstd frame, decompresses to, and where it ends.

Nothing is decompressed without a bound. A member that is cut short or corrupt is a value that
says so, since the members after it are still to be read.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

import zstandard

from reusewatch.crawler.compression import frames
from reusewatch.crawler.compression.views import STEP, InMemory, View

_OUT = 1 << 18
# Bytes of a member that are read before it has given any.
_LOOK = 1 << 14
_MAX_DICTIONARY = 8 << 20
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

    def pieces(self, view: View, offset: int) -> Iterator[tuple[bytes, int]]:
        """What the member at an offset decompresses to, each piece with how far was read.

        The last piece comes with where the member ends. Raises Flaw.
        """
        ...


class Gzip:
    """gzip members (RFC 1952)."""

    name = "gzip"
    magic = b"\x1f\x8b\x08"

    def pieces(self, view: View, offset: int) -> Iterator[tuple[bytes, int]]:
        """What the member at an offset decompresses to."""
        inflate = zlib.decompressobj(31)
        data = b""
        # Small first: most members of an archive are, and what follows one is read again.
        step = 1 << 14
        while not inflate.eof:
            if not data:
                data = view.at(offset, step)
                offset += len(data)
                step = min(2 * step, STEP)
            out = _inflated(inflate, data)
            if not out and not data and not inflate.eof:
                raise Flaw("truncated", "the file ends inside a gzip member")
            data = inflate.unconsumed_tail
            yield out, offset - len(inflate.unused_data)


def _inflated(inflate: zlib._Decompress, data: bytes) -> bytes:
    try:
        return inflate.decompress(data, _OUT)
    except zlib.error as error:
        raise Flaw("corrupt", f"gzip: {error}") from error


class Zstd:
    """zstd frames, with the dictionary that the first frame may hold."""

    name = "zstd"
    magic = frames.MAGIC

    def __init__(self, view: View) -> None:
        words = dictionary_of(view)
        self._dictionary = zstandard.ZstdCompressionDict(words) if words else None

    def pieces(self, view: View, offset: int) -> Iterator[tuple[bytes, int]]:
        """What the frame at an offset decompresses to."""
        try:
            yield from frames.frame_pieces(view, offset, self._dictionary)
        except frames.CutShort as error:
            raise Flaw("truncated", f"zstd: {error}") from error
        except frames.NotAFrame as error:
            raise Flaw("corrupt", f"zstd: {error}") from error


def dictionary_of(view: View) -> bytes | None:
    """The dictionary of a .warc.zst: the content of its first frame, itself compressed or not."""
    begin = view.at(0, 8)
    if begin[:4] != frames.DICTIONARY_MAGIC:
        return None
    size = int.from_bytes(begin[4:], "little")
    content = view.at(8, min(size, _MAX_DICTIONARY))
    if not content.startswith(frames.MAGIC):
        return content
    try:
        return b"".join(data for data, _ in frames.frame_pieces(InMemory(content), 0))
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


def begins(codec: Codec, view: View, offset: int, size: int) -> bytes:
    """The first bytes of the member at an offset; fewer if it is short, or is none.

    Something that takes in much and gives nothing is none: after damage every byte that may
    begin a member is tried, and each must cost little.
    """
    out = b""
    try:
        for data, end in codec.pieces(view, offset):
            out += data
            if len(out) >= size or end - offset >= _LOOK:
                break
    except Flaw:
        return out[:size]
    return out[:size]


def next_member(codec: Codec, view: View, offset: int, accepts: Callable[[bytes], object]) -> int:
    """Where the next member starts whose data is accepted; the end if there is none."""
    while True:
        data = view.at(offset, STEP)
        at = data.find(codec.magic)
        while at >= 0:
            if accepts(begins(codec, view, offset + at, 4096)):
                return offset + at
            at = data.find(codec.magic, at + 1)
        if len(data) < STEP:
            return offset + len(data)
        offset += STEP - len(codec.magic) + 1
        view.forget(offset)
