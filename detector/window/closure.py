"""Fetterly et al.'s equivalence classes of the window, exactly (2005, §3.3).

Two pages are near-duplicates if their shingles agree in two of the six runs (k = 5, circular);
classes are the transitive closure. Two sets agree in two runs iff they share one of fifteen pairs
of runs, so that the closure needs no pair of pages to be compared: sets of equal pairs
are joined, a million pages of one template in one pass.

A class that would outgrow its bound does not join another; sets are taken in the order of their
identity hashes, so that the answer does not depend on who came first. Changes nothing.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OFFSETS, OUT_OFFSETS, kernel, part

_RUNS = tuple(combinations(range(6), 2))
_WORD = np.uint64(32)


def closure(super5: NDArray[np.uint32], largest: int) -> tuple[NDArray[np.int64], int]:
    """The class of each set, named by a member, and how often classes were kept apart.

    A row of six supershingles a set; 0 is none and agrees with nothing.
    """
    parent = np.arange(len(super5))
    size = np.ones(len(super5), np.int64)
    refused = 0
    for one, other in _RUNS:
        keys, held = _keys(super5, one, other)
        order = held[np.argsort(keys[held], kind="stable")]
        equal = keys[order[1:]] == keys[order[:-1]]
        refused += _join(parent, size, order[:-1][equal], order[1:][equal], largest)
    _settle(parent)
    return parent, refused


def _keys(
    super5: NDArray[np.uint32], one: int, other: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A pair of runs as one number for each set, and the sets that have both."""
    keys = super5[:, one].astype(np.uint64) << _WORD | super5[:, other]
    return keys, np.flatnonzero((super5[:, one] != 0) & (super5[:, other] != 0))


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
            keys, held = _keys(super5, one, other)
            wanted = np.unique(keys[held[fresh[held]]])
            reached[held] |= np.isin(keys[held], wanted)
        fresh = reached & ~near
        if not fresh.any():
            return steps
        near, steps = reached, steps + 1


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
