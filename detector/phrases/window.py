"""The pages that were fetched last, judged by their popular shingles (Fetterly et al. 2005, §3.5).

Pages are collected and judged together from time to time, by definition, so that what is found
depends on the pages and not on their order. Bounded by a number of fetches: those fetched last
stay. Of the hosts that consist of popular phrases by the paper's criteria those are told whose
pages are alike in this, and are no template's (`sliced`).

Of a min-value 32 bits are kept. Two of one function agree in them by chance once in 2^32 pairs: of
50 000 pages a few of the four million values have another page's by chance, and popular is what
five have.

Knows no clock, no name of a host and no page's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.large_arrays import sparse_zeros
from reusewatch.detector.phrases.classes import representatives
from reusewatch.detector.phrases.documents import UNKNOWN, Documents, by_age, current_versions
from reusewatch.detector.phrases.hosts import PhraseHost, phrase_hosts
from reusewatch.detector.phrases.places import counted_places
from reusewatch.detector.phrases.popular import POPULAR, popular_places
from reusewatch.detector.phrases.shingle_rows import (
    MIN_VALUES,
    InMemory,
    ShingleRows,
    by_function,
    move,
    taken,
    write_pieces,
)
from reusewatch.detector.phrases.sliced import is_sliced
from reusewatch.detector.saved import Kept, array_of, check

SUPERSHINGLES = 6
# Of the pages that are held, so many more before some leave: to have some leave takes as long as to
# order all of them.
_SPARE = 16
FETCH = np.dtype(
    [
        ("page", "u8"), ("identity", "u8"), ("fetched", "i8"), ("site", "u8"), ("host", "u8"),
        ("supershingles", "u8", SUPERSHINGLES), ("shingles", "u4", MIN_VALUES), ("popular", "i2"),
        ("truncated", "?"), ("origin", "u8"), ("record", "S48"),
    ],
    align=True,
)  # fmt: skip
"""A page as it was fetched once; site and host are hashes. `popular`: how many of its shingles were
popular when it was judged last, −1 before. `truncated`, `origin` and `record`
are handed back."""
HELD = np.dtype(
    [(name, FETCH[name]) for name in FETCH.names or () if name != "shingles"], align=True
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """A host, and those of its pages that have most popular shingles."""

    host: int
    found: PhraseHost
    worst: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What was found. `pages` are those that have another number of `popular` shingles than they
    had `before`; −1 of pages that were never judged."""

    hosts: tuple[Told, ...]
    pages: NDArray[np.uint64]
    identities: NDArray[np.uint64]
    truncated: NDArray[np.bool_]
    origins: NDArray[np.uint64]
    records: NDArray[np.bytes_]
    popular: NDArray[np.int64]
    before: NDArray[np.int16]


