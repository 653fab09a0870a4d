"""Contains: how much of a page is in the labeled dataset (Ardi, Heidemann 2014, §3.1 step 5).

The chunk hash vector keeps duplicates, so a paragraph that stands twice counts twice, above and
below the line. Stop chunks are taken out of both before badness is computed (step 6). Contains
belongs to pages; badness, to neighborhoods. Never looks hashes up: it is told what matched.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.ragged import Ragged


def contains(labeled: int, total: int) -> float:
    """Share of a page's chunk hash vector that is in L; 0 of a page without chunks.

    >>> contains(1, 4), contains(0, 0)
    (0.25, 0.0)
    """
    return labeled / total if total else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Contained:
    """Of each page: chunks in L, and chunks at all. A page of stop chunks alone has none."""

    labeled: NDArray[np.int64]
    total: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.total)

    @property
    def ratios(self) -> NDArray[np.float64]:
        """contains(L_c, f) of each page."""
        return self.labeled / np.maximum(self.total, 1)


def contained(
    hashes: Ragged, matched: NDArray[np.int64], stopped: NDArray[np.bool_] | None = None
) -> Contained:
    """Count what `LabeledDataset.match` said of all pages' chunks, without stop chunks.

    >>> one = Ragged.of([[7, 7, 8, 9], []])
    >>> found = contained(one, np.array([0, 0, -1, 3]), np.array([False, False, False, True]))
    >>> found.labeled.tolist(), found.total.tolist()
    ([2, 0], [3, 0])
    """
    counted = np.ones(len(matched), np.bool_) if stopped is None else ~stopped
    if not hashes.values.size == matched.size == counted.size:
        raise ValueError(f"{matched.size} matches for {hashes.values.size} chunks")
    return Contained(
        per_page((matched != ABSENT) & counted, hashes.offsets), per_page(counted, hashes.offsets)
    )


def per_page(flags: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of each page's flags are set."""
    running = np.append(np.zeros(1, np.int64), np.cumsum(flags, dtype=np.int64))
    counts: NDArray[np.int64] = running[offsets[1:]] - running[offsets[:-1]]
    return counts
