"""What the window knows of pages that are not added: each is judged alone, nothing changes.

Apart from `adding`, so that only who asks compiles it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import kernel
from reusewatch.detector.window.adding import ARRIVALS, judge_arriving, room
from reusewatch.detector.window.buckets import number_bits
from reusewatch.detector.window.judging import JUDGED_TYPE, new_scratch
from reusewatch.detector.window.store import BY_PAGE, BY_TEXT, SEEN, SEEN_TYPE


@kernel(SEEN_TYPE(*ARRIVALS, JUDGED_TYPE))
def match_pages(store: Any, arrivals: Any, probes: Any, policy: Any, now: Any, out: Any) -> Any:
    """Judge each page against the window. Returns the pages that judgements name."""
    bits = number_bits(store.row_tables[BY_PAGE]), number_bits(store.entry_tables[BY_TEXT])
    scratch = new_scratch()
    found, size = np.empty(16 + 2 * arrivals.size, SEEN), 0
    for i in range(arrivals.size):
        found = room(found, size)
        told = found, size, out, i
        _, _, _, size, _ = judge_arriving(
            store, bits, policy, (arrivals, probes, i, now), scratch, told
        )
    return found[:size]
