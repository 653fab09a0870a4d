"""Fetterly et al.'s equivalence classes of the window, exactly (2005, §3.3).

Two pages are near-duplicates if their shingles agree in two of the six runs (k = 5, circular);
classes are the transitive closure. Two sets agree in two runs iff they share one of fifteen pairs
of runs, so that the closure needs no pair of pages to be compared: sets of equal pairs
are joined, a million pages of one template in one pass. Most pairs are of one set alone: those are
left out by two passes over bits, and only the others are sorted.

A class that would outgrow its bound does not join another; sets are taken in the order of their
identity hashes, so that the answer does not depend on who came first. Changes nothing.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_OFFSETS,
    OUT_WORD_ROWS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.compiling.mixers import mix

_RUNS = tuple(combinations(range(6), 2))
_WORD = np.uint64(32)
_IN_WORD = np.uint64(63)
_BITS_A_SET = 4  # sixteen for each set, by its power of two: of those alone 3 % share one by chance
_SUPER5 = types.Array(types.uint32, 2, "C", readonly=True)


def closure(
    super5: NDArray[np.uint32], names: NDArray[np.uint64], largest: int
) -> tuple[NDArray[np.int64], int]:
    """The class of each set, named by a member, and how often classes were kept apart.

    A row of six supershingles a set; 0 is none and agrees with nothing. Names say in which order
    sets are taken.
    """
    parent = np.arange(len(super5))
    size = np.ones(len(super5), np.int64)
    refused = 0
    met = np.zeros((2, 1 << max(6, _BITS_A_SET + len(super5).bit_length() - 6)), np.uint64)
    for one, other in _RUNS:
        met[:] = 0
        held = _not_alone(super5, one, other, met)
        keys = _keys(super5[held], one, other)
        order = np.lexsort((names[held], keys))
        equal = keys[order[1:]] == keys[order[:-1]]
        held = held[order]
        refused += _join(parent, size, held[:-1][equal], held[1:][equal], largest)
    _settle(parent)
    return parent, refused


def _keys(super5: NDArray[np.uint32], one: int, other: int) -> NDArray[np.uint64]:
    """A pair of runs as one number for each set."""
    return super5[:, one].astype(np.uint64) << _WORD | super5[:, other]


def steps_from(super5: NDArray[np.uint32], begin: int) -> int:
    """How many steps from near-duplicate to near-duplicate the farthest set of a class is away.

    The diameter of the class is at least this and at most twice as much.
    """
    near = np.zeros(len(super5), np.bool_)
    near[begin] = True
    steps, fresh = 0, near.copy()
    while True:
        reached = near.copy()
        for one, other in _RUNS:
            keys = _keys(super5, one, other)
            held = np.flatnonzero((super5[:, one] != 0) & (super5[:, other] != 0))
            wanted = np.unique(keys[held[fresh[held]]])
            reached[held] |= np.isin(keys[held], wanted)
        fresh = reached & ~near
        if not fresh.any():
            return steps
        near, steps = reached, steps + 1


@part(
    tuple_of(types.boolean, types.int64, types.uint64)(
        _SUPER5, types.int64, types.int64, types.int64, types.int64
    )
)
def _place(super5: Any, at: Any, one: Any, other: Any, words: Any) -> Any:
    """Whether a set has both runs; the word, of a power of two, and the bit of its pair. No bit, if
    it has not."""
    first, second = super5[at, one], super5[at, other]
    has = first != 0 and second != 0
    hashed = mix(types.uint64(first) << _WORD | types.uint64(second))
    bit = types.uint64(has) << (hashed & _IN_WORD)
    return has, types.int64(hashed >> _WORD) & (words - 1), bit


@kernel(OUT_OFFSETS(_SUPER5, types.int64, types.int64, OUT_WORD_ROWS))
def _not_alone(super5: Any, one: Any, other: Any, met: Any) -> Any:
    """The sets whose pair another set has too, and a few more; `met` is room for bits, of zeros."""
    found, size = np.empty(super5.shape[0], np.int64), 0
    for at in range(super5.shape[0]):
        _, word, bit = _place(super5, at, one, other, met.shape[1])
        met[1, word] |= met[0, word] & bit
        met[0, word] |= bit
    for at in range(super5.shape[0]):
        has, word, bit = _place(super5, at, one, other, met.shape[1])
        if has and met[1, word] & bit:
            found[size] = at
            size += 1
    return found[:size]


@part(types.int64(OUT_OFFSETS, types.int64))
def _root(parent: Any, at: Any) -> Any:
    while parent[at] != at:
        parent[at] = parent[parent[at]]
        at = parent[at]
    return at


@kernel(types.int64(OUT_OFFSETS, OUT_OFFSETS, OFFSETS, OFFSETS, types.int64))
def _join(parent: Any, size: Any, ones: Any, others: Any, largest: Any) -> Any:
    refused = 0
    for i in range(ones.size):
        one, other = _root(parent, ones[i]), _root(parent, others[i])
        if one == other:
            continue
        if size[one] + size[other] > largest:
            refused += 1
            continue
        if size[one] < size[other]:
            one, other = other, one
        parent[other] = one
        size[one] += size[other]
    return refused


@kernel(types.void(OUT_OFFSETS))
def _settle(parent: Any) -> None:
    for at in range(parent.size):
        parent[at] = _root(parent, at)
