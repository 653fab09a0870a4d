"""Blind discovery while the crawl goes on (Ardi, Heidemann 2014, §3.2, step 3b).

A chunk, or a file, that more than `threshold` pages of at least `min_sites` sites have had within
the window, and that is no stop chunk and not labeled yet, is discovered: once, with a sample and
some of its sites. One `Discovery` for chunks, one for files: the paper's thresholds differ (§5.2).

**Window.** Two periods of `period` pages: what counts was seen within the last one to two of them.

**Error.** A count is never above the number of distinct pages, or sites, of the window: the filter
keeps no count, and a fingerprint shared by two pages makes one of them. It is below by the first
page, whose sighting only passes the filter; by pages that share a 32-bit fingerprint with another
one of the same hash (of n, n²/2^33 on average); and by all that was counted before, where a
counter was evicted, or a fingerprint forgotten, in a full table: `evicted` and `forgotten` say how
often. So with tables large enough, and in any order: what `threshold + 2` or more pages, of more
than `min_sites` sites, share is discovered; what `threshold` pages or fewer share is not. Between
the two it depends on whether the first page came twice. Which of many hashes are evicted depends
on the order of pages.

**First.** Pages may come with numbers that say which is earlier. With `keeps_firsts` the smallest
number of a hash is told with it, in any order of pages; when a smaller one comes after that, the
hash is told again. That holds while the window does, and no full table has forgotten the page.

**Memory.** 8 bytes for each of `singletons`, 24 with `keeps_firsts`; for each of `counters`
52 + 4 (threshold + 1) + 8 `most_sites` bytes, at the most: of it, a machine gives what was written
to, and a few pages write to a small part. `memory` says how much it may come to. What is saved is
as large as what is in use.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.discovery.counters import (
    COUNTERS,
    END,
    EVICTED,
    FINGERPRINTS,
    FORGOTTEN,
    N_PAGES,
    N_SITES,
    OLD_PAGES,
    OLD_SITES,
    START,
    STATISTICS,
    TALLIES,
    age,
    count_all,
    filter_ends,
    row_of,
)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.large_arrays import sparse_zeros
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.saved import Kept, Saved, array_of, check, within

_AT_ONCE = 1024  # discoveries of one batch; what is over comes with its next occurrence
_MOST_TOLD = 1 << 20
_PIECE = 1 << 20
# What stands where in the tables; what was saved under another number is not taken up.
_LAYOUT = 5
_FACTORS = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
_COLUMNS = ("keys", "pages", "sites", "tallies", "samples", "firsts")


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """The chunks (or the file) of each page of a batch; `starts` and `ends` say where they stand.

    `skipped` are stop chunks and what is labeled already. `firsts` has a number for each page: of
    two pages, the earlier has the smaller one.
    """

    hashes: Ragged
    pages: NDArray[np.uint64]
    sites: NDArray[np.uint64]
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    skipped: NDArray[np.bool_]
    firsts: NDArray[np.uint64] | None = None

    def __post_init__(self) -> None:
        for column in (self.starts, self.ends, self.skipped):
            if column.size != self.hashes.values.size:
                raise ValueError(f"{column.size} places for {self.hashes.values.size} hashes")
        if not len(self.pages) == len(self.sites) == len(self.hashes):
            raise ValueError(f"{len(self.pages)} pages, {len(self.sites)} sites")


@dataclass(frozen=True, slots=True)
class Discovered:
    """What came to be common: at least so many pages and sites, where it was first counted, which
    occurrence of the batch made it so, and the number of its first page."""

    hash: int
    pages: int
    sites: tuple[int, ...]
    sample_page: int
    start: int
    end: int
    at: int
    first: int = 0


class Discovery:
    """Counts occurrences of one kind of object; `add` counts, `count` asks."""

    def __init__(
        self,
        scheme: HashScheme,
        *,
        threshold: int = 100,
        min_sites: int = 5,
        period: int = 500_000,
        singletons: int = 1 << 24,
        counters: int = 1 << 17,
        most_sites: int = 16,
        keeps_firsts: bool = False,
    ) -> None:
        if min(threshold, min_sites, period) < 1:
            raise ValueError("threshold, min_sites and period of discovery are at least 1")
        self._limits = (threshold, min_sites)
        self._period = period
        salts = scheme.numbers("discovery", 2)
        self._salts = (salts[0], salts[1])
        places = -(-singletons // FINGERPRINTS) * FINGERPRINTS
        rows = -(-counters // COUNTERS) * COUNTERS
        self._filters: tuple[NDArray[Any], ...] = (
            *(sparse_zeros((places,), np.uint32) for _ in range(2)),
            *(sparse_zeros((places if keeps_firsts else 0,), np.uint64) for _ in range(2)),
        )
        self._table: tuple[NDArray[Any], ...] = (
            sparse_zeros((rows,), np.uint64),
            sparse_zeros((rows, threshold + 1), np.uint32),
            sparse_zeros((rows, max(most_sites, min_sites)), np.uint64),
            sparse_zeros((rows, TALLIES), np.uint32),
            sparse_zeros((rows,), np.uint64),
            sparse_zeros((rows,), np.uint64),
        )
        self._statistics = np.zeros(STATISTICS, np.int64)
        self._told: OrderedDict[int, int] = OrderedDict()
        self._pages = 0
        self._aged = False  # until a period has ended, the filter before this one is empty

    @property
    def memory(self) -> int:
        """Bytes of all tables."""
        return sum(column.nbytes for column in (*self._filters, *self._table))

    @property
    def evicted(self) -> int:
        """Counters that left for others."""
        return int(self._statistics[EVICTED])

    @property
    def forgotten(self) -> int:
        """First sightings that left for others."""
        return int(self._statistics[FORGOTTEN])

    def count(self, value: int) -> tuple[int, int]:
        """Pages and sites counted of a hash: up to `threshold + 1`, and up to `most_sites`."""
        key = _mixed(value, int(self._salts[0]))
        row = row_of(np.uint64(value), np.uint64(key), self._table, 0)
        if row < 0:
            return 0, 0
        tallies = self._table[3][row]
        return int(tallies[N_PAGES]), int(tallies[N_SITES])

    def marks(self, value: int) -> tuple[NDArray[np.uint32], int]:
        """The marks of the pages that are counted of a hash, as `marks_of` makes them, and how many
        of them, the first, are of the period before."""
        key = _mixed(value, int(self._salts[0]))
        row = row_of(np.uint64(value), np.uint64(key), self._table, 0)
        if row < 0:
            return np.empty(0, np.uint32), 0
        tallies = self._table[3][row]
        return self._table[1][row, : tallies[N_PAGES]].copy(), int(tallies[OLD_PAGES])

    @property
    def salt(self) -> int:
        """By which pages are marked."""
        return int(self._salts[1])

    @property
    def left(self) -> int:
        """Pages until this period ends: a batch that goes past it ends it later."""
        return self._period - self._pages

    def add(self, seen: Occurrences) -> list[Discovered]:
        """Count a batch of pages; what is discovered by it. A page that comes again is one page."""
        most, (_, _, sites, tallies, _, _) = _AT_ONCE, self._table
        found = (
            np.empty(most, np.uint64),
            np.empty((most, TALLIES), tallies.dtype),
            np.empty((most, sites.shape[1]), np.uint64),
            np.empty(most, np.uint64),
            np.empty(most, np.uint64),
            np.empty(most, np.int64),
        )
        firsts = np.zeros(len(seen.pages), np.uint64) if seen.firsts is None else seen.firsts
        facts = (seen.pages, seen.sites, firsts, seen.starts, seen.ends)
        columns = tuple(map(np.ascontiguousarray, facts))
        skipped = np.ascontiguousarray(seen.skipped).view(np.uint8)
        told = count_all(seen.hashes.values, seen.hashes.offsets, skipped, columns, self._salts,
                         self._filters, self._table, self._limits, found,
                         self._statistics)  # fmt: skip
        self._pages += len(seen.pages)
        if self._pages >= self._period:
            self.rotate()
        return [one for row in range(told) if (one := self._tell(found, row)) is not None]

    def _tell(self, found: tuple[NDArray[Any], ...], row: int) -> Discovered | None:
        """What was found, unless it was told with this first before its counter was evicted."""
        value, sample, first = int(found[0][row]), int(found[3][row]), int(found[4][row])
        tallies, sites = found[1][row].tolist(), found[2][row].tolist()
        before = self._told.get(value)
        new = before is None or first < before
        self._told[value] = first if before is None else min(first, before)
        self._told.move_to_end(value)
        if len(self._told) > _MOST_TOLD:
            self._told.popitem(last=False)
        kept = tuple(sites[: tallies[N_SITES]])
        facts = (tallies[N_PAGES], kept, sample, tallies[START], tallies[END], int(found[5][row]))
        return Discovered(value, *facts, first) if new else None

    def rotate(self) -> None:
        """A period ends. Called by `add` after so many pages; by others, where time decides."""
        self._pages, self._aged = 0, True
        age(self._table)
        current, previous, firsts, previous_firsts = self._filters
        previous[:] = 0
        # Firsts without a mark are never read.
        self._filters = (previous, current, previous_firsts, firsts)

    def save(self) -> dict[str, NDArray[Any]]:
        """All state: what a restored one does next is what this one would have done."""
        current = _used(self._filters[0])
        # To look through millions of places that nothing can be in takes as long as all the rest.
        previous = _used(self._filters[1]) if self._aged else _used(self._filters[1][:0])
        rows = np.flatnonzero(self._table[3][:, N_PAGES]).astype(np.uint32)
        return {
            "sizes": np.array(self._sizes(), np.int64),
            "current_at": current[0],
            "current": current[1],
            "previous_at": previous[0],
            "previous": previous[1],
            "current_firsts": _beside(self._filters[2], *current),
            "previous_firsts": _beside(self._filters[3], *previous),
            "rows": rows,
            **{name: column[rows] for name, column in zip(_COLUMNS, self._table, strict=True)},
            "statistics": self._statistics,
            "told": np.fromiter(self._told, np.uint64, len(self._told)),
            "told_firsts": np.fromiter(self._told.values(), np.uint64, len(self._told)),
            "turned": np.array([self._pages], np.int64),
        }

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `save` gave. ValueError where the tables were of another size."""
        if array_of(saved, "sizes", np.int64, (None,)).tolist() != self._sizes():
            raise ValueError("the tables of discovery have another size now: count anew")
        self._check(saved)
        periods = ("current", "previous")
        self._filters = (
            *(_unpacked(saved, one, one, self._filters[0]) for one in periods),
            *(_unpacked(saved, f"{one}_firsts", one, self._filters[2]) for one in periods),
        )
        self._table = tuple(sparse_zeros(column.shape, column.dtype) for column in self._table)
        for column, name in zip(self._table, _COLUMNS, strict=True):
            column[saved["rows"]] = saved[name]
        self._statistics[:] = saved["statistics"]
        told = (saved[name].tolist() for name in ("told", "told_firsts"))
        self._told = OrderedDict(zip(*told, strict=True))
        # A shorter period than when it was saved ends with the next page.
        self._pages = min(int(saved["turned"][0]), self._period - 1)
        self._aged = bool(saved["previous"].size)

    def _check(self, saved: Saved) -> None:
        """Raises BadState."""
        for name, marks in zip(("current", "previous"), self._filters[:2], strict=True):
            at = array_of(saved, f"{name}_at", np.uint32, (None,))
            within(f"{name}_at", at, 0, marks.size)
            whole = saved[name].size == marks.size
            size, firsts = marks.size if whole else at.size, self._filters[2]
            check(saved, {
                name: Kept(np.uint32, (size,)),
                f"{name}_firsts": Kept(firsts.dtype, (size if firsts.size else 0,)),
            })  # fmt: skip
        rows = array_of(saved, "rows", np.uint32, (None,))
        check(saved, {
            "rows": Kept(np.uint32, (None,), (0, len(self._table[0]))),
            "statistics": Kept(np.int64, (STATISTICS,)), "told": Kept(np.uint64, (None,)),
            "told_firsts": Kept(np.uint64, saved["told"].shape),
            "turned": Kept(np.int64, (1,), (0, 1 << 62)),
            **{
                name: Kept(own.dtype, (rows.size, *own.shape[1:]))
                for name, own in zip(_COLUMNS, self._table, strict=True)
            },
        })  # fmt: skip
        # Each row holds its pages and its sites from the first on, the old ones first.
        tallies = saved["tallies"].astype(np.int64)
        for count, old, most in (
            (N_PAGES, OLD_PAGES, self._table[1]), (N_SITES, OLD_SITES, self._table[2]),
        ):  # fmt: skip
            within(f"tallies[{count}]", tallies[:, count], 0, most.shape[1] + 1)
            within(f"tallies[{old}]", tallies[:, count] - tallies[:, old], 0, most.shape[1] + 1)

    def _sizes(self) -> list[int]:
        """What stored tables must agree in."""
        return [
            _LAYOUT, self._filters[0].size, self._filters[2].size, *self._table[1].shape,
            self._table[2].shape[1],
        ]  # fmt: skip


