"""Many pairs of pages at once: what `pairs` tells of each, told of all of them.

A step of alerts has dozens of pairs, and of each a few small arrays are made, sorted and looked
into: that takes longer than the comparing. So one kernel goes through all pairs, and what is told
of what it finds is chosen, placed and cut for all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_OFFSET_ROWS,
    OUT_OFFSETS,
    WORDS,
    kernel,
    tuple_of,
    types,
)
from reusewatch.detector.evidence.alignment import aligned
from reusewatch.detector.evidence.own_words import MOST_OWN, own
from reusewatch.detector.evidence.pages import ManyWords
from reusewatch.detector.evidence.pairs import Copied, Told, compare
from reusewatch.detector.evidence.passages import ALIKE, MOST_BETWEEN, joined, totals
from reusewatch.detector.evidence.shared_grams import MOST_PLACES, shared
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import page_offsets
from reusewatch.detector.sketching.grams import GRAM_K

# What is found of a pair: words in shared grams here and there, places that were passed over, own
# words here and there, passages.
_FOUND = 6
_ROWS = 6


class _Found(NamedTuple):
    """What the kernel found of pairs; passages and their runs stand end to end.

    `rows` are of a passage its begin and end here, begin and end there, its words, and the pair
    that it is of.
    """

    facts: NDArray[np.int64]
    own: NDArray[np.int64]
    rows: NDArray[np.int64]
    totals: NDArray[np.float64]


def told_of_pairs(
    pages: ManyWords, pairs: Sequence[tuple[int, int]], scheme: HashScheme, most: int
) -> list[Told]:
    """What is told of pairs of these pages, by their numbers; so many passages of each."""
    # Of a page of fewer words than a gram has the grams are others.
    sizes = pages.words.counts
    long = [pair for pair in pairs if sizes[pair[0]] >= GRAM_K]
    told = iter(_told(pages, np.array(long, np.int64).reshape(-1, 2), most))
    return [
        next(told) if sizes[here] >= GRAM_K
        else compare(pages.page(here), pages.page(there), scheme).told(most)
        for here, there in pairs
    ]  # fmt: skip


def _told(pages: ManyWords, pairs: NDArray[np.int64], most: int) -> list[Told]:
    found = _compared(pages, pairs)
    copied = _copied(pages, pairs, found, most)
    words = _own_words(pages, pairs, found)
    sizes = np.maximum(pages.words.counts, 1)[pairs]
    shares = (found.facts[:, :2] / sizes).tolist()
    cut = found.facts[:, 2].tolist()
    return [
        Told(rows, here, there, ours, theirs, passed_over)
        for rows, (here, there), (ours, theirs), passed_over in zip(
            copied, shares, words, cut, strict=True
        )
    ]


def _compared(pages: ManyWords, pairs: NDArray[np.int64]) -> _Found:
    count, words = len(pairs), pages.words
    room = int((words.counts[pairs[:, 0]] // GRAM_K + 1).sum())
    facts = np.empty((count, _FOUND), np.int64)
    own_at = np.empty((2 * count, MOST_OWN), np.int64)
    rows, first, score = (
        np.empty((_ROWS, room), np.int64), np.empty(room + 1, np.int64), np.empty(room),
    )  # fmt: skip
    passages, runs = _compare(
        (words.values, words.offsets), (pages.grams.values, pages.grams.offsets),
        np.ascontiguousarray(pairs), pages.identities, (GRAM_K, MOST_PLACES, MOST_BETWEEN),
        ALIKE, (facts, own_at, rows, first, score),
    )  # fmt: skip
    found = totals(score[:runs], first[: passages + 1])
    return _Found(facts, own_at, rows[:, :passages], found[:passages])


def _copied(
    pages: ManyWords, pairs: NDArray[np.int64], found: _Found, most: int
) -> list[tuple[Copied, ...]]:
    start, _, _, _, same, pair = found.rows
    ranked = np.lexsort((start, -same, -found.totals, pair))
    counts = found.facts[:, _FOUND - 1]
    rank = np.arange(len(ranked)) - np.repeat(np.cumsum(counts) - counts, counts)
    start, end, donor_start, donor_end, _, pair = found.rows[:, ranked[rank < most]]
    here, there = pairs[pair].T
    starts, ends = pages.spans(
        np.concatenate((here, there)), np.concatenate((start, donor_start)),
        np.concatenate((end, donor_end)),
    )  # fmt: skip
    texts, half = pages.texts(here, start, end), len(here)
    rows = zip(starts, ends, texts, starts[half:], ends[half:], strict=False)
    made = [Copied(*row) for row in rows]
    return [tuple(made[a:b]) for a, b in pairwise(page_offsets(np.minimum(counts, most)).tolist())]


def _own_words(
    pages: ManyWords, pairs: NDArray[np.int64], found: _Found
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    counts = found.facts[:, 3:5].ravel()
    taken = np.arange(MOST_OWN) < counts[:, None]
    words = pages.told(np.repeat(pairs.ravel(), counts), found.own[taken])
    sides = [tuple(words[a:b]) for a, b in pairwise(page_offsets(counts).tolist())]
    return list(zip(sides[::2], sides[1::2], strict=True))


_COLUMN = tuple_of(WORDS, OFFSETS)
_PAIRS = types.Array(types.int64, 2, "C", readonly=True)
_TAKEN = tuple_of(*([types.int64] * 3))
_WEIGHTS = types.Array(types.float32, 1, "C", readonly=True)
_OUT = tuple_of(
    OUT_OFFSET_ROWS, OUT_OFFSET_ROWS, OUT_OFFSET_ROWS, OUT_OFFSETS,
    types.Array(types.float64, 1, "C"),
)  # fmt: skip


@kernel(tuple_of(types.int64, types.int64)(
    _COLUMN, _COLUMN, _PAIRS, WORDS, _TAKEN, _WEIGHTS, _OUT
))  # fmt: skip
def _compare(
    words: Any, grams: Any, pairs: Any, identities: Any, taken: Any, alike: Any, out: Any
) -> Any:
    """Pair by pair what the kernels of one pair do; how many passages there are, and runs."""
    k, most, between = taken
    facts, own_at, rows, first, score = out
    gram_bounds, word_bounds = np.zeros(2, np.int64), np.zeros(2, np.int64)
    passages, runs = 0, 0
    for pair in range(pairs.shape[0]):
        a, b = pairs[pair, 0], pairs[pair, 1]
        here = words[0][words[1][a] : words[1][a + 1]]
        there = words[0][words[1][b] : words[1][b + 1]]
        ours = grams[0][grams[1][a] : grams[1][a + 1]]
        theirs = grams[0][grams[1][b] : grams[1][b + 1]]
        gram_bounds[1], word_bounds[1] = theirs.size, there.size
        salt = identities[a] ^ identities[b]
        lists, counts = np.empty(ours.size, np.int64), np.empty(ours.size, np.int64)
        starts, places = np.empty(ours.size + 1, np.int64), np.empty(theirs.size, np.int64)
        covered = np.empty(2, np.int64)
        known, kept, cut = shared(
            ours, theirs, (gram_bounds, word_bounds), (k, most), salt,
            (lists, starts, places, counts, covered),
        )  # fmt: skip
        grown = np.empty((4, here.size // k + 1), np.int64)
        seeds = lists, starts[: known + 1], places[:kept], counts[:known]
        count, _ = aligned(here, there, word_bounds, k, seeds, grown)
        joined_rows, weights = np.empty((7, count + 1), np.int64), np.empty(count, np.float64)
        told = joined(
            (grown[0][:count], grown[1][:count], grown[2][:count], grown[3][:count]),
            (lists, counts[:known]), alike, (k, between), (weights, joined_rows),
        )  # fmt: skip
        mine, others = own(here, there, salt, (own_at[2 * pair], own_at[2 * pair + 1]))
        for run in range(count):
            score[runs + run] = weights[run]
        for row in range(told):
            at = passages + row
            first[at] = runs + joined_rows[0, row]
            rows[0, at], rows[1, at] = joined_rows[1, row], joined_rows[2, row]
            rows[2, at], rows[3, at] = joined_rows[4, row], joined_rows[5, row]
            rows[4, at], rows[5, at] = joined_rows[6, row], pair
        facts[pair, 0], facts[pair, 1], facts[pair, 2] = covered[0], covered[1], cut
        facts[pair, 3], facts[pair, 4], facts[pair, 5] = mine, others, told
        runs += count
        passages += told
    first[passages] = runs
    return passages, runs
