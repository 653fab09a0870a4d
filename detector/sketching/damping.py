"""How often a word may vote in a simhash: no single one decides it.

Algorithm C adds the projection of every occurrence (Henzinger 2006, §2). Where one token makes up
a fifth of a page, its random vector alone is the simhash: two tables of numbers that share nothing
but many ones agree in all 384 bits. So of each token only the first `max(LEAST, n / SHARE)` of a
page's n tokens count, which leaves prose nearly as it is. Which cap is best was measured
(`tests/experiments/NEAR.md`); the paper's counts are `HashScheme(counts="paper")`.

Never weighs anything.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.ragged import Ragged

LEAST = 4
SHARE = 32


def damped(words: Ragged, seen: NDArray[np.uint32], sizes: NDArray[np.int64]) -> NDArray[np.uint32]:
    """How often each word counts of pages of so many tokens, where it is seen so often."""
    most = np.maximum(LEAST, sizes // SHARE)
    found: NDArray[np.uint32] = np.minimum(seen, np.repeat(most, words.counts)).astype(np.uint32)
    return found