class PhraseWindow:
    """The pages that were fetched last."""

    def __init__(self, most: int, shingles: ShingleRows | None = None) -> None:
        """`shingles`: where these stand, in memory by default."""
        self._most = most
        self._shingles = InMemory() if shingles is None else shingles
        # Room for all that it ever holds, so that it is never copied: memory is taken when a page
        # is written to it.
        self._room = sparse_zeros((most + most // _SPARE,), HELD)
        self._size = self._new = 0

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """Bytes of all pages, without their shingles."""
        return self._fetches.nbytes

    @property
    def _fetches(self) -> NDArray[Any]:
        return self._room[: self._size]

    @property
    def due(self) -> bool:
        """Whether half as many pages have come again as were judged last: so that judging costs
        so much a page, however many there are. Of those that are held only: how many more stand
        here hangs on where batches end."""
        return self._new * 2 > min(len(self), self._most)

    def add(self, fetches: NDArray[Any]) -> None:
        """Take pages as they were fetched."""
        self._new += len(fetches)
        if self._size + len(fetches) > len(self._room):
            self._trim()
        if (end := self._size + len(fetches)) > len(self._room):  # more at once than a batch is
            room = sparse_zeros((end,), HELD)
            room[: self._size] = self._fetches
            self._room = room
        for name in HELD.names or ():
            self._room[name][self._size : end] = fetches[name]
        self._shingles.write(self._size, fetches["shingles"])
        self._size = end

    def _trim(self) -> None:
        """Those that are too many leave; others take their places."""
        if self._size <= self._most:
            return
        order = np.lexsort((self._fetches["page"], self._fetches["fetched"]))
        stays = np.ones(self._size, np.bool_)
        stays[order[: -self._most]] = False
        free = np.flatnonzero(~stays[: self._most])
        behind = self._most + np.flatnonzero(stays[self._most :])
        self._room[free] = self._room[behind]
        move(self._shingles, behind, free)
        self._size = self._most

    def judge(self) -> Judged:
        """Judge all pages, each as it was fetched last."""
        self._trim()
        self._new, fetches = 0, self._fetches
        rows, seen = current_versions(fetches["page"], fetches["identity"], fetches["fetched"])
        order = by_age(fetches["page"][rows], seen)
        rows, seen = rows[order], seen[order]
        documents = Documents(
            fetches["page"][rows], seen, fetches["identity"][rows],
            fetches["supershingles"][rows], np.empty((0, rows.size), np.uint64),
            _numbers(fetches["site"][rows]), _numbers(fetches["host"][rows]),
            np.full(rows.size, UNKNOWN, np.int64),
        )  # fmt: skip
        kept, _ = representatives(documents)
        if not kept.size:
            none = np.empty(0, HELD)
            return Judged(
                (), none["page"], none["identity"], none["truncated"], none["origin"],
                none["record"], np.empty(0, np.int64), none["popular"],
            )  # fmt: skip
        rows = rows[kept]
        which = self._which(rows)
        popular = which.sum(axis=0)
        before = fetches["popular"][rows]
        new = before != popular
        fetches["popular"][rows] = popular
        hosts = self._told(rows, documents, kept, which)
        return Judged(
            hosts, fetches["page"][rows][new], fetches["identity"][rows][new],
            fetches["truncated"][rows][new], fetches["origin"][rows][new],
            fetches["record"][rows][new], popular[new], before[new],
        )  # fmt: skip

    def _which(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which shingles of these rows are popular, a row a function."""
        groups = partial(by_function, self._shingles, self._size, rows)
        found = counted_places(groups(), len(rows), functions=MIN_VALUES, least=POPULAR)
        return popular_places(chain.from_iterable(groups()), len(rows)) if found is None else found

    def _told(
        self, rows: NDArray[np.int64], documents: Documents, kept: NDArray[np.int64],
        which: NDArray[np.bool_],
    ) -> tuple[Told, ...]:  # fmt: skip
        """The hosts of these rows' pages, which are those of the documents that were kept."""
        told, fetches = [], self._fetches
        host, counts = documents.host[kept], which.sum(axis=0)
        for found in phrase_hosts(host, counts):
            if not found.alike:
                continue
            mine = np.flatnonzero(host == found.host)
            if is_sliced(taken(self._shingles, rows[mine]).T, which[:, mine]):
                pages = fetches["page"][rows[mine]]
                worst = np.lexsort((pages, -counts[mine]))[:5]
                name = int(fetches["host"][rows[mine[0]]])
                told.append(Told(name, found, tuple(pages[worst].tolist())))
        return tuple(told)

    def save(self) -> Mapping[str, NDArray[Any]]:
        """The pages, without a copy: to be written before the next `add`."""
        self._trim()
        return {
            "fetches": self._fetches.view(np.uint8),
            "shingles": self._shingles.all(self._size),
            "new": np.array([self._new], np.int64),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]] | None) -> None:
        """Take up what was saved, or begin with nothing. Raises BadState, and UnicodeDecodeError
        where the name of a record is no text."""
        self._size = self._new = 0
        if arrays is not None:
            held = array_of(arrays, "fetches", HELD, (None,))
            check(arrays, {
                "shingles": Kept(np.uint32, (len(held), MIN_VALUES)),
                "new": Kept(np.int64, (1,), (0, 1 << 62)),
            })  # fmt: skip
            # A byte of 0 behind each: what one name lacks is never taken from the next.
            held["record"].astype(f"S{held['record'].itemsize + 1}").tobytes().decode()
            # A copy: what is mapped from a snapshot may not be written to.
            self._room = sparse_zeros((max(len(held), len(self._room)),), HELD)
            self._room[: len(held)], self._size = held, len(held)
            write_pieces(self._shingles, arrays["shingles"])
            self._new = int(arrays["new"][0])


def _numbers(names: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.unique(names, return_inverse=True)[1].astype(np.int64)
