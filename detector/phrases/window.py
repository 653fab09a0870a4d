"""The pages that were fetched last, judged by their popular shingles (Fetterly et al. 2005, §3.5).

Pages are collected and judged together from time to time, exactly and by definition, so that what
is found depends on the pages and not on their order. Bounded by a number of fetches: those fetched
last stay. Of the hosts that consist of popular phrases by the paper's criteria those are told whose
pages are alike in this, and are no template's (`sliced`).

Knows no clock, no name of a host and no page's words.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.phrases.classes import representatives
from reusewatch.detector.phrases.documents import UNKNOWN, Documents, by_age, current_versions
from reusewatch.detector.phrases.hosts import PhraseHost, phrase_hosts
from reusewatch.detector.phrases.popular import popular_places
from reusewatch.detector.phrases.sliced import is_sliced

MIN_VALUES, SUPERSHINGLES = 84, 6
_AT_ONCE = 6
FETCH = np.dtype(
    [
        ("page", "u8"), ("identity", "u8"), ("fetched", "i8"), ("site", "u8"), ("host", "u8"),
        ("supershingles", "u8", SUPERSHINGLES), ("shingles", "u8", MIN_VALUES), ("popular", "i2"),
        ("truncated", "?"),
    ]
)  # fmt: skip
"""A page as it was fetched once; site and host are hashes. `popular`: how many of its shingles were
popular when it was judged last, −1 before. `truncated` is handed back."""


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
    popular: NDArray[np.int64]
    before: NDArray[np.int16]


class PhraseWindow:
    """The pages that were fetched last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[NDArray[Any]] = []
        self._new = 0

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    @property
    def nbytes(self) -> int:
        """Bytes of all pages."""
        return sum(part.nbytes for part in self._parts)

    @property
    def due(self) -> bool:
        """Whether half as many pages have come again as were judged last: so that judging costs
        so much a page, however many there are."""
        return self._new * 2 > len(self)

    def add(self, fetches: NDArray[Any]) -> None:
        """Take pages as they were fetched."""
        self._parts.append(fetches)
        self._new += len(fetches)
        if len(self) > self._most + self._most // 4:
            self._all()

    def _all(self) -> NDArray[Any]:
        """All pages in one array, without those that are too many."""
        size = len(self)
        if len(self._parts) == 1 and size <= self._most:
            return self._parts[0]
        places = np.arange(size)
        if size > self._most:
            page, fetched = (self._column(name) for name in ("page", "fetched"))
            last = np.lexsort((page, fetched))[-self._most :]
            places = np.full(size, -1)
            places[last] = np.arange(last.size)
        # A part at a time, which then is free: pages take hundreds of bytes each.
        joined, begin = np.empty(min(size, self._most), FETCH), 0
        parts, self._parts = deque(self._parts), [joined]
        while parts:
            part = parts.popleft()
            mine = places[begin : begin + len(part)]
            joined[mine[mine >= 0]] = part[mine >= 0]
            begin += len(part)
        return joined

    def _column(self, name: str) -> NDArray[Any]:
        return np.concatenate([part[name] for part in self._parts])

    def judge(self) -> Judged:
        """Judge all pages, each as it was fetched last."""
        self._new, fetches = 0, self._all()
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
            none = np.empty(0, FETCH)
            return Judged(
                (), none["page"], none["identity"], none["truncated"], np.empty(0, np.int64),
                none["popular"],
            )  # fmt: skip
        rows = rows[kept]
        which = popular_places(_by_function(fetches["shingles"], rows), len(rows))
        popular = which.sum(axis=0)
        before = fetches["popular"][rows]
        new = before != popular
        fetches["popular"][rows] = popular
        hosts = _told(fetches, rows, documents, kept, which)
        return Judged(
            hosts, fetches["page"][rows][new], fetches["identity"][rows][new],
            fetches["truncated"][rows][new], popular[new], before[new],
        )  # fmt: skip

    def save(self) -> Mapping[str, NDArray[Any]]:
        """The pages."""
        return {"fetches": self._all().view(np.uint8), "new": np.array([self._new], np.int64)}

    def restore(self, arrays: Mapping[str, NDArray[Any]] | None) -> None:
        """Take up what was saved, or begin with nothing."""
        self._parts, self._new = [], 0
        if arrays is not None:
            # A copy: what is mapped from a snapshot may not be written to.
            self._parts = [np.array(arrays["fetches"]).view(FETCH)]
            self._new = int(arrays["new"][0])


def _numbers(names: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _by_function(
    shingles: NDArray[np.uint64], rows: NDArray[np.int64]
) -> Iterator[NDArray[np.uint64]]:
    """The shingles of these rows, one function after the other; some at a time: they are most of a
    page, and all at once would be all pages once more."""
    for begin in range(0, MIN_VALUES, _AT_ONCE):
        yield from np.ascontiguousarray(shingles[rows, begin : begin + _AT_ONCE].T)


def _told(
    fetches: NDArray[Any],
    rows: NDArray[np.int64],
    documents: Documents,
    kept: NDArray[np.int64],
    which: NDArray[np.bool_],
) -> tuple[Told, ...]:
    """The hosts of these rows' pages, which are those of the documents that were kept."""
    told = []
    host, counts = documents.host[kept], which.sum(axis=0)
    for found in phrase_hosts(host, counts):
        mine = np.flatnonzero(host == found.host)
        shingles = fetches["shingles"][rows[mine]].T
        if found.alike and is_sliced(shingles, which[:, mine]):
            pages = fetches["page"][rows[mine]]
            worst = np.lexsort((pages, -counts[mine]))[:5]
            name = int(fetches["host"][rows[mine[0]]])
            told.append(Told(name, found, tuple(pages[worst].tolist())))
    return tuple(told)
