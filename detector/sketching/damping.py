"""How often a word may vote in a simhash: no single one decides it.

Algorithm C adds the projection of every occurrence (Henzinger 2006, §2). Where one token makes up
a fifth of a page, its random vector alone is the simhash: two tables of numbers that share nothing
but many ones agree in all 384 bits. So of each token only the first `max(LEAST, n / SHARE)` of a
page's n tokens count, which leaves prose nearly as it is. Which cap is best was measured
(`tests/experiments/NEAR.md`); the paper's counts are `HashScheme(counts="paper")`.

Drops tokens and keeps the order of the others; never weighs anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    tuple_of,
)
from reusewatch.detector.ragged import Ragged, trimmed
from reusewatch.detector.sketching.grams import number_of, table_bits

LEAST = 4
SHARE = 32


def damped(tokens: Ragged, salts: NDArray[np.uint64]) -> Ragged:
    """The occurrences that count. `salts` are the pages' identity hashes, as in `gram_sets`."""
    offsets = np.empty(len(tokens) + 1, np.int64)
    kept = np.empty(tokens.values.size, np.uint64)
    salts = np.require(salts, np.uint64, ["C", "A"])
    if salts.size != len(tokens):
        raise ValueError(f"{salts.size} salts for {len(tokens)} pages")
    _damped(tokens.values, tokens.offsets, salts, (offsets, kept))
    return Ragged(trimmed(kept, offsets[-1]), offsets)


@kernel(types.void(WORDS, OFFSETS, WORDS, tuple_of(OUT_OFFSETS, OUT_WORDS)))
def _damped(tokens: Any, offsets: Any, salts: Any, out: Any) -> None:
    starts, kept = out
    longest = 0
    for page in range(offsets.size - 1):
        longest = max(longest, offsets[page + 1] - offsets[page])
    table = np.empty(1 << table_bits(longest), np.int32)
    known, seen = np.empty(longest, np.uint64), np.empty(longest, np.int64)
    size = 0
    starts[0] = 0
    for page in range(offsets.size - 1):
        first, stop = offsets[page], offsets[page + 1]
        most = max(LEAST, (stop - first) // SHARE)
        mask = (1 << table_bits(stop - first)) - 1
        table[: mask + 1] = -1
        count = 0
        for position in range(first, stop):
            seen[count] = 0
            token = number_of(table, mask, known, tokens[position], salts[page], count)
            count += token == count
            seen[token] += 1
            # Written either way: of a page of few words nobody can foresee which occurrence is one
            # too many, and a wrong guess costs more than all else here.
            kept[size] = tokens[position]
            size += seen[token] <= most
        starts[page + 1] = size
