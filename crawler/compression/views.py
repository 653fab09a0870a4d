"""Bytes by their offset: a file, a part of a file, or a stream of which only a window is kept.

Readers of records look back: after damage they search for the next record from where the
damaged one began. A file allows that at any distance, a pipe or a decompressor only within
its window.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

STEP = 1 << 18


class View(Protocol):
    """Bytes by their offset."""

    # False where asking far ahead gives up what lies behind.
    seekable: bool
    # What lies before was given up.
    start: int

    def at(self, offset: int, length: int) -> bytes:
        """The bytes from an offset on; fewer at the end, none after it."""
        ...

    def forget(self, offset: int) -> None:
        """Nothing before this offset is asked for again."""
        ...

    def skip(self, offset: int) -> None:
        """Read on to an offset; nothing before it is asked for again."""
        ...

    def position(self) -> int:
        """How far the file on disk was read."""
        ...


class OnDisk:
    """A file, or the part of it that a package's member is."""

    seekable = True
    start = 0

    def __init__(self, path: str, base: int = 0, size: int | None = None) -> None:
        self.path = path
        self.fd = os.open(path, os.O_RDONLY)
        self.base = base
        self.size = os.fstat(self.fd).st_size - base if size is None else size
        self._read = 0

    def at(self, offset: int, length: int) -> bytes:
        """The bytes from an offset on."""
        length = min(length, self.size - offset)
        if length <= 0:
            return b""
        self._read = max(self._read, offset + length)
        return os.pread(self.fd, length, self.base + offset)

    def forget(self, offset: int) -> None:
        """A file needs no forgetting."""

    def skip(self, offset: int) -> None:
        """A file is read at any place."""

    def position(self) -> int:
        """The furthest byte that was read."""
        return self._read

    def close(self) -> None:
        """Release the file."""
        os.close(self.fd)


class Window:
    """The last part of a stream that can only be read on: a pipe, or decompressed data."""

    seekable = False

    def __init__(
        self, read: Callable[[int], bytes], position: Callable[[], int] | None = None
    ) -> None:
        self._read = read
        self._position = position
        self._kept = bytearray()
        self.start = 0
        self._ended = False

    def at(self, offset: int, length: int) -> bytes:
        """The bytes from an offset on. ValueError for what was forgotten."""
        if offset < self.start:
            raise ValueError(f"offset {offset} was forgotten; the window starts at {self.start}")
        self._fill(offset + length)
        begin = offset - self.start
        return bytes(memoryview(self._kept)[begin : begin + length])

    def _fill(self, end: int) -> None:
        while not self._ended and self.start + len(self._kept) < end:
            data = self._read(STEP)
            self._ended = not data
            self._kept += data

    def skip(self, offset: int) -> None:
        """Read on to an offset and keep nothing before it."""
        while self.start < offset:
            self._fill(min(offset, self.start + STEP))
            # Nothing more comes. Until then what was read ahead is dropped, too: a reader goes on
            # from `start`, and would begin anew.
            if not self._kept:
                return
            self._drop(offset)

    def forget(self, offset: int) -> None:
        """Give up what lies before an offset, a step at a time so that little is moved."""
        if offset - self.start >= STEP:
            self._drop(offset)

    def _drop(self, offset: int) -> None:
        drop = min(offset - self.start, len(self._kept))
        del self._kept[:drop]
        self.start += drop

    def position(self) -> int:
        """How far the file below was read."""
        return self._position() if self._position else self.start + len(self._kept)


class InMemory:
    """Bytes that are at hand."""

    seekable = True
    start = 0

    def __init__(self, data: bytes | bytearray) -> None:
        self.data = data

    def at(self, offset: int, length: int) -> bytes:
        """The bytes from an offset on."""
        return bytes(self.data[offset : offset + length])

    def forget(self, offset: int) -> None:
        """Memory is given up with the view."""

    def skip(self, offset: int) -> None:
        """Memory is read at any place."""

    def position(self) -> int:
        """All of it."""
        return len(self.data)
