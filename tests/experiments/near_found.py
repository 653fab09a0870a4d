"""All pairs of a world that either algorithm may return, with their similarities and truth.

Every pair is looked at: no table loses any, and recall is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.sketching.agreement import NO_SUPERSHINGLE
from reusewatch.detector.window.near_rules import B_SIMILAR, C_SIMILAR, COMBINED_C, Policy
from tests.experiments.near_world import World

_ROWS = 64
BITS = 384
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Columns: pages of a pair, B- and C-similarity, shared sampled min-values, relation, truth.

    `once` is the C-similarity of the sets of words.
    """

    one: NDArray[np.int64]
    other: NDArray[np.int64]
    b: NDArray[np.int64]
    c: NDArray[np.int64]
    once: NDArray[np.int64]
    shared: NDArray[np.int64]
    same_site: Mask
    correct: Mask

    def __len__(self) -> int:
        return len(self.b)

    def returned(self, policy: Policy) -> Mask:
        """Which of them a policy calls near-duplicates."""
        facts = zip(self.b.tolist(), self.c.tolist(), self.shared.tolist(),
                    self.same_site.tolist(), strict=True)  # fmt: skip
        return np.fromiter(
            (policy.near(b, c, shared, same_site=same) for b, c, shared, same in facts),
            np.bool_, len(self),
        )  # fmt: skip


def pairs(world: World, *, least_b: int = 2, least_c: int = 372) -> Pairs:
    """Pairs that are B- or C-similar, and all that are correct."""
    found = [
        _from(world, begin, least_b, least_c) for begin in range(0, max(len(world) - 1, 1), _ROWS)
    ]
    one, other, b, c, once, shared = (np.concatenate(column) for column in zip(*found, strict=True))
    return Pairs(
        one, other, b, c, once, shared,
        world.sites[one] == world.sites[other], world.items[one] == world.items[other],
    )  # fmt: skip


def _from(world: World, begin: int, least_b: int, least_c: int) -> tuple[NDArray[np.int64], ...]:
    """The pairs of some pages with those after them."""
    rows = slice(begin, begin + _ROWS)
    b, c = _b(world, rows), _c(world, rows)
    correct = world.items[rows, None] == world.items[None, begin:]
    wanted = (b >= least_b) | (c >= least_c) | correct
    one, other = np.nonzero(np.triu(wanted, 1))
    shared = (world.sample[one + begin] == world.sample[other + begin]).sum(axis=1)
    differ = world.simhash_once[one + begin] ^ world.simhash_once[other + begin]
    once = BITS - np.bitwise_count(differ).sum(axis=1, dtype=np.int64)
    return (
        one + begin, other + begin, b[one, other], c[one, other], once, shared.astype(np.int64),
    )  # fmt: skip


def _b(world: World, rows: slice) -> NDArray[np.int64]:
    some, all_after = world.supershingles[rows], world.supershingles[rows.start :]
    agreed = np.zeros((len(some), len(all_after)), np.int64)
    for place in range(some.shape[1]):
        mine = some[:, place, None]
        agreed += (mine == all_after[None, :, place]) & (mine != NO_SUPERSHINGLE)
    return agreed


def _c(world: World, rows: slice) -> NDArray[np.int64]:
    some, all_after = world.simhash[rows], world.simhash[rows.start :]
    differ = np.zeros((len(some), len(all_after)), np.int64)
    for word in range(some.shape[1]):
        differ += np.bitwise_count(some[:, word, None] ^ all_after[None, :, word])
    return BITS - differ


def halves(found: Pairs) -> tuple[Mask, Mask]:
    """S₁, which chooses the combined algorithm's threshold, and S₂, which tests it."""
    by_b = found.b >= B_SIMILAR
    first = by_b & (np.random.default_rng(2006).random(len(found)) < 0.5)
    return first, by_b & ~first


def thresholds(found: Pairs, *, least_r: float = 0.8) -> tuple[int, int]:
    """t and the combined algorithm's, chosen on these pages as the paper chose them on its own.

    C then returns as many correct pairs as B (§3.1); the combined algorithm keeps four fifths of
    B's, on S₁ (§3.5).
    """
    first, _ = halves(found)
    of_c = np.sort(found.c[found.correct])[::-1]
    by_b = int((found.correct & (found.b >= B_SIMILAR)).sum())
    of_b = np.sort(found.c[first & found.correct])[::-1]
    if not by_b or not len(of_b):
        return C_SIMILAR, COMBINED_C
    return int(of_c[by_b - 1]), int(of_b[int(np.ceil(least_r * len(of_b))) - 1])
