"""Where the parts of a quilt stand: from grams to spans, on the page and on its donors.

Grams of one donor that follow each other on the page, near enough, are one patch. Where the grams
are a sample, what lies between two of them is taken to be of the patch too: the spans are near, and
not exact. For exact ones the pages have to be read (`detector.evidence`).
"""

from __future__ import annotations

from collections.abc import Sequence
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

    start: int
    end: int
    donor_start: int
    donor_end: int
    grams: int


@dataclass(frozen=True, slots=True, eq=False)
class Stands:
    """Which of a page's grams its donors have, and where: what `patches` are found by, kept until
    somebody asks. Of the answer that said so nothing else is kept: it is as large as all pages that
    were asked for with this one.

    `donors` by their numbers, `documents` their records in the same order. Of each time that a
    donor has a gram of the page `held_by` is the donor, `place` which of all holders of the page's
    grams it is, `there` the byte on the donor; gram g has those from `offsets[g]` on.
    """

    donors: tuple[int, ...]
    documents: NDArray[Any]
    held_by: NDArray[np.int32]
    place: NDArray[np.int64]
    there: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    starts: NDArray[Any]
    ends: NDArray[Any]

    @classmethod
    def of(
        cls, holders: Holders, grams: slice, starts: NDArray[Any], ends: NDArray[Any],
        donors: Sequence[int],
    ) -> Stands:  # fmt: skip
        """`grams` are the page's in `holders`, `starts` and `ends` where they stand on the page."""
        offsets = holders.offsets[grams.start : grams.stop + 1]
        pairs = slice(int(offsets[0]), int(offsets[-1]))
        held_by = holders.held_by[pairs]
        wanted = held_by == donors[0] if len(donors) == 1 else np.isin(held_by, donors)
        mine = np.flatnonzero(wanted)
        return cls(
            tuple(donors), holders.documents[list(donors)], held_by[mine], mine,
            holders.starts[pairs][mine], offsets - offsets[0], starts, ends,
        )  # fmt: skip

    def patches(self) -> list[tuple[Any, Patch]]:
        """Donors, and the patches of the page from them, the first donor's first of what several
        have."""
        taken = np.zeros(len(self.starts), bool)
        of = np.searchsorted(self.offsets, self.place, "right") - 1
        found = [
            (document, patch)
            for donor, document in zip(self.donors, self.documents, strict=True)
            for patch in self._of_donor(donor, of, taken)
        ]
        return sorted(found, key=lambda one: (one[1].start, one[1].end))

    def _of_donor(self, donor: int, of: NDArray[np.int64], taken: NDArray[np.bool_]) -> list[Patch]:
        mine = np.flatnonzero((self.held_by == donor) & ~taken[of])
        at, there = of[mine], self.there[mine].astype(np.int64)
        taken[at] = True
        order = np.argsort(self.starts[at], kind="stable")
        at, there = at[order], there[order]
        here, stop = self.starts[at].astype(np.int64), self.ends[at].astype(np.int64)
        if not len(at):
            return []
        apart = here[1:] - stop[:-1] > BRIDGED
        apart |= np.abs(np.diff(there) - np.diff(here)) > BRIDGED
        first = np.flatnonzero(np.append(True, apart))
        columns = (
            here[first], np.maximum.reduceat(stop, first), np.minimum.reduceat(there, first),
            np.maximum.reduceat(there + stop - here, first), np.diff(np.append(first, len(at))),
        )  # fmt: skip
        return list(map(Patch, *(column.tolist() for column in columns)))
