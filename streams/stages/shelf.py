"""What is looked at only when somebody asks: bytes in files of this process, and not in memory.

The files have no name and are gone with the process: what is to last is in snapshots, which take
them as they are. A file is closed, and its room free, once nobody holds a place of it.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.streams.bus import Unreachable
from reusewatch.streams.disk import PIECE
from reusewatch.streams.stages.errors import what_to_do

FILE_BYTES = 8 << 20
"""A new file is begun when one has so many: as much stays on disk though nobody needs it."""
_SHARES = 64
"""And not before it has this share of all. A process may have a thousand files open, and each is
open twice while a snapshot is written: of 4 GB there are two hundred, of 40 GB three hundred and
fifty."""


class Stored:
    """So many bytes; those of a file, or what was saved."""

    def __init__(
        self, directory: Path | None, saved: NDArray[np.uint8] | None = None, *, most: int = 0
    ) -> None:
        """`most`: so many bytes are written to it."""
        self.size = 0 if saved is None else saved.nbytes
        self._most = most
        self._saved = saved
        self._file = -1
        if saved is not None:
            return
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory, prefix=".terms-") as file:
            self._file = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._file)

    @property
    def full(self) -> bool:
        """Whether nothing is written to it any more."""
        return self._saved is not None or self.size >= self._most

    def write(self, data: bytes) -> None:
        """Append these bytes."""
        left = memoryview(data)
        while left:
            done = os.pwrite(self._file, left[:PIECE], self.size)
            self.size, left = self.size + done, left[done:]

    def read(self, offset: int, size: int) -> bytes | memoryview:
        """Some of the bytes."""
        if self._saved is not None:
            return self._saved.data[offset : offset + size]
        return os.pread(self._file, size, offset)

    def all(self) -> NDArray[np.uint8]:
        """All bytes, mapped: in memory while they are looked at."""
        if self._saved is not None or not self.size:
            return np.empty(0, np.uint8) if self._saved is None else self._saved
        mapped = mmap.mmap(self._file, self.size, access=mmap.ACCESS_READ)
        return np.frombuffer(mapped, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where something stands."""

    stored: Stored
    offset: int
    size: int

    def read(self) -> bytes | memoryview:
        """What was put there."""
        return self.stored.read(self.offset, self.size)

    def part(self, begin: int, size: int) -> bytes | memoryview:
        """Some of it."""
        return self.stored.read(self.offset + begin, size)


class Shelf:
    """Takes bytes, and says where they stand."""

    def __init__(self, directory: Path | None = None) -> None:
        """Without a directory: the one for temporary files."""
        self._directory = directory
        self._open: Stored | None = None
        self._files = weakref.WeakSet[Stored]()

    def put(self, data: bytes) -> Place:
        """Keep these bytes for as long as somebody holds their place."""
        try:
            if self._open is None or self._open.full:
                self._open = self._begun()
            begin = self._open.size
            self._open.write(data)
        except OSError as error:
            where = self._directory or tempfile.gettempdir()
            raise Unreachable(
                f"{where} cannot be written to: {error.strerror}: {what_to_do(error)} and start "
                "again, or keep no terms (similar_pages = 0)"
            ) from error
        return Place(self._open, begin, len(data))

    def _begun(self) -> Stored:
        held = sum(one.size for one in self._files)
        begun = Stored(self._directory, most=max(FILE_BYTES, held // _SHARES))
        self._files.add(begun)
        return begun


def saved(places: Iterable[Place]) -> tuple[dict[str, NDArray[Any]], list[list[int]]]:
    """The files that these places are of, and each place by its file: to be saved."""
    numbers: dict[Stored, int] = {}
    rows = [[numbers.setdefault(one.stored, len(numbers)), one.offset, one.size] for one in places]
    return {str(number): stored.all() for stored, number in numbers.items()}, rows


def restored(files: dict[str, NDArray[Any]], rows: Iterable[Iterable[int]]) -> list[Place]:
    """The places, in the files of a snapshot."""
    stored = {name: Stored(None, array) for name, array in files.items()}
    return [Place(stored[str(number)], offset, size) for number, offset, size in rows]
