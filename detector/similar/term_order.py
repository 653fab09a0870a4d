"""The global order of terms: by rising document frequency (Das et al., §3).

Rare terms come first, so that the lists that a prefix opens are short. Frequencies are those of
the window at this moment; ties go by the term's hash, never by who came first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def canonical(frequencies: NDArray[np.int64], terms: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Indices of a page's terms in the global order."""
    return np.lexsort((terms, frequencies))
