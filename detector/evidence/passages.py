"""Passages: runs of one donor with a few other words between them, and which of them say most.

Who changes a word in each sentence has copied the text, not its halves: runs that follow each other
on both sides with a small gap are one passage. Passages are ranked by how rare their grams are: one
that stands once here and once there weighs 1, one that stands in many places little, and a weight
from outside (how few pages of a window have the gram) multiplies that. A gram of weight 0 is the
site's template; passages of nothing else come last, whatever their length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.evidence.alignment import Runs
from reusewatch.detector.evidence.shared_grams import Seeds, gram_length

MOST_BETWEEN = 4
"""Words that may stand between two runs of a passage, on either side: less than a run has."""


@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """By place in the subject; ends are exclusive. `same` of its words are the donor's, in order.

    Passage i has the runs from `first[i]` up to `first[i + 1]`. `ranked` are the numbers of the
    passages, the most telling first.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    donor: NDArray[np.int64]
    donor_start: NDArray[np.int64]
    donor_end: NDArray[np.int64]
    same: NDArray[np.int64]
    score: NDArray[np.float64]
    first: NDArray[np.int64]
    ranked: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start)


def passages(
    runs: Runs,
    seeds: Seeds,
    words: int,
    *,
    weights: NDArray[np.float32] | None = None,
    between: int = MOST_BETWEEN,
) -> Passages:
    """The passages of a subject of so many words; `weights` are those of its grams, in order."""
    ends, donor_ends = runs.here + runs.length, runs.there + runs.length
    begins = np.ones(len(runs), np.bool_)
    if len(runs) > 1:
        here = runs.here[1:] - ends[:-1]
        there = runs.there[1:] - donor_ends[:-1]
        apart = (here > between) | (there < 0) | (there > between)
        begins[1:] = apart | (runs.donor[1:] != runs.donor[:-1])
    at = np.flatnonzero(begins)
    last = np.append(at[1:], len(runs)) - 1 if len(runs) else at
    score = _scores(runs, seeds, words, weights)
    total = np.add.reduceat(score, at) if len(runs) else score
    same = np.add.reduceat(runs.length, at) if len(runs) else runs.length
    ranked = np.lexsort((runs.here[at], -same, -total))
    return Passages(
        start=runs.here[at], end=ends[last], donor=runs.donor[at], donor_start=runs.there[at],
        donor_end=donor_ends[last], same=same, score=total, first=np.append(at, len(runs)),
        ranked=ranked,
    )  # fmt: skip


def _scores(
    runs: Runs, seeds: Seeds, words: int, weights: NDArray[np.float32] | None
) -> NDArray[np.float64]:
    """What the grams of each run weigh."""
    rarity = np.zeros(seeds.lists.size, np.float64)
    found = seeds.lists >= 0
    rarity[found] = 1.0 / seeds.pairs[seeds.lists[found]]
    if weights is not None:
        if weights.shape != rarity.shape:
            raise ValueError(f"{weights.size} weights for {rarity.size} grams")
        rarity *= weights
    before = np.concatenate(([0.0], np.cumsum(rarity)))
    k = gram_length(words)
    ends = np.minimum(runs.here + runs.length - k + 1, rarity.size)
    weighed: NDArray[np.float64] = before[ends] - before[runs.here]
    return weighed
