"""The memory of judging one page after the other: its donors, and which gram each of them has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OUT_BYTES, OUT_OFFSETS, packed, types

INTS = types.Array(types.int32, 1, "C")

(DONORS, PAIRS, RANGED, PATCHES, INSIDE, OUTSIDE, ONLY_SAMPLED, TALLIES) = range(8)
"""Tallies of the page at hand: its donors, pairs of a patch gram and a donor that has it; of its
grams those of the sample that every page has posted, the patch grams, those of them within the
sample and outside of it, and those within that no document has which is posted whole."""


class Scratch(NamedTuple):
    """Donors by their number on the page at hand; pairs in the order of the page's grams."""

    tallies: NDArray[np.int64]
    # The number of a document's site, and behind those of a page's; of a site, who holds a gram.
    site: NDArray[np.int32]
    holding: NDArray[np.int32]
    # Of a document: its number among the donors, −1 of one that is none.
    number: NDArray[np.int32]
    donors: NDArray[np.int32]
    # Patch grams of a donor: all, those of the sample, those that are not covered yet.
    shared: NDArray[np.int32]
    shared_in: NDArray[np.int32]
    left: NDArray[np.int32]
    # Who was there first has rank 0.
    order: NDArray[np.int32]
    rank: NDArray[np.int32]
    begins: NDArray[np.int32]
    of_donor: NDArray[np.int32]
    gram_begin: NDArray[np.int32]
    pair_gram: NDArray[np.int32]
    pair_donor: NDArray[np.int32]
    covered: NDArray[np.uint8]
    heap: NDArray[np.int32]
    heap_left: NDArray[np.int32]


SCRATCH = packed(Scratch, [OUT_OFFSETS, *[INTS] * 14, OUT_BYTES, INTS, INTS])


def new_scratch(pages: int, documents: int, grams: int, pairs: int) -> Scratch:
    """Room for so many pages, each of up to so many grams and pairs."""
    donors = min(documents, pairs) + 1

    def ints(size: int) -> NDArray[np.int32]:
        return np.zeros(size, np.int32)

    return Scratch(
        tallies=np.zeros(TALLIES, np.int64),
        site=ints(documents + pages), holding=ints(documents + pages),
        number=np.full(documents + 1, -1, np.int32),
        donors=ints(donors), shared=ints(donors), shared_in=ints(donors), left=ints(donors),
        order=ints(donors), rank=ints(donors), begins=ints(donors + 1),
        of_donor=ints(pairs + 1), gram_begin=ints(grams + 1),
        pair_gram=ints(pairs + 1), pair_donor=ints(pairs + 1),
        covered=np.zeros(grams + 1, np.uint8), heap=ints(donors), heap_left=ints(donors),
    )  # fmt: skip
