"""Minimum weight overlapping (Das et al., §3, Table 3) and the bounds that its filters stand on.

MWO of two pages is Σ min(w, w′) over the terms that both have; weights of a page add up to 1, so
it is 1 for a page and its copy, and 0 for pages without a common term.

**Exact.** A weight is a float32 of at least `LIGHTEST`, hence a whole multiple of 2⁻⁵¹; sums below
2 of such are exact in 64 bits, in any order. So a bound that holds on paper holds in the machine,
and the answer does not depend on who adds up. Rounded weights add up to 1 within 2⁻²⁴: a threshold
t stands for `least(t)`, a trifle below, so that t = 1 finds copies.

**Bounds that lose nothing.** Put the terms of the page r that is asked for in any order, and let
rest(k) be the weight of its terms from the k-th on.

- Prefix: who shares none of the terms before k has MWO ≤ rest(k), since min(w, w′) ≤ w. So only
  pages that share one of the first k terms matter, for the least k with rest(k) < t. That holds
  for every order, and needs no prefix of the other page: the order may follow document frequencies
  as they are at this moment, while the window slides. By rising frequency the lists are short.
- Position: over the first k terms the overlap A is known. What is still to come is at most
  rest(k), and at most what the other page r′ has left: W(r′) less the weight D of its terms among
  those k. So MWO ≤ A + min(rest(k), W(r′) − D); a candidate for which this is below t is pruned.

**The paper's bounds** (its formulas 1 to 3) count terms: prefixes of |r| − ⌊t·|r|⌋ + 1 terms, and
1 + min(|r| − p, |r′| − q) ≥ t/(1+t)·(|r| + |r′|) at a common term. They hold for the Jaccard
coefficient of the sets of terms. They do not for MWO: two pages of which one heavy term makes 0.9
and ten light ones, all different, the rest, have MWO 0.9 and the Jaccard coefficient 1/21. They
are not used here; `tests/detector/similar/paper_filters.py` has them, for comparison.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reusewatch.detector.compiling.kernels import WORDS, kernel, types
from reusewatch.detector.compiling.mixers import chain
from reusewatch.detector.sketching.grams import find, table_bits

LIGHTEST = 2.0**-28
"""No normalized weight of a page is below."""
ROUNDING = 2.0**-23
"""What rounded weights of two pages can add up to less than theirs did."""

SHARES = types.Array(types.float32, 1, "C", readonly=True)
_PLACES = types.Array(types.int32, 1, "C", readonly=True)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class Runs(NamedTuple):
    """The terms of a page, every term once, and their weights as runs of equal ones.

    `begins` is with which term each run begins, counted from `first`, which the page's first is.
    """

    terms: NDArray[np.uint64]
    begins: NDArray[np.int32]
    weights: NDArray[np.float32]
    first: int = 0

    @classmethod
    def of(cls, terms: NDArray[np.uint64], weights: NDArray[np.float32]) -> Runs:
        """Of terms each of which has a weight of its own."""
        return cls(terms, np.arange(terms.size, dtype=np.int32), weights)

    def weighted(self) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """The terms, and a weight for each."""
        return self.terms, np.repeat(
            self.weights, np.diff(self.begins, append=self.first + self.terms.size)
        )  # fmt: skip


def least(threshold: float) -> float:
    """The MWO from which pages count as similar at a threshold.

    >>> least(0.5) < 0.5 < least(0.500001)
    True
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"a threshold of MWO is from 0 to 1, not {threshold}")
    return max(threshold - ROUNDING, 0.0)


def decide(
    terms: ArrayLike, weights: ArrayLike, other_terms: ArrayLike, other_weights: ArrayLike
) -> float:
    """MWO of two pages, each given by its terms, every term once, and their weights.

    >>> decide([1, 2], [0.5, 0.5], [2, 3], [0.25, 0.75])
    0.25
    """
    columns = []
    for hashes, shares in ((terms, weights), (other_terms, other_weights)):
        column, share = np.asarray(hashes, np.uint64), np.asarray(shares, np.float32)
        if column.ndim != 1 or column.shape != share.shape:
            raise ValueError(f"{share.shape} weights for {column.shape} terms")
        columns.append(Runs.of(column, share))
    return overlap_of(*columns)


def overlap_of(one: Runs, other: Runs) -> float:
    """MWO of two pages."""
    return float(_overlap(*one, *other))


_SIDE = (WORDS, _PLACES, SHARES, types.int64)


@kernel(types.float64(*_SIDE, *_SIDE))
def _overlap(
    terms: Any, begins: Any, weights: Any, first: Any, others: Any, other_begins: Any,
    other_weights: Any, other_first: Any,
) -> Any:  # fmt: skip
    """The terms of one page in a table, in which those of the other are looked up: to sort either
    takes several times as long."""
    # Of all terms: against another a page could be written whose terms all want one slot.
    salt = types.uint64(0)
    for term in terms:
        salt = chain(salt, term, _FACTOR)
    mask = (1 << table_bits(terms.size)) - 1
    table, shares = np.full(mask + 1, -1, np.int64), np.empty(terms.size, np.float32)
    run = -1
    for at in range(terms.size):
        while run + 1 < begins.size and begins[run + 1] - first <= at:
            run += 1
        shares[at] = weights[run]
        table[find(table, mask, terms, terms[at], salt)] = at
    total, run = 0.0, -1
    for at in range(others.size):
        while run + 1 < other_begins.size and other_begins[run + 1] - other_first <= at:
            run += 1
        found = table[find(table, mask, terms, others[at], salt)]
        if found >= 0:
            total += min(shares[found], other_weights[run])
    return min(total, 1.0)
