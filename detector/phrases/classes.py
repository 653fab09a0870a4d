"""Classes of near-duplicates, and one page of each (Fetterly et al. 2005, §3.3).

Two pages are near-duplicates if at least 2 of their 6 supershingles agree; the classes are the
transitive closure of that. Without this step a page that is copied whole would make all of its
phrases popular.

Two agree if and only if the same pair of places holds the same pair of values in both: so pages are
sorted by each of the 15 pairs, and neighbors are joined. Most pages share nothing with anybody: a
value that no other page has takes no part in it. Never compares two pages.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.phrases.documents import Documents, by_age, run_begins

NEAR = 2
"""So many supershingles of two near-duplicates agree, at least."""
_NONE = np.uint64(0)
"""The supershingle of a page without words: nothing agrees with it."""


def classes(supershingles: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The class of each page, named by the first row that is in it."""
    size, width = supershingles.shape
    labels = np.arange(size)
    codes, common = [], supershingles != _NONE
    for at in range(width):
        _, code, counts = np.unique(supershingles[:, at], return_inverse=True, return_counts=True)
        codes.append(code)
        common[:, at] &= counts[code] > 1
    for one, other in combinations(range(width), NEAR):
        rows = np.flatnonzero(common[:, one] & common[:, other])
        # Numbers up to `size` each: one word holds both, and no two pairs have the same.
        keys = codes[one][rows] * size + codes[other][rows]
        firsts, members = _grouped(keys, rows)
        labels = _joined(labels, firsts, members)
    return labels


def representatives(
    documents: Documents, instead: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The earliest page of each class, earliest class first; and the class of every page.

    The page `instead` stands for its own class, whether it is the earliest or not.
    """
    order = by_age(documents.page, documents.seen)
    # Pages with the same words have the same supershingles: one of them is enough to compare.
    _, at, text = np.unique(documents.identity[order], return_index=True, return_inverse=True)
    found = classes(documents.supershingles[order[at]])[text]
    rank = np.arange(order.size)
    if instead is not None:
        rank[order == instead] = -1
    by_class = np.lexsort((rank, found))
    firsts = np.sort(by_class[run_begins(found[by_class])])
    of_page = np.empty(order.size, np.int64)
    of_page[order] = found
    return order[firsts], of_page


def _grouped(
    keys: NDArray[np.int64], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of rows of one key: one that has it, and each further one."""
    order = np.argsort(keys)
    keys, rows = keys[order], rows[order]
    begins = run_begins(keys)
    first = np.maximum.accumulate(np.where(begins, np.arange(keys.size), 0))
    return rows[first[~begins]], rows[~begins]


def _joined(
    labels: NDArray[np.int64], one: NDArray[np.int64], other: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The labels after the classes of each pair of rows became one.

    Each round, the later of two classes hangs on the earliest that it meets, and all rows are
    named by the end of their chain: O(log² n) rounds (Liu, Tarjan 2019), however they are chained.
    """
    while True:
        here, there = labels[one], labels[other]
        apart = here != there
        if not apart.any():
            return labels
        one, other, here, there = one[apart], other[apart], here[apart], there[apart]
        np.minimum.at(labels, np.maximum(here, there), np.minimum(here, there))
        while (labels[labels] != labels).any():
            labels = labels[labels]
