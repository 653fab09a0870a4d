"""Where labeled content stood: the pages that a pack was made of, and the bytes of each hash there.

A finding that names a pack says that something is known; one that names the page, and where on it,
can be acted on. Of each hash one place is kept, the first that was seen: what stands on several
labeled pages is found on one of them all the same. Pages are numbered in the order in which they
came. Never opens a page: what a pack says of one is what somebody else may have written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.labeled_page import LabeledPage

PLACE = np.dtype([("page", "<u4"), ("start", "<u4"), ("length", "<u4")])
"""A page's number, and bytes of its body."""
SHORT_PLACE = np.dtype([("page", "<u4"), ("start", "<u4"), ("length", "<u2")])
"""The same of a gram, which is short: there are many of them."""
NO_PAGE = (1 << 32) - 1
NOWHERE = np.array((NO_PAGE, 0, 0), PLACE)
MOST_PAGES = NO_PAGE
_LONGEST = 4096
_LONGEST_ROW = 4 * 4 * _LONGEST
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class PackPages:
    """The pages of a pack: a row of bytes each, where it ends, and which label it came under."""

    rows: NDArray[np.uint8]
    ends: NDArray[np.uint64]
    labels: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.ends)

    def row(self, number: int) -> bytes:
        """A page as it is stored. ValueError where the columns contradict each other."""
        if not 0 <= number < len(self):
            raise ValueError(f"there is no labeled page {number}")
        start, end = int(self.ends[number - 1]) if number else 0, int(self.ends[number])
        if not start < end <= min(len(self.rows), start + _LONGEST_ROW):
            raise ValueError(f"labeled page {number} stands at {start} to {end}")
        return self.rows[start:end].tobytes()

    def page(self, number: int) -> LabeledPage:
        """A page. ValueError where there is none, or what stands there is none."""
        try:
            return msgspec.msgpack.decode(self.row(number), type=LabeledPage)
        except msgspec.DecodeError as error:
            raise ValueError(f"labeled page {number} cannot be read: {error}") from error


class PageSpool:
    """Labeled pages on their way into a pack: rows on disk, two numbers each in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("wb")
        self._ends: list[NDArray[np.uint64]] = []
        self._labels: list[NDArray[np.uint32]] = []
        self._count = self._size = 0

    def __len__(self) -> int:
        return self._count

    def add(self, label: int, page: LabeledPage) -> int:
        """One page more; its number."""
        return self.add_rows(label, [msgspec.msgpack.encode(_short(page))])

    def add_rows(self, label: int, rows: list[bytes]) -> int:
        """Pages as they are stored, all under one label; the number of the first."""
        first = self._count
        if first + len(rows) > MOST_PAGES:
            raise ValueError(f"a pack names {MOST_PAGES} pages at most")
        self._file.write(b"".join(rows))
        ends = self._size + np.cumsum([len(row) for row in rows], dtype=np.uint64)
        self._ends.append(ends.astype(np.uint64))
        self._labels.append(np.full(len(rows), label, np.uint32))
        self._count += len(rows)
        self._size = int(ends[-1]) if len(rows) else self._size
        return first

    def copy(self, pages: PackPages, labels: NDArray[np.uint32], dropped: int) -> NDArray[Any]:
        """Pages of a pack, whose labels have these numbers here; which number each has now.

        Those of a label that is `dropped` are left out, and `NO_PAGE`.
        """
        numbers = np.full(len(pages), NO_PAGE, np.uint32)
        known = pages.labels < len(labels)
        found = np.full(len(pages), dropped, np.uint32)
        found[known] = labels[pages.labels[known]]
        for at in np.flatnonzero(found != dropped).tolist():
            numbers[at] = self.add_rows(int(found[at]), [pages.row(at)])
        return numbers

    def ends(self) -> NDArray[np.uint64]:
        """Where each row ends."""
        return np.concatenate([np.empty(0, np.uint64), *self._ends])

    def labels(self) -> NDArray[np.uint32]:
        """The label of each page."""
        return np.concatenate([np.empty(0, np.uint32), *self._labels])

    def rows(self) -> Iterator[NDArray[np.uint8]]:
        """The bytes of all rows, in pieces."""
        self._file.flush()
        with self._path.open("rb") as file:
            while piece := file.read(_BLOCK):
                yield np.frombuffer(piece, np.uint8)

    def close(self) -> None:
        """Take what was spooled away."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def _short(page: LabeledPage) -> LabeledPage:
    return LabeledPage(
        page.url[:_LONGEST].encode("utf-8", "replace").decode(),
        page.source[:_LONGEST].encode("utf-8", "replace").decode(),
        page.offset, page.file_hash,
    )  # fmt: skip


def places(
    numbers: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    starts: NDArray[Any],
    ends: NDArray[Any],
) -> NDArray[np.void]:
    """The places of what stands on pages of these numbers; `offsets` cut the columns by page."""
    found = np.empty(int(offsets[-1]), PLACE)
    found["page"] = np.repeat(numbers, np.diff(offsets))
    found["start"] = _fitting(starts)
    # Of a title that stands behind the text a run begins later than it ends.
    found["length"] = _fitting(np.maximum(ends.astype(np.int64) - starts.astype(np.int64), 0))
    return found


def whole_pages(numbers: NDArray[np.uint32]) -> NDArray[np.void]:
    """The places of files: a page each, from its beginning, and no length."""
    found = np.zeros(len(numbers), PLACE)
    found["page"] = numbers
    return found


def nowhere(count: int) -> NDArray[np.void]:
    """The places of so many hashes of which none is known."""
    return np.full(count, NOWHERE, PLACE)


def shortened(found: NDArray[np.void]) -> NDArray[np.void]:
    """Places of grams as they are stored."""
    short = np.empty(len(found), SHORT_PLACE)
    short["page"], short["start"] = found["page"], found["start"]
    short["length"] = found["length"].clip(0, (1 << 16) - 1)
    return short


def lengthened(found: NDArray[np.void]) -> NDArray[np.void]:
    """Stored places, of chunks or of grams, as `PLACE`; copies, which may be changed."""
    return found.astype(PLACE)


def _fitting(values: NDArray[Any]) -> NDArray[np.uint32]:
    fitting: NDArray[np.uint32] = values.clip(0, (1 << 32) - 1).astype(np.uint32)
    return fitting
