"""How files are written: whole or not at all, and how much at once.

A write of a megabyte or more has the system look for as much memory in one piece, to keep the
file's pages in; where memory is in small pieces, as on a machine that has run for days, it moves
others' pages about until it has one. Measured on ext4 under Linux 6.18: 26 MB took 60 to 1200 ms of
its time in pieces of 1 MB, and 10 ms in pieces of 256 KiB.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from reusewatch.detector.labels.replacing import replacing

PIECE = 1 << 18


class Writable(Protocol):
    """A file that is written to: with or without a buffer of its own."""

    def write(self, data: memoryview, /) -> int | None:
        """Write these bytes, or the first of them; how many."""


def write_pieces(file: Writable, data: bytes | bytearray | memoryview) -> None:
    """Write all of it, a piece at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left[:PIECE]) or 0 :]


def replace_file(path: Path, data: bytes) -> None:
    """Replace a file as a whole: see `replacing`."""
    with replacing(path) as file:
        write_pieces(file, data)
