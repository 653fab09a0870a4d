"""Seeds: the grams that a page shares with others, and where they stand on both sides.

A gram is a run of k words (Najork 2012, §2), known by its hash. Of a gram that stands in very many
places of the donors the first few are kept, and the others counted: so all of it is linear in the
pages, whatever they hold. Judges nothing: which seeds become runs is `alignment`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_OFFSETS,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.grams import GRAM_K, number_of, table_bits
from reusewatch.detector.sketching.identity import identity_hashes
from reusewatch.detector.sketching.shingles import phrases

MOST_PLACES = 8
"""Places in the donors that are tried for one gram; the rest is counted in `Seeds.cut`."""


@dataclass(frozen=True, slots=True, eq=False)
class Seeds:
    """For each position of the subject at which a run may be: the places that may match.

    Position p has the places `places[starts[i]:starts[i + 1]]`, i = `lists[p]`, which are positions
    in the donors' column of words; none where that is −1. `pairs[i]` is how many pairs of places
    here and there the list stands for, before it was cut: the fewer, the more telling.
    """

    lists: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]
    pairs: NDArray[np.int64]
    cut: int

    @classmethod
    def of_pairs(cls, here: ArrayLike, there: ArrayLike, positions: int) -> Seeds:
        """From pairs of positions, here and in the donors' column, as postings have them.

        >>> Seeds.of_pairs([4, 1, 4], [0, 7, 9], positions=6).lists.tolist()
        [-1, 0, -1, -1, 1, -1]
        """
        ours, theirs = np.asarray(here, np.int64), np.asarray(there, np.int64)
        if ours.shape != theirs.shape:
            raise ValueError(f"{theirs.size} places for {ours.size} positions")
        if ours.size and not 0 <= ours.min() <= ours.max() < positions:
            raise ValueError(f"a seed outside of the {positions} positions of the page")
        order = np.lexsort((theirs, ours))
        ours, theirs = ours[order], theirs[order]
        own, first, pairs = np.unique(ours, return_index=True, return_counts=True)
        kept = np.arange(ours.size) - np.repeat(first, pairs) < MOST_PLACES
        lists = np.full(positions, -1, np.int64)
        lists[own] = np.arange(own.size)
        starts = np.concatenate(([0], np.cumsum(np.minimum(pairs, MOST_PLACES)))).astype(np.int64)
        return cls(lists, starts, theirs[kept], pairs.astype(np.int64), int((~kept).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class SharedGrams:
    """The seeds of a page and its donors, and how many words of each are in what is shared.

    A word counts if it stands in a gram that the other side has too, wherever: so neither figure
    depends on how the runs were chosen.
    """

    seeds: Seeds
    words_here: int
    words_there: NDArray[np.int64]
    # Depends on all words of both sides.
    salt: int


def gram_length(here: int) -> int:
    """The words of a gram, of a page with so many; a page with fewer than k is one gram."""
    return max(1, min(GRAM_K, here))


def shared_grams(here: NDArray[np.uint64], there: Ragged, scheme: HashScheme) -> SharedGrams:
    """What a page, given by its words' hashes, shares with each of its donors."""
    k = gram_length(here.size)
    ours = Ragged(here, np.array([0, here.size], np.int64))
    grams, others = (phrases(words, k, scheme, circular=False) for words in (ours, there))
    salt = identity_hashes(ours, scheme)[0] ^ np.bitwise_xor.reduce(identity_hashes(there, scheme))
    return shared_of(grams.values, others.values, (others.offsets, there.offsets), k, salt)


