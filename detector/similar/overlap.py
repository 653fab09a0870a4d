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
are `bounds="paper"` of the index, for comparison.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray

from reusewatch.detector.compiling.kernels import WORDS, kernel

LIGHTEST = 2.0**-28
"""No normalized weight of a page is below."""
ROUNDING = 2.0**-23
"""What rounded weights of two pages can add up to less than theirs did."""

Rising = tuple[NDArray[np.uint64], NDArray[np.float32]]
"""Terms by rising hash, and their weights."""
SHARES = types.Array(types.float32, 1, "C", readonly=True)


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
        columns.append(rising(column, share))
    return overlap_of(*columns)


def rising(terms: NDArray[np.uint64], weights: NDArray[np.float32]) -> Rising:
    """The terms of a page by rising hash: to be done once for a page that is asked for again."""
    order = terms.argsort()  # here: numba takes seconds to compile a sort
    return terms[order], weights[order]


def overlap_of(one: Rising, other: Rising) -> float:
    """MWO of two pages, both by rising hash."""
    return float(_overlap(*one, *other))


@kernel(types.float64(WORDS, SHARES, WORDS, SHARES))
def _overlap(terms: Any, weights: Any, others: Any, other_weights: Any) -> Any:
    """Of two pages by rising hash, side by side."""
    i, j, total = 0, 0, 0.0
    while i < terms.size and j < others.size:
        one, other = terms[i], others[j]
        if one == other:
            total += min(weights[i], other_weights[j])
        i += one <= other
        j += other <= one
    return min(total, 1.0)
