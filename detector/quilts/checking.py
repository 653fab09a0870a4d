"""Saved gram postings are checked: documents lead to their postings, and to no others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.errors import BadState
from reusewatch.detector.quilts.store import (
    COUNT,
    DISTINCT,
    DOCUMENT,
    END_DOCUMENT,
    END_POSTING,
    FIRST_DOCUMENT,
    FIRST_POSTING,
    MOST_POSTINGS,
    POSTING,
    SCALE,
)
from reusewatch.detector.saved import Kept, Saved, array_of, check, within

_MOST = 1 << 62


def check_postings(saved: Saved) -> None:
    """Raises BadState. The numbers of live and absent documents are counted anew."""
    check(saved, {"numbers": Kept(np.int64, (None,))})
    numbers = saved["numbers"]
    if not DISTINCT < len(numbers) <= COUNT:
        raise BadState(f"numbers has {len(numbers)} entries, and not {COUNT}")
    firsts, ends = numbers[[FIRST_DOCUMENT, FIRST_POSTING]], numbers[[END_DOCUMENT, END_POSTING]]
    within("numbers of the first document and posting", firsts, 0, _MOST)
    within("numbers of the last document and posting", ends, 0, _MOST)
    within("numbers of documents and postings", ends - firsts, 0, MOST_POSTINGS + 1)
    of_documents, of_postings = (ends - firsts).tolist()
    check(saved, {
        "documents": Kept(DOCUMENT, (of_documents,), {"flags": (0, 33 << SCALE)}),
        "postings": Kept(POSTING, (of_postings,)),
    })  # fmt: skip
    documents = array_of(saved, "documents", DOCUMENT, (None,))
    kept, begins = documents["kept"].astype(np.int64), documents["begin"] - firsts[1]
    if kept.sum() != of_postings or (begins != np.cumsum(kept) - kept).any():
        raise BadState("documents do not begin where the postings of the one before end")


def distinct(postings: NDArray[np.void]) -> int:
    """How many grams are posted: a table with too little room is searched for ever."""
    keys = np.sort(postings["low"] | postings["high"].astype(np.uint64) << np.uint64(32))
    return int(np.count_nonzero(keys[1:] != keys[:-1])) + bool(keys.size)
