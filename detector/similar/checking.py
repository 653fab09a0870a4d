"""Saved terms are checked: every number in them that leads somewhere leads into the terms."""

from __future__ import annotations

import numpy as np

from reusewatch.detector.compiling.lines import LINE
from reusewatch.detector.errors import BadState
from reusewatch.detector.saved import Kept, Saved, check, within
from reusewatch.detector.similar.store import (
    BLOCK,
    BLOCKS,
    FREE_TERM,
    LIST_SIZES,
    MOST_TERMS,
    NUMBERS,
    POSTINGS,
    TERM,
    TERMS,
)
from reusewatch.detector.window.store import ROWS

_MOST = 1 << 31
_BITS = 31


def check_terms(saved: Saved) -> None:
    """Raises BadState. The window of these pages is checked by itself, before."""
    rows = int(saved["numbers"][ROWS])
    check(saved, {"mwo_counts": Kept(np.int64, (NUMBERS,), (-1, _MOST))})
    counts = saved["mwo_counts"]
    within("mwo_counts", np.delete(counts, FREE_TERM), 0, _MOST)
    terms, blocks, postings = counts[[TERMS, BLOCKS, POSTINGS]].tolist()
    within("mwo_counts[FREE_TERM]", counts[FREE_TERM], -1, terms)
    check(saved, {
        "mwo_terms": Kept(TERM, (terms,), {
            "next": (-1, terms), "bits": (0, _BITS), "count": (0, postings + 1),
        }),
        "mwo_table": Kept(np.uint32, (None,)),
        "mwo_cell_term": Kept(np.int32, (blocks * BLOCK,)),
        "mwo_cell_weight": Kept(np.float32, (blocks * BLOCK,)),
        "mwo_cell_place": Kept(np.uint32, (blocks * BLOCK,)),
        "mwo_owner": Kept(np.int32, (blocks,), (0, max(rows, 1))),
        "mwo_postings": Kept(np.uint32, (postings,)),
        "mwo_totals": Kept(np.float64, (rows,)),
        "mwo_free_blocks": Kept(np.int64, (MOST_TERMS // BLOCK + 1,), (-1, blocks)),
        "mwo_free_lists": Kept(np.int64, (2, LIST_SIZES), (-1, postings + 1)),
    })  # fmt: skip
    if not saved["mwo_table"].size or saved["mwo_table"].size % LINE:
        raise BadState(f"mwo_table has {saved['mwo_table'].size} places, in lines of {LINE}")
    # The sum of a page's weights and of its terms' must be numbers: they are compared.
    for name in ("mwo_cell_weight", "mwo_totals"):
        if not np.isfinite(saved[name]).all():
            raise BadState(f"{name} has what is no number")