def shared_of(
    grams: NDArray[np.uint64],
    others: NDArray[np.uint64],
    offsets: tuple[NDArray[np.int64], NDArray[np.int64]],
    k: int,
    salt: np.uint64,
) -> SharedGrams:
    """The same of grams that are made: of k words, the donors' with where each one's grams begin,
    and where its words.

    The salt depends on all words of both sides: against another a page could be written whose grams
    all want one slot, and this would take quadratic time.
    """
    size = grams.size
    lists, pairs = np.empty(size, np.int64), np.empty(size, np.int64)
    starts, places = np.empty(size + 1, np.int64), np.empty(others.size, np.int64)
    covered = np.empty(len(offsets[0]), np.int64)
    count, kept, cut = _shared_of(
        grams, others, offsets, (k, MOST_PLACES), salt, (lists, starts, places, pairs, covered)
    )
    seeds = Seeds(lists, starts[: count + 1], places[:kept], pairs[:count], cut)
    return SharedGrams(seeds, int(covered[0]), covered[1:], int(salt))


_BOUNDS = tuple_of(OFFSETS, OFFSETS)
_TAKEN = tuple_of(types.int64, types.int64)
_OUT = tuple_of(*([OUT_OFFSETS] * 5))


@part(types.int64(OUT_OFFSETS, _BOUNDS, OUT_OFFSETS, OUT_OFFSETS, OUT_OFFSETS))
def _fill(of: Any, bounds: Any, cursors: Any, starts: Any, places: Any) -> Any:
    """Write the donors' places into their lists, as positions of words; how many had no room."""
    gram_at, token_at = bounds
    cut = 0
    for page in range(gram_at.size - 1):
        shift = token_at[page] - gram_at[page]
        for g in range(gram_at[page], gram_at[page + 1]):
            i = of[g]
            if i < 0:
                continue
            if cursors[i] == starts[i + 1]:
                cut += 1
                continue
            places[cursors[i]] = g + shift
            cursors[i] += 1
    return cut


_SHARED = tuple_of(*([types.int64] * 3))(WORDS, WORDS, _BOUNDS, _TAKEN, types.uint64, _OUT)


@part(_SHARED, allocates=True)
def shared(here: Any, there: Any, bounds: Any, taken: Any, salt: Any, out: Any) -> Any:
    """One table of the subject's grams; the donors, however many, are passed twice."""
    gram_at = bounds[0]
    k, most = taken
    lists, starts, places, pairs, covered = out
    mask = (1 << table_bits(here.size)) - 1
    table = np.full(mask + 1, -1, np.int32)
    known, first = np.empty(here.size + 1, np.uint64), np.empty(here.size + 1, np.int64)
    # The last of these counts grams that the subject has not.
    times, others = np.zeros(here.size, np.int64), np.zeros(here.size + 1, np.int64)
    count = 0
    for p in range(here.size):
        number = number_of(table, mask, known, here[p], salt, count)
        lists[p] = number
        if number == count:
            first[number] = p
            count += 1
        times[number] += 1
    of = np.empty(there.size, np.int64)
    for page in range(gram_at.size - 1):
        end, shared, near = 0, 0, 0
        for g in range(gram_at[page], gram_at[page + 1]):
            # Who copies goes on copying: mostly it is the gram behind the one before.
            if near < here.size and here[near] == there[g]:
                number = lists[near]
            else:
                # One that is unknown gets the number of the next, and so does each other.
                number = number_of(table, mask, known, there[g], salt, count)
                if number < count:
                    near = first[number]
            near += 1
            of[g] = number if number < count else -1
            others[number] += 1
            if number < count:
                p = g - gram_at[page]
                shared += p + k - max(p, end)
                end = p + k
        covered[page + 1] = shared
    starts[0] = 0
    for i in range(count):
        starts[i + 1] = starts[i] + min(others[i], most)
        pairs[i] = times[i] * others[i]
        times[i] = starts[i]
    cut = _fill(of, bounds, times, starts, places)
    end, shared = 0, 0
    for p in range(here.size):
        if others[lists[p]] == 0:
            lists[p] = -1
            continue
        shared += p + k - max(p, end)
        end = p + k
    covered[0] = shared
    return count, starts[count], cut


@kernel(_SHARED)
def _shared_of(here: Any, there: Any, bounds: Any, taken: Any, salt: Any, out: Any) -> Any:
    return shared(here, there, bounds, taken, salt, out)
