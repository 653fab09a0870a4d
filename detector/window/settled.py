"""Pages of the window that have settled, and the pages that each is near to: not the nearest alone.

Of near pages in a relation that alerts those come first that share most phrases: of one template
all agree in nearly all bits. Which of them has what is the page's own is for others to say. At most
`NEAREST` are told, and what is beyond is counted. Beside them the one of its own site is told that
shares most: what a page was before it moved. Changes nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OFFSETS, OUT_OFFSETS, kernel, part, types
from reusewatch.detector.window.adding import room
from reusewatch.detector.window.buckets import number_bits
from reusewatch.detector.window.judging import (
    BITS,
    FOUND_AT_MOST,
    JUDGED_TYPE,
    NEAR_ALERT,
    SCRATCH,
    SUPERSEDED,
    TOLD,
    judge,
    new_scratch,
    tell,
)
from reusewatch.detector.window.neighbors import (
    ALERTS,
    ENTRY,
    NEAR_ROWS,
    RULES,
    C,
    best_donor,
    shared_phrases,
)
from reusewatch.detector.window.owned import owned
from reusewatch.detector.window.store import (
    BY_PAGE,
    BY_TEXT,
    LISTED,
    NEAR_ALERTED,
    SEEN,
    SEEN_TYPE,
    STORE,
    TEXT_LINKS,
)
from reusewatch.detector.window.treap import following
from reusewatch.detector.window.versions import superseded

NEAREST = FOUND_AT_MOST - 2
"""Near pages that are told of one."""
WITH_OWN = NEAREST + 1
"""Places of a page among the answers: the last is for the one of its own site."""
_OWN_SITE = 1
SEEN_AT, NEAR_B, NEAR_C = range(3)
_MOST = 1000


@part(types.void(NEAR_ROWS, types.int64, types.int64, types.int64, types.int64), inline=True)
def _put(nearest: Any, at: Any, seen: Any, b: Any, c: Any) -> None:
    nearest[at, SEEN_AT], nearest[at, NEAR_B], nearest[at, NEAR_C] = seen, b, c % _MOST


@part(types.int64(STORE, BITS, OUT_OFFSETS, types.int64, SCRATCH, TOLD, NEAR_ROWS))
def _nearest(
    store: Any, bits: Any, policy: Any, row: Any, scratch: Any, told: Any, nearest: Any
) -> Any:
    """As `judge`, with the near pages that alert; how many are told."""
    near, rows = scratch[2], store.rows
    found, _, out, k = told
    entry = types.int64(rows[row].entry)
    since, page, site = rows[row].since, rows[row].page, rows[row].site
    subject = store.entries, entry, entry, since, page, site, rows[row].file
    size, count = judge(store, bits, policy, subject, scratch, told)
    tell(store, row, found, size)
    out[k].seen = size
    size += 1
    out[k].flags |= SUPERSEDED if superseded(store, bits[0], row) else 0
    out[k].flags |= NEAR_ALERT if rows[row].state & NEAR_ALERTED else 0
    for i in range(count):
        other = types.int64(near[i, ENTRY])
        near[i, C] += _MOST * shared_phrases(store.entries, entry, store.entries, other)
    for place in range(WITH_OWN):
        nearest[k * WITH_OWN + place, SEEN_AT] = -1
    other, b, c = best_donor(store, near, count, since, page, site, _OWN_SITE)
    if other >= 0:
        tell(store, other, found, size)
        _put(nearest, k * WITH_OWN + NEAREST, size, b, c)
        size += 1
    for place in range(NEAREST + 1):
        other, b, c = best_donor(store, near, count, since, page, site, policy[ALERTS])
        if other < 0 or owned(since):
            return size
        if place == NEAREST:
            break
        tell(store, other, found, size)
        _put(nearest, k * WITH_OWN + place, size, b, c)
        size += 1
        for i in range(count):
            if near[i, ENTRY] == rows[other].entry:
                near[i, RULES] = 0
    out[k].cut += 1
    return size


@kernel(types.int64(STORE, OFFSETS, OUT_OFFSETS))
def rows_behind(store: Any, rows: Any, out: Any) -> Any:
    """The rows that come after any of these with the same words, each once, as far as there is
    room; how many."""
    links, size = store.links[TEXT_LINKS], 0
    for i in range(rows.size):
        root = types.int64(store.entries[store.rows[rows[i]].entry].root)
        row = following(links, store.rows, root, rows[i])
        # What comes after one that was met was met with it.
        while row >= 0 and size < out.size and not store.rows[row].state & LISTED:
            store.rows[row].state |= LISTED
            out[size] = row
            size += 1
            row = following(links, store.rows, root, row)
    for i in range(size):
        store.rows[out[i]].state &= ~LISTED
    return size


@kernel(SEEN_TYPE(STORE, OFFSETS, OUT_OFFSETS, JUDGED_TYPE, NEAR_ROWS))
def judge_settled(store: Any, rows: Any, policy: Any, out: Any, nearest: Any) -> Any:
    """Judge rows of the window, and list the pages near to each. Returns the named pages."""
    bits = number_bits(store.row_tables[BY_PAGE]), number_bits(store.entry_tables[BY_TEXT])
    scratch = new_scratch()
    found, size = np.empty(32 + 2 * rows.size, SEEN), 0
    for i in range(rows.size):
        found = room(room(found, size), size + FOUND_AT_MOST)
        size = _nearest(store, bits, policy, rows[i], scratch, (found, size, out, i), nearest)
    return found[:size]
