"""Rows of numbers in a file of this process, and not in memory: what is looked at now and then.

The file has no name and is gone with the process: what is to last is in snapshots. Written and read
by places, and never where it is mapped: on a full disk that would end the process without a word.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reusewatch.streams.bus import Unreachable
from reusewatch.streams.disk import PIECE
from reusewatch.streams.stages.errors import what_to_do

_KIND = np.dtype("<u4")


class RowsOnDisk:
    """Rows of so many numbers of 32 bits each."""

    def __init__(self, width: int, directory: Path | None = None, *, instead: str = "") -> None:
        """Without a directory: the one for temporary files. `instead` is what else one can do who
        has no room for them."""
        self._width, self._directory, self._instead = width, directory, instead
        self._bytes = width * _KIND.itemsize
        self._file = -1

    def write(self, begin: int, rows: NDArray[np.uint32]) -> None:
        """Have these stand from a place on."""
        left = np.ascontiguousarray(rows, _KIND).reshape(-1).view(np.uint8).data
        at = begin * self._bytes
        try:
            file = self._opened()
            while left:
                done = os.pwrite(file, left[:PIECE], at)
                left, at = left[done:], at + done
        except OSError as error:
            where = self._directory or tempfile.gettempdir()
            raise Unreachable(
                f"{where} cannot be written to: {error.strerror}: {what_to_do(error)} and start "
                f"again{self._instead and f', or {self._instead}'}"
            ) from error

    def read(self, begin: int, end: int) -> NDArray[np.uint32]:
        """Those of some places."""
        size = (end - begin) * self._bytes
        data = os.pread(self._file, size, begin * self._bytes) if size else b""
        if len(data) < size:
            raise IndexError(f"no rows stand from {begin} to {end}")
        return np.frombuffer(data, _KIND).reshape(-1, self._width)

    def all(self, size: int) -> NDArray[np.uint32]:
        """So many, the first, mapped: in memory while they are looked at."""
        if not size:
            return np.empty((0, self._width), _KIND)
        mapped = mmap.mmap(self._file, size * self._bytes, access=mmap.ACCESS_READ)
        return np.frombuffer(mapped, _KIND).reshape(-1, self._width)

    def _opened(self) -> int:
        if self._file < 0:
            if self._directory is not None:
                self._directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._directory, prefix=".rows-") as file:
                self._file = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._file)
        return self._file
