"""Where the parts of a quilt stand: from grams to spans, on the page and on its donors.

Grams of one donor that follow each other on the page, near enough, are one patch. Where the grams
are a sample, what lies between two of them is taken to be of the patch too: the spans are near, and
not exact. For exact ones the pages have to be read (`detector.evidence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.quilts.holders import Holders

BRIDGED = 600
"""Bytes between two grams of a patch: of a sample of an eighth, one gap in a hundred is longer."""


@dataclass(frozen=True, slots=True)
class Patch:
    """A span of the page and where it begins and ends on the donor; how many grams say so."""

    document: int
    start: int
    end: int
    donor_start: int
    donor_end: int
    grams: int


@dataclass(frozen=True, slots=True, eq=False)
class Stands:
    """A page's grams, where they stand, and who holds them: what `patches` are found by, kept until
    somebody asks."""

    holders: Holders
    grams: slice
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    donors: Sequence[int]

    def patches(self) -> list[Patch]:
        """Those of the page from these donors."""
        return patches(self.holders, self.grams, self.starts, self.ends, self.donors)


def patches(
    holders: Holders,
    grams: slice,
    starts: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    donors: Iterable[int],
) -> list[Patch]:
    """The patches of a page from these donors, the first donor's first of what several have.

    `grams` are the page's in `holders`, `starts` and `ends` where they stand on the page.
    """
    taken = np.zeros(grams.stop - grams.start, bool)
    found: list[Patch] = []
    for donor in donors:
        found += _of_donor(holders, grams, starts, ends, donor, taken)
    return sorted(found, key=lambda patch: (patch.start, patch.end))


def _of_donor(
    holders: Holders,
    grams: slice,
    starts: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    donor: int,
    taken: NDArray[Any],
) -> list[Patch]:
    offsets = holders.offsets[grams.start : grams.stop + 1]
    pairs = slice(int(offsets[0]), int(offsets[-1]))
    mine = np.flatnonzero(holders.held_by[pairs] == donor)
    at = np.searchsorted(offsets - offsets[0], mine, "right") - 1
    free = ~taken[at]
    at, there = at[free], holders.starts[pairs][mine[free]].astype(np.int64)
    taken[at] = True
    order = np.argsort(starts[at], kind="stable")
    at, there = at[order], there[order]
    here, stop = starts[at].astype(np.int64), ends[at].astype(np.int64)
    if not len(at):
        return []
    apart = (here[1:] - stop[:-1] > BRIDGED) | (np.abs(np.diff(there) - np.diff(here)) > BRIDGED)
    groups = np.split(np.arange(len(at)), np.flatnonzero(apart) + 1)
    return [
        Patch(
            donor, int(here[group[0]]), int(stop[group].max()), int(there[group].min()),
            int((there[group] + stop[group] - here[group]).max()), len(group),
        )
        for group in groups
    ]  # fmt: skip
