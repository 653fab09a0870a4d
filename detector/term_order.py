"""The global order of terms: by rising document frequency (Das et al., §3).

Rare terms come first, so that the lists that a prefix opens are short. Frequencies are those of
the window at this moment; ties go by the term's hash, never by who came first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from detector.kernels import OUT_OFFSETS, WORDS, kernel


@kernel(types.Array(types.int64, 1, "C")(OUT_OFFSETS, WORDS))
def canonical(frequencies: Any, terms: Any) -> Any:
    """Indices of a page's terms in the global order."""
    by_term = np.argsort(terms.copy(), kind="mergesort")
    return by_term[np.argsort(frequencies[by_term], kind="mergesort")]
