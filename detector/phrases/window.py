"""The pages that were fetched last, judged by their popular shingles (Fetterly et al. 2005, §3.5).

Pages are collected and judged together from time to time, exactly and by definition, so that what
is found depends on the pages and not on their order. Bounded by a number of fetches: those fetched
last stay. Of the hosts that consist of popular phrases by the paper's criteria those are told whose
pages are alike in this, and are no template's (`sliced`).

Knows no clock, no name of a host and no page's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.phrases.classes import representatives
from reusewatch.detector.phrases.documents import UNKNOWN, Documents, by_age, current_versions
from reusewatch.detector.phrases.hosts import PhraseHost, phrase_hosts
from reusewatch.detector.phrases.popular import popular_shingles
from reusewatch.detector.phrases.sliced import is_sliced

MIN_VALUES, SUPERSHINGLES = 84, 6
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
        joined = np.concatenate([np.empty(0, FETCH), *self._parts])
        if len(joined) > self._most:
            joined = joined[np.lexsort((joined["page"], joined["fetched"]))[-self._most :]]
        self._parts = [joined]
        return joined

    def judge(self) -> Judged:
        """Judge all pages, each as it was fetched last."""
        self._new, fetches = 0, self._all()
        rows, seen = current_versions(fetches["page"], fetches["identity"], fetches["fetched"])
        order = by_age(fetches["page"][rows], seen)
        rows, seen = rows[order], seen[order]
        documents = Documents(
            fetches["page"][rows], seen, fetches["identity"][rows],
            fetches["supershingles"][rows], np.ascontiguousarray(fetches["shingles"][rows].T),
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
        found = popular_shingles(documents, kept)
        rows = rows[kept]
        popular = found.per_document
        before = fetches["popular"][rows]
        new = before != popular
        fetches["popular"][rows] = popular
        shingles = documents.shingles[:, kept]
        hosts = _told(fetches[rows], documents.host[kept], popular, shingles, found.which)
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


def _told(
    fetches: NDArray[Any], host: NDArray[np.int64], popular: NDArray[np.int64],
    shingles: NDArray[np.uint64], which: NDArray[np.bool_],
) -> tuple[Told, ...]:  # fmt: skip
    told = []
    for found in phrase_hosts(host, popular):
        mine = np.flatnonzero(host == found.host)
        if found.alike and is_sliced(shingles[:, mine], which[:, mine]):
            worst = mine[np.lexsort((fetches["page"][mine], -popular[mine]))][:5]
            pages = tuple(fetches["page"][worst].tolist())
            told.append(Told(int(fetches["host"][mine[0]]), found, pages))
    return tuple(told)
