"""Occurrences on disk, split by hash: all rows of one hash lie in one file of a directory.

For counts that do not fit in memory (Ardi, Heidemann 2014, §3.2): each file can be read and counted
alone. Here, since files are touched in this room only; who counts them is `discovery.offline`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROW = np.dtype([("hash", "<u8"), ("page", "<u8"), ("site", "<u8"), ("length", "<u8")])
"""One occurrence: of which content, on which page of which site, how many characters."""


class SplitByHash:
    """Rows by the first bits of their hash; 2^`bits` files in a directory that is ours alone."""

    def __init__(self, directory: Path, *, bits: int = 6) -> None:
        self._bits = bits
        self._paths = [directory / f"occurrences.{part}" for part in range(1 << bits)]

    def append(self, rows: NDArray[np.void]) -> None:
        """Write rows, each to the file of its hash."""
        # One place of the shift is always done: a word cannot be shifted by 64.
        part = (rows["hash"] >> np.uint64(1)) >> np.uint64(63 - self._bits)
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange(len(self._paths) + 1, dtype=np.uint64))
        for path, start, end in zip(self._paths, bounds[:-1], bounds[1:], strict=True):
            if start < end:
                with path.open("ab") as file:
                    file.write(rows[order[start:end]].tobytes())

    def parts(self) -> Iterator[NDArray[np.void]]:
        """The rows of one file after the other, by rising hash of the files."""
        for path in self._paths:
            if path.exists():
                yield np.fromfile(path, ROW)

    def close(self) -> None:
        """Take the files away."""
        for path in self._paths:
            path.unlink(missing_ok=True)
