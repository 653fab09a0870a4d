"""Identity hashes: one number for a page's whole token sequence (Henzinger 2006, §2).

Pages with the same token sequence form an identity set and are the same page to every other
sketch. A chunk in text mode is hashed in the same way. It never looks at bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OFFSETS, OUT_WORDS, WORDS, kernel, part, types
from reusewatch.detector.compiling.mixers import chain, mix
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged

NO_IDENTITY = 0
"""Of a page without tokens, and of no other: such pages are in no identity set."""

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


def identity_hashes(tokens: Ragged, scheme: HashScheme) -> NDArray[np.uint64]:
    """A hash of each page's token sequence; `NO_IDENTITY` where there are no tokens."""
    hashes = np.empty(len(tokens), np.uint64)
    seed, factor = sequence_constants(scheme)
    _identity_hashes(tokens.values, tokens.offsets, seed, factor, hashes)
    return hashes


def sequence_constants(scheme: HashScheme) -> tuple[np.uint64, np.uint64]:
    """Where the hash of a sequence starts, and what each step multiplies by."""
    seed, factor = scheme.numbers("sequence", 2)
    return seed, factor


@part(types.uint64(types.uint64, types.int64))
def identity_of(state: Any, size: Any) -> Any:
    """The identity hash of `size` tokens that `chain` made this state of."""
    return max(mix(state), _ONE) if size > 0 else _ZERO


@kernel(types.void(WORDS, OFFSETS, types.uint64, types.uint64, OUT_WORDS))
def _identity_hashes(tokens: Any, offsets: Any, seed: Any, factor: Any, out: Any) -> None:
    for page in range(offsets.size - 1):
        start, end = offsets[page], offsets[page + 1]
        state = seed
        for position in range(start, end):
            state = chain(state, tokens[position], factor)
        out[page] = identity_of(state, end - start)
