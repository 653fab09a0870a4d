"""Which pairs are near-duplicates (Henzinger 2006, §2, §3.3, §3.5).

B-similarity is the number of agreeing supershingles (k = 8), C-similarity that of agreeing bits
of the simhash. Both are precise on different sites and poor on one site; both together are
good there. A pair that C alone calls near must share phrases besides: a few dozen words appended
give an innocent page the simhash of another.

`Policy.near` is the definition in plain words; `neighbors` decides the same in kernels, and tests
hold them equal. The numbers are the papers'; the settings of the same names are those in force.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.window.store import SAMPLE

B_SIMILAR = 2
C_SIMILAR = 372
COMBINED_C = 355
LEAST_SHARED = 3
"""Of the 16 bytes of min-values that are kept. Three agree by chance in 3 of 100 000 pairs; of
pages whose phrases agree by half, 998 in 1 000 have three."""

# What a pair must be, on one site and on two.
_B, _C, _COMBINED, _EITHER = range(4)
_RULES = {
    "across": (_COMBINED, _EITHER),
    "henzinger": (_COMBINED, _C),
    "b": (_B, _B),
    "c": (_C, _C),
    "combined": (_COMBINED, _COMBINED),
    "either": (_EITHER, _EITHER),
}
POLICIES = tuple(_RULES)


@dataclass(frozen=True, slots=True)
class Policy:
    """A rule by name, and its thresholds: t of Algorithm C, and C's in the combined algorithm.

    `least_shared`: agreeing sampled min-values that C needs besides, unless a supershingle
    agrees; 0 is the paper's Algorithm C.
    """

    name: str = "henzinger"
    b_similar: int = B_SIMILAR
    t: int = C_SIMILAR
    combined_t: int = COMBINED_C
    least_shared: int = LEAST_SHARED

    def __post_init__(self) -> None:
        if self.name not in _RULES:
            raise ValueError(f"there is no policy {self.name!r}: one of {', '.join(_RULES)}")
        if not 1 <= self.b_similar <= 6:
            raise ValueError(f"of six supershingles at least 1 to 6 agree, not {self.b_similar}")
        if not (0 < self.t <= 384 and 0 < self.combined_t <= 384):
            raise ValueError("a threshold of C-similarity is between 1 and 384 bits")
        if not 0 <= self.least_shared <= SAMPLE:
            raise ValueError(f"of {SAMPLE} sampled min-values 0 to {SAMPLE} agree")

    def near(self, b: int, c: int, shared: int, *, same_site: bool) -> bool:
        """Whether a pair is near: agreeing supershingles, bits and sampled min-values."""
        b_similar = b >= self.b_similar
        c_similar = c >= self.t and (shared >= self.least_shared or b > 0)
        rule = _RULES[self.name][0 if same_site else 1]
        combined = b_similar and c >= self.combined_t
        return (b_similar, c_similar, combined, b_similar or c_similar)[rule]

    def decided_by(self, b: int, c: int, *, same_site: bool) -> tuple[int, int]:
        """The figure that makes a near pair near, and its threshold: C where it says enough."""
        rule = _RULES[self.name][0 if same_site else 1]
        if rule == _COMBINED:
            return c, self.combined_t
        if rule == _C or (rule == _EITHER and c >= self.t):
            return c, self.t
        return b, self.b_similar

    def numbers(self) -> NDArray[np.int64]:
        """As kernels take it."""
        same, other = _RULES[self.name]
        return np.array(
            [same, other, self.b_similar, self.t, self.combined_t, self.least_shared], np.int64
        )


def sample_of(min_values: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """A byte of every fifth min-value of each page: what is kept to see shared phrases."""
    return (min_values[:, 2 : 2 + 5 * SAMPLE : 5] >> np.uint64(8)).astype(np.uint8)