def _used(marks: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[Any]]:
    """Where a filter has entries, and which; all of it, at no places, where that is shorter."""
    # Some at a time: places come as words twice as long, of which all would stand beside the rest.
    pieces = (
        (begin + np.flatnonzero(marks[begin:end])).astype(np.uint32)
        for begin, end in _pieces(0, _filled(marks))
    )
    at = np.concatenate([np.empty(0, np.uint32), *pieces])
    return (at, marks[at]) if 2 * at.size < marks.size else (at[:0], marks)


def _filled(marks: NDArray[Any]) -> int:
    """Where what is in use of a filter ends: before a bucket of a stretch is full, nothing stands
    in the next one, and to look through that would take as long as all the rest of saving."""
    begin = 0
    for end in filter_ends(marks.size):
        pieces = (marks[a:b].reshape(-1, FINGERPRINTS) for a, b in _pieces(begin, end))
        if end > begin and not any(piece.all(axis=1).any() for piece in pieces):
            return end
        begin = end
    return marks.size


def _pieces(begin: int, end: int) -> list[tuple[int, int]]:
    return [(at, min(at + _PIECE, end)) for at in range(begin, end, _PIECE)]


def _beside(firsts: NDArray[Any], at: NDArray[np.uint32], marks: NDArray[Any]) -> NDArray[Any]:
    """The firsts of those marks that `_used` gave."""
    return firsts[at] if at.size and firsts.size else firsts[: marks.size]


def _unpacked(
    saved: Mapping[str, NDArray[Any]], name: str, period: str, like: NDArray[Any]
) -> NDArray[Any]:
    """A column of a filter as it was, in new memory: what is empty in it is not even touched."""
    values, at = saved[name], saved[f"{period}_at"]
    column = sparse_zeros(like.shape, like.dtype)
    column[at if len(values) < like.size else slice(None)] = values
    return column


def marks_of(pages: NDArray[np.uint64], salt: int) -> NDArray[np.uint32]:
    """The marks by which the kernels know pages."""
    mixed = pages ^ np.uint64(salt)
    for factor in _FACTORS:
        mixed = (mixed ^ mixed >> np.uint64(33)) * np.uint64(factor)
    marks: NDArray[np.uint32] = (mixed ^ mixed >> np.uint64(33)).astype(np.uint32)
    return marks


def _mixed(value: int, salt: int) -> int:
    """The kernels' key of a hash."""
    mask = (1 << 64) - 1
    value ^= salt
    for factor in _FACTORS:
        value = (value ^ value >> 33) * factor & mask
    return value ^ value >> 33
