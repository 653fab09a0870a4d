"""Popular phrases: those that are a shingle of many documents (Fetterly et al. 2005, §3.3).

A shingle (i, s) is popular if s is the i-th min-value of at least five documents, one of each class
of near-duplicates. The triples (i, s, document) are sorted, and long enough runs are looked for.
A min-wise function is a bijection, so (i, s) leads to its phrase; a phrase that several functions
chose is counted once, with the function that has most documents.

Knows phrases by their hashes; their words stand on the pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.phrases.documents import Documents, run_begins

POPULAR = 5
"""In so many documents a phrase is hardly there by chance (§3.3)."""


@dataclass(frozen=True, slots=True, eq=False)
class PopularShingles:
    """All popular (i, s): the function, the value, documents that have it, their sites.

    `which`: a row a function, whether each document that was kept has a popular shingle there.
    """

    function: NDArray[np.int64]
    shingle: NDArray[np.uint64]
    documents: NDArray[np.int64]
    sites: NDArray[np.int64]
    which: NDArray[np.bool_]

    @property
    def per_document(self) -> NDArray[np.int64]:
        """How many shingles of each document are popular."""
        found: NDArray[np.int64] = self.which.sum(axis=0)
        return found

    def __len__(self) -> int:
        return self.shingle.size


@dataclass(frozen=True, slots=True)
class Phrase:
    """A popular phrase by its hash, and the shingle with which most documents have it."""

    hash: int
    documents: int
    sites: int
    function: int
    shingle: int


def popular_shingles(
    documents: Documents, kept: NDArray[np.int64], *, least: int = POPULAR
) -> PopularShingles:
    """The shingles that at least so many documents have, of those that are `kept`."""
    # A function at a time: all at once would be another copy of the largest column.
    noted = []
    columns = []
    site = documents.site[kept]
    for row in documents.shingles:
        noted.append(np.zeros(site.size, np.bool_))
        columns.append(_of_function(row[kept], site, least, noted[-1]))
    which = np.array(noted).reshape(len(noted), site.size)
    sizes = [len(values) for values, _, _ in columns]
    values, counts, sites = map(np.concatenate, zip(*columns, strict=True))
    function = np.repeat(np.arange(len(columns)), sizes)
    return PopularShingles(function, values, counts, sites, which)


def popular_places(
    functions: Iterable[NDArray[Any]], size: int, *, least: int = POPULAR
) -> NDArray[np.bool_]:
    """Of the min-values of one function after the other, a row each, those that are popular: as
    `PopularShingles.which` has it, without what is not asked for there."""
    noted = []
    for row in functions:
        noted.append(np.zeros(size, np.bool_))
        _note(row, least, noted[-1])
    return np.array(noted).reshape(len(noted), size)


def _of_function(
    row: NDArray[np.uint64], site: NDArray[np.int64], least: int, which: NDArray[np.bool_]
) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
    """Popular values of one function, their documents and sites; noted for each document."""
    order, starts, counts = _note(row, least, which)
    values, kept = row[order], counts >= least
    members = order[np.repeat(kept, counts)]
    run = np.repeat(np.arange(int(kept.sum())), counts[kept])
    width = int(site.max(initial=0)) + 1
    pairs = np.unique(run * width + site[members])
    sites = np.bincount(pairs // width, minlength=int(kept.sum()))
    return values[starts[kept]], counts[kept], sites


def _note(
    row: NDArray[Any], least: int, which: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Note of each document whether its value is popular; the order of the values, where in it
    each begins, and how many documents have it."""
    order = np.argsort(row)
    starts = np.flatnonzero(run_begins(row[order]))
    counts = np.diff(np.append(starts, row.size))
    which[order[np.repeat(counts >= least, counts)]] = True
    return order, starts, counts


def popular_phrases(
    found: PopularShingles, inverses: NDArray[np.uint64], *, top: int | None = None
) -> list[Phrase]:
    """The phrases behind popular shingles, each once, those of most documents first (Table 1).

    `inverses`: the factors that undo the min-wise functions.
    """
    hashes = found.shingle * inverses[found.function]
    by_phrase = np.lexsort((found.function, -found.sites, -found.documents, hashes))
    best = by_phrase[run_begins(hashes[by_phrase])]
    ranked = best[np.lexsort((hashes[best], -found.sites[best], -found.documents[best]))][:top]
    columns = (hashes, found.documents, found.sites, found.function, found.shingle)
    rows = zip(*(column[ranked].tolist() for column in columns), strict=True)
    return [Phrase(*row) for row in rows]
