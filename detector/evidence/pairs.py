"""Two pages: what one has of the other, for whoever shows it.

Everything here is order-free but for the choice of runs: shares and words that differ are what they
are, whatever was aligned with what.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.evidence.alignment import Runs, align_one
from reusewatch.detector.evidence.own_words import own_words
from reusewatch.detector.evidence.pages import PageWords
from reusewatch.detector.evidence.passages import Passages, passages
from reusewatch.detector.evidence.shared_grams import (
    SharedGrams,
    gram_length,
    shared_grams,
    shared_of,
)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.grams import GRAM_K


@dataclass(frozen=True, slots=True)
class Copied:
    """A passage that both pages have: bytes of both bodies, and how it begins in the subject."""

    start: int
    end: int
    text: str
    donor_start: int
    donor_end: int


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of two pages: the passages that say most, in that order, and the rest as `Pair`
    has it."""

    copied: tuple[Copied, ...]
    share_here: float
    share_there: float
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]
    cut: int


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """A page and its donor, aligned. The shares are of their words that stand in shared grams."""

    here: PageWords
    there: PageWords
    runs: Runs
    passages: Passages
    share_here: float
    share_there: float
    only_here: tuple[str, ...]
    only_there: tuple[str, ...]
    # Places of grams that were passed over, see `shared_grams.MOST_PLACES`.
    cut: int

    def told(self, most: int) -> Told:
        """With so many passages."""
        return Told(
            tuple(self.copied(most)), self.share_here, self.share_there,
            self.only_here, self.only_there, self.cut,
        )  # fmt: skip

    def copied(self, most: int) -> list[Copied]:
        """The passages that say most, so many of them; in that order."""
        chosen = self.passages.ranked[:most]
        ours = self.passages.start[chosen], self.passages.end[chosen]
        theirs = self.passages.donor_start[chosen], self.passages.donor_end[chosen]
        rows = zip(
            *self.here.spans(*ours), self.here.texts(*ours), *self.there.spans(*theirs), strict=True
        )
        return [Copied(*row) for row in rows]


def compare(
    here: PageWords,
    there: PageWords,
    scheme: HashScheme,
    *,
    weights: NDArray[np.float32] | None = None,
) -> Pair:
    """Align two pages. `weights`, where known, say how rare each gram of the subject is."""
    offsets = np.array([0, len(there)], np.int64)
    found = _shared(here, there, offsets, scheme)
    runs = align_one(here.hashes, there.hashes, offsets, found.seeds)
    ours, theirs = own_words(here.hashes, there.hashes, found.salt)
    return Pair(
        here=here, there=there, runs=runs,
        passages=passages(runs, found.seeds, len(here), weights=weights),
        share_here=found.words_here / max(1, len(here)),
        share_there=int(found.words_there[0]) / max(1, len(there)),
        only_here=tuple(map(here.word, ours)), only_there=tuple(map(there.word, theirs)),
        cut=found.seeds.cut,
    )  # fmt: skip


def _shared(
    here: PageWords, there: PageWords, offsets: NDArray[np.int64], scheme: HashScheme
) -> SharedGrams:
    """By the grams that the pages have, but for those of a page of fewer words than a gram has."""
    if gram_length(len(here)) < GRAM_K:
        return shared_grams(here.hashes, Ragged(there.hashes, offsets), scheme)
    grams = np.array([0, there.grams.size], np.int64)
    salt = here.identity ^ there.identity
    return shared_of(here.grams, there.grams, (grams, offsets), GRAM_K, salt)
