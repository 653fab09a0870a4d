"""How much of a page stands on labeled pages, by the gram: containment below the paragraph.

Paragraphs that are cut in halves, run together, numbered, or retold with a word changed are no
labeled chunks any more, and keep most of their grams, runs of five words. Directed containment is
|G(p) ∩ L| / |G(p)|, grams as a set (Najork 2012, §2; Broder 1997, §2). Where L keeps a share of all
grams, chosen by value, only grams that would be in it count, above and below the line. Runs of
labeled grams are passages: each with the labeled page that most of it is from.

Sees hashes and places; what labels are called, and whom they are to be reported for, others know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.stood import NO_PAGE
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.grams import GRAM_K, gram_sets, in_sample

WRAPPED = GRAM_K - 1
"""Phrases at the end of a circular reading that are no grams."""
LEAST_GRAMS = 16
"""Grams that a page must have in common with labeled pages, to be reported for that: two or three
sentences. Fewer are anybody's turns of phrase."""
LEAST_SHARE = 0.02
"""Of a page's grams: of pages with less in common nothing is told, whatever a deployment asks."""
_LEAST_OF_SAMPLE = 4
MOST_PASSAGES = 16
# A changed word takes five grams away, a gap of some words between two copied runs a few more.
_GAP = 2 * GRAM_K
# Bytes between two grams of a passage on the labeled page: more, and they are two passages.
_GAP_THERE = 2000


@dataclass(frozen=True, slots=True)
class Share:
    """Distinct grams of a page that are labeled, and all of them; as far as L keeps such."""

    labeled: int
    total: int

    @property
    def ratio(self) -> float:
        """Directed containment of the page in L."""
        return self.labeled / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a page, from the first to the last one, and the bytes of a labeled page that they
    stand at; `page` is `NO_PAGE` where that is not known. `at` is one of its grams, by its place
    among those that were given."""

    first: int
    last: int
    grams: int
    page: int
    start: int
    end: int
    at: int


def least_grams(sample: float) -> int:
    """Of a sample, so many of its grams stand for `LEAST_GRAMS`; a handful in any case.

    >>> least_grams(1.0), least_grams(0.25), least_grams(0.125)
    (16, 4, 4)
    """
    return max(round(LEAST_GRAMS * sample), _LEAST_OF_SAMPLE)


def shares(
    circular: Ragged,
    salts: NDArray[np.uint64],
    labeled: list[NDArray[np.int64]],
    *,
    sample: float = 1.0,
) -> list[Share]:
    """Of each page, whose grams at these positions are labeled, how many distinct ones are.

    `circular` are the phrases of these pages, `salts` their identity hashes.
    """
    grams = gram_sets(circular, salts, wrapped=WRAPPED)
    counted = in_sample(grams.hashes.values, sample)
    found = []
    for page, positions in enumerate(labeled):
        mine = slice(int(grams.hashes.offsets[page]), int(grams.hashes.offsets[page + 1]))
        is_labeled = np.zeros(max(int(circular.counts[page]), 1), np.bool_)
        is_labeled[positions] = True
        some = counted[mine]
        hits = int(np.count_nonzero(is_labeled[grams.positions[mine]] & some))
        found.append(Share(hits, int(np.count_nonzero(some))))
    return found


def passages(positions: NDArray[np.int64], places: NDArray[np.void]) -> list[Passage]:
    """The passages of a page whose grams at these rising positions are labeled and stood there;
    those with most grams first, none over another in the page, at most `MOST_PASSAGES`."""
    if not len(positions):
        return []
    starts = places["start"].astype(np.int64)
    order = np.lexsort((positions, places["page"]))
    at, of, there = positions[order], places["page"][order], starts[order]
    known = of[1:] != NO_PAGE
    ahead = np.diff(there)
    apart = (np.diff(at) > _GAP) | (of[1:] != of[:-1])
    apart |= known & ((ahead < 0) | (ahead > _GAP_THERE))
    firsts = np.append(0, np.flatnonzero(apart) + 1)
    lasts = np.append(firsts[1:], len(at)) - 1
    found = []
    for first, last in _chosen(at, firsts, lasts):
        ends = order[first], order[last]
        found.append(
            Passage(
                int(at[first]), int(at[last]) + GRAM_K - 1, last - first + 1, int(of[first]),
                int(there[first]), int(there[last]) + int(places["length"][ends[1]]), int(ends[0]),
            )
        )  # fmt: skip
    return found


def _chosen(
    at: NDArray[np.int64], firsts: NDArray[np.int64], lasts: NDArray[np.int64]
) -> Iterator[tuple[int, int]]:
    """The longest first, as long as no word is in two."""
    ranked = np.lexsort((at[firsts], -(lasts - firsts)))[: 8 * MOST_PASSAGES]
    taken: list[tuple[int, int]] = []
    for one in ranked.tolist():
        first, last = int(firsts[one]), int(lasts[one])
        begin, end = int(at[first]), int(at[last])
        if all(end < other or begin > until for other, until in taken):
            taken.append((begin, end))
            yield first, last
            if len(taken) == MOST_PASSAGES:
                return
