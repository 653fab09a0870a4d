"""Identity hashes: one number for a page's whole token sequence (Henzinger 2006, §2).

Pages with the same token sequence form an identity set and are the same page to every other
sketch. `sequence_hash` is also the hash of a chunk in text mode. It never looks at bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OFFSETS, OUT_WORDS, WORDS, kernel, part
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


@part(types.uint64(WORDS, types.int64, types.int64, types.uint64, types.uint64))
def sequence_hash(tokens: Any, start: Any, end: Any, seed: Any, factor: Any) -> Any:
    """Hash of the token sequence from `start` up to `end`."""
    state = seed
    for position in range(start, end):
        state = chain(state, tokens[position], factor)
    return mix(state)


@kernel(types.void(WORDS, OFFSETS, types.uint64, types.uint64, OUT_WORDS))
def _identity_hashes(tokens: Any, offsets: Any, seed: Any, factor: Any, out: Any) -> None:
    for page in range(offsets.size - 1):
        start, end = offsets[page], offsets[page + 1]
        out[page] = max(sequence_hash(tokens, start, end, seed, factor), _ONE)
        if start == end:
            out[page] = _ZERO
