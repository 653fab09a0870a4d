"""Passages: runs of one donor with a few other words between them, and which of them say most.

Who changes a word in each sentence has copied the text, not its halves: runs that follow each other
on both sides with a small gap are one passage. Passages are ranked by how rare their grams are: one
that stands once here and once there weighs 1, one that stands in many places little, and a weight
from outside (how few pages of a window have the gram) multiplies that. A gram of weight 0 is the
site's template; passages of nothing else come last, whatever their length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_OFFSET_ROWS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.evidence.alignment import Runs
from reusewatch.detector.evidence.shared_grams import Seeds, gram_length
from reusewatch.detector.ragged import as_column

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
    if weights is not None and weights.shape != seeds.lists.shape:
        raise ValueError(f"{weights.size} weights for {seeds.lists.size} grams")
    score, rows = np.empty(len(runs), np.float64), np.empty((7, len(runs) + 1), np.int64)
    count = _passages_of(
        (runs.here, runs.there, runs.length, runs.donor), (seeds.lists, seeds.pairs),
        ALIKE if weights is None else as_column(weights, np.float32),
        (gram_length(words), between), (score, rows),
    )  # fmt: skip
    first, (start, end, donor, donor_start, donor_end, same) = (
        rows[0, : count + 1], rows[1:, :count],
    )  # fmt: skip
    total = totals(score, first)
    ranked = np.lexsort((start, -same, -total)) if count > 1 else np.arange(count)
    return Passages(
        start=start, end=end, donor=donor, donor_start=donor_start, donor_end=donor_end,
        same=same, score=total, first=first, ranked=ranked,
    )  # fmt: skip


def totals(score: NDArray[np.float64], first: NDArray[np.int64]) -> NDArray[np.float64]:
    """What the runs of each passage weigh together."""
    # As exact as numpy adds: passages of like weight would change places else.
    return np.add.reduceat(score, first[:-1]) if first.size > 1 else score


_RUNS = tuple_of(*([OFFSETS] * 4))
_SEEDS = tuple_of(OFFSETS, OFFSETS)
_WEIGHTS = types.Array(types.float32, 1, "C", readonly=True)
_OUT = tuple_of(types.Array(types.float64, 1, "C"), OUT_OFFSET_ROWS)
ALIKE = np.empty(0, np.float32)
"""The weights of grams of which none is more telling than another."""


_JOINED = types.int64(_RUNS, _SEEDS, _WEIGHTS, tuple_of(types.int64, types.int64), _OUT)


@part(_JOINED, allocates=True)
def joined(runs: Any, seeds: Any, weights: Any, taken: Any, out: Any) -> Any:
    """What the grams of each run weigh; where passages begin and end on both sides, how many."""
    ours, theirs, lengths, donors = runs
    lists, pairs = seeds
    k, between = taken
    score, rows = out
    before = np.empty(lists.size + 1, np.float64)
    before[0] = 0.0
    for p in range(lists.size):
        rarity = 1.0 / pairs[lists[p]] if lists[p] >= 0 else 0.0
        if weights.size:
            rarity *= weights[p]
        before[p + 1] = before[p] + rarity
    count = 0
    for run in range(ours.size):
        here, there = ours[run], theirs[run]
        end, donor_end = here + lengths[run], there + lengths[run]
        score[run] = before[min(end - k + 1, lists.size)] - before[here]
        now = count - 1
        begins = now < 0 or donors[run] != rows[3, now]
        if not begins:
            gap = there - rows[5, now]
            begins = here - rows[2, now] > between or gap < 0 or gap > between
        if begins:
            now = count
            count += 1
            rows[0, now], rows[1, now], rows[3, now] = run, here, donors[run]
            rows[4, now], rows[6, now] = there, 0
        rows[2, now], rows[5, now] = end, donor_end
        rows[6, now] += lengths[run]
    rows[0, count] = ours.size
    return count


@kernel(_JOINED)
def _passages_of(runs: Any, seeds: Any, weights: Any, taken: Any, out: Any) -> Any:
    return joined(runs, seeds, weights, taken, out)
