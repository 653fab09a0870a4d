"""Pairs of hash and label in order: how labeled datasets larger than memory are sorted and merged.

The paper sorts on a cluster (Ardi, Heidemann 2014, §3.2: O(n log n), dominated by sorting); here
runs are sorted in memory, spilled, and merged a block at a time. A pair that comes again is one
pair. A pair may carry a place, where its hash stood; of equal pairs the first place is kept. Knows
neither names nor packs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.stood import NO_PAGE, PLACE, nowhere


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Hashes and the label of each, in columns; and where each stood, unless nobody asked."""

    hashes: NDArray[np.uint64]
    labels: NDArray[np.uint32]
    places: NDArray[np.void] | None = None

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, rows: slice | NDArray[np.bool_] | NDArray[np.int64]) -> Pairs:
        places = None if self.places is None else self.places[rows]
        return Pairs(self.hashes[rows], self.labels[rows], places)

    @classmethod
    def joined(cls, parts: Sequence[Pairs]) -> Pairs:
        """These pairs end to end."""
        none = np.empty(0, np.uint64), np.empty(0, np.uint32)
        placed = any(part.places is not None for part in parts)
        return cls(
            np.concatenate([none[0], *(part.hashes for part in parts)]),
            np.concatenate([none[1], *(part.labels for part in parts)]),
            np.concatenate([part.placed() for part in parts]) if placed else None,
        )

    def placed(self) -> NDArray[np.void]:
        """Where each stood; nowhere, where that is not known."""
        return nowhere(len(self)) if self.places is None else self.places


class Source(Protocol):
    """Sorted distinct pairs, read in pieces."""

    def __len__(self) -> int: ...

    def read(self, start: int, count: int) -> Pairs:
        """The pairs of `count` rows from `start`. A row may have several: they stay together."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """Pairs on disk: all hashes, then all labels, then all places, where there are any."""

    path: Path
    size: int
    placed: bool = False

    def __len__(self) -> int:
        return self.size

    def read(self, start: int, count: int) -> Pairs:
        """A piece of the run."""
        count = min(count, self.size - start)
        hashes = np.fromfile(self.path, np.uint64, count, offset=8 * start)
        labels = np.fromfile(self.path, np.uint32, count, offset=8 * self.size + 4 * start)
        places = None
        if self.placed:
            at = 12 * self.size + PLACE.itemsize * start
            places = np.fromfile(self.path, PLACE, count, offset=at)
        if not len(hashes) == len(labels) == (count if places is None else len(places)) == count:
            raise OSError(f"{self.path} was cut off while it was being merged")
        return Pairs(hashes, labels, places)


def spill(pairs: Pairs, path: Path) -> Run:
    """Write sorted pairs to a file of their own."""
    with path.open("wb") as file:
        file.write(np.ascontiguousarray(pairs.hashes).data)
        file.write(np.ascontiguousarray(pairs.labels).data)
        if pairs.places is not None:
            file.write(pairs.places.tobytes())
    return Run(path, len(pairs), pairs.places is not None)


def sorted_pairs(pairs: Pairs) -> Pairs:
    """Distinct pairs in order of hash, then of label."""
    order = np.argsort(pairs.hashes, kind="stable")
    ordered = pairs[order]
    same = ordered.hashes[1:] == ordered.hashes[:-1]
    if not same.any():
        return ordered
    return _distinct(ordered, same)


def _distinct(ordered: Pairs, same: NDArray[np.bool_]) -> Pairs:
    """Order labels where a hash comes again; few do, so that only those are sorted twice."""
    again = np.zeros(len(ordered), np.bool_)
    again[1:] |= same
    again[:-1] |= same
    rows = np.flatnonzero(again)
    keys = (ordered.labels[rows], ordered.hashes[rows])
    if ordered.places is not None:
        # What stood somewhere before what did not; of those the first, since this sort is stable.
        keys = (ordered.places["page"][rows] == NO_PAGE, *keys)  # type: ignore[assignment]
    order = np.lexsort(keys)
    ordered.labels[rows] = ordered.labels[rows][order]
    if ordered.places is not None:
        ordered.places[rows] = ordered.places[rows][order]
    keep = np.ones(len(ordered), np.bool_)
    keep[1:] = ~same | (ordered.labels[1:] != ordered.labels[:-1])
    return ordered[keep]


class _Cursor:
    """Where the merge stands in one source, and what was read ahead."""

    def __init__(self, source: Source, block: int) -> None:
        self._source = source
        self._block = block
        self._next = 0
        self.ahead = Pairs.joined(())
        self.fill()

    @property
    def exhausted(self) -> bool:
        return self._next >= len(self._source)

    def fill(self) -> None:
        """Read on until a block is ahead."""
        while len(self.ahead) < self._block and not self.exhausted:
            more = self._source.read(self._next, self._block)
            self._next += self._block
            self.ahead = Pairs.joined((self.ahead, more)) if len(self.ahead) else more

    def widen(self) -> None:
        """Look further ahead: the whole block is one hash."""
        self._block *= 2
        self.fill()

    def take(self, limit: np.uint64) -> Pairs:
        """What is below the limit."""
        cut = int(np.searchsorted(self.ahead.hashes, limit))
        taken, self.ahead = self.ahead[:cut], self.ahead[cut:]
        return taken

    def rest(self) -> Pairs:
        """All that is ahead, once nothing more is to be read."""
        taken, self.ahead = self.ahead, self.ahead[:0]
        return taken


def merged(sources: Iterable[Source], *, budget: int = 1 << 22) -> Iterator[Pairs]:
    """The distinct pairs of all sources in order, in pieces; a hash is never cut between two.

    About `budget` pairs are in memory at a time, whatever the sources hold.
    """
    found = list(sources)
    block = max(budget // max(len(found), 1), 1)
    cursors = [_Cursor(source, block) for source in found]
    while unread := [cursor for cursor in cursors if not cursor.exhausted]:
        # Beyond the first block's last hash, an unread pair could still come before a read one;
        # of that hash itself, more labels may follow.
        lowest = min(unread, key=lambda cursor: int(cursor.ahead.hashes[-1]))
        piece = Pairs.joined([cursor.take(lowest.ahead.hashes[-1]) for cursor in cursors])
        if len(piece):
            yield sorted_pairs(piece)
        else:
            lowest.widen()
        for cursor in cursors:
            cursor.fill()
    last = Pairs.joined([cursor.rest() for cursor in cursors])
    if len(last):
        yield sorted_pairs(last)
