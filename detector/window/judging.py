"""What the window knows of a page: copies and near-copies that were seen before it.

Changes nothing: what is found is written beside, as it was at that moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, part, records, tuple_of, types
from reusewatch.detector.window.candidates import CANDIDATES, MARKS
from reusewatch.detector.window.clusters import cluster_id
from reusewatch.detector.window.identity_sets import donates, file_root, next_donor
from reusewatch.detector.window.neighbors import ALERTS, CUT_ROW, NEAR_ROWS, best_donor, neighbors
from reusewatch.detector.window.owned import owned
from reusewatch.detector.window.store import (
    ENTRIES_TYPE,
    FILE_LINKS,
    LINKS,
    SAME_SITE,
    SEEN_TYPE,
    STORE,
    TEXT_LINKS,
)
from reusewatch.detector.window.treap import after, first_of, following
from reusewatch.detector.window.versions import text_of_row

DONORS = 5
_ANY = 3  # relations: on one site, on two
_LOOK = 64  # rows looked at for donors: enough for evidence, whatever the size of the set
FOUND_AT_MOST = DONORS + 5
"""Pages that one judgement names."""

(
    ALERT, WITHDRAWN, NEAR_ALERT, NEAR_WITHDRAWN, SUPERSEDED, LATE, MISDATED, SAME, ALERT_SAME,
    OVERTAKES,
) = (1 << bit for bit in range(10))  # fmt: skip
JUDGED = np.dtype(
    [
        ("cluster", "u8"), ("flags", "i8"), ("since", "i8"), ("seen", "i4"), ("by", "i4"),
        ("file", "i4"), ("text", "i4"), ("donors", "i4"), ("donor_count", "i4"), ("copies", "i4"),
        ("near", "i4"), ("alert", "i4"), ("evicted", "i4"), ("cut", "i4"), ("turned", "i4"),
        ("b", "i2"), ("c", "i2"), ("alert_b", "i2"), ("alert_c", "i2"),
    ]
)  # fmt: skip
"""What is said of a page. Numbers of pages are places in what was told of them; −1 where none is.

| field | what it says |
| --- | --- |
| `cluster` | the id of the class of near-duplicates that `near` is in; 0: none |
| `flags` | the bits above: what must be reported, on which site the near pages are, and whether it
stands ahead of pages with its words that came before it |
| `since` | since when the page counts as seen, as `detector.window.owned` has it |
| `seen` | of a page that was turned: itself; else −1 |
| `by` | of a page that was turned: the page of the batch that turned it; else −1 |
| `file` | the earliest page whose file has the same bytes |
| `text` | the earliest page with the same words |
| `donors` | the first of the pages that make this one an exact copy: owned, then the earliest |
| `donor_count` | how many of these were told |
| `copies` | how many versions in the window have the same words, up to this one |
| `near` | the nearest page that is a near-duplicate |
| `alert` | the nearest of those on which alerts are wanted, by whether it is on the same site |
| `evicted` | how many versions left the window when this page was added |
| `cut` | how many candidates and rows were not looked at, as there were too many |
| `turned` | how many pages must be judged again because of this one |
| `b`, `c` | agreeing supershingles, and agreeing bits, with `near` |
| `alert_b`, `alert_c` | the same with `alert` |
"""
JUDGED_TYPE = records(JUDGED)
SCRATCH = tuple_of(LINKS, LINKS, NEAR_ROWS)
"""Candidates, marks of those seen, near sets."""


@part(SCRATCH(), allocates=True)
def new_scratch() -> Any:
    """Room that the judgements of a batch share."""
    return (
        np.empty(CANDIDATES, np.int32), np.empty(MARKS, np.int32),
        np.empty((CANDIDATES + 1, 4), np.int32),
    )  # fmt: skip


@part(types.void(STORE, types.int64, SEEN_TYPE, types.int64))
def tell(store: Any, row: Any, found: Any, at: Any) -> None:
    """Write down a row as it is now."""
    found[at].page, found[at].site = store.rows[row].page, store.rows[row].site
    found[at].first, found[at].last = store.rows[row].first, store.rows[row].last
    found[at].since, found[at].canonical = store.rows[row].since, store.rows[row].canonical
    found[at].file, found[at].origin = store.rows[row].file, store.rows[row].origin
    found[at].start, found[at].end = store.rows[row].start, store.rows[row].end
    found[at].url, found[at].length = store.rows[row].url, store.rows[row].length
    found[at].text = text_of_row(store, row)


@part(types.int64(STORE, types.int64, types.int64, types.uint64))
def _up_to(store: Any, entry: Any, first: Any, page: Any) -> Any:
    """How many rows of a set do not come after a page of this time and id: but for those that come
    late, all that there are by then. Where very many come after it, all are counted."""
    links, root = store.links[TEXT_LINKS], types.int64(store.entries[entry].root)
    count, behind = types.int64(store.entries[entry].count), 0
    row = after(links, store.rows, root, first, page)
    for _ in range(_LOOK):
        if row < 0:
            return count - behind
        # Its own row stands behind a page that is seen sooner than before.
        behind += store.rows[row].page != page
        row = following(links, store.rows, root, row)
    return count


@part(types.int64(STORE, types.int64, types.int64, types.uint64, types.uint64, SEEN_TYPE,
                    types.int64, JUDGED_TYPE, types.int64))  # fmt: skip
def _copies(
    store: Any, entry: Any, first: Any, page: Any, site: Any, found: Any, size: Any, out: Any,
    k: Any,
) -> Any:  # fmt: skip
    """The earliest page with the same words, and those that make this one a copy."""
    out[k].copies = _up_to(store, entry, first, page)
    row = first_of(store.links[TEXT_LINKS], types.int64(store.entries[entry].root))
    if donates(store, row, first, page):
        tell(store, row, found, size)
        out[k].text = size
        size += 1
    out[k].donors = size
    row = -1 if owned(first) else next_donor(store, entry, -1, site)
    for _ in range(_LOOK):
        if out[k].donor_count == DONORS or not donates(store, row, first, page):
            break
        if store.numbers[SAME_SITE] or store.rows[row].site != site:
            tell(store, row, found, size)
            size += 1
            out[k].donor_count += 1
        row = next_donor(store, entry, row, site)
    return size


@part(types.void(JUDGED_TYPE, types.int64))
def _nothing(out: Any, k: Any) -> None:
    out[k].cluster, out[k].since = 0, 0
    out[k].seen = out[k].by = out[k].file = out[k].text = out[k].donors = out[k].near = -1
    out[k].alert = -1
    out[k].donor_count = out[k].copies = 0
    out[k].b = out[k].c = out[k].alert_b = out[k].alert_c = 0
    out[k].flags = out[k].evicted = out[k].cut = out[k].turned = 0


BITS = tuple_of(types.int64, types.int64)
"""Of the tables of rows and of entries: how many bits of a slot are a number."""
SUBJECT = tuple_of(
    ENTRIES_TYPE, types.int64, types.int64, types.int64, types.uint64, types.uint64, types.uint64
)
"""A page that is judged: the sketches' array and place, in the batch or in the window; the
window's entry with the same words, −1 if it has none; since when it counts as seen, its id, its
site and its file."""
TOLD = tuple_of(SEEN_TYPE, types.int64, JUDGED_TYPE, types.int64)
"""Where answers go: the pages that were told so far, and how many, with room for more; the
judgements, and the one to write."""


@part(tuple_of(types.int64, types.int64)(
    STORE, BITS, OUT_OFFSETS, SUBJECT, SCRATCH, TOLD,
))  # fmt: skip
def judge(store: Any, bits: Any, policy: Any, subject: Any, scratch: Any, told: Any) -> Any:
    """Judge a page against the window, by a policy (its numbers: see `neighbors`).

    Returns how many pages are told now, and how many near sets stand in the scratch.
    """
    entries, entry, itself, first, page, site, file = subject
    candidates, marks, near = scratch
    found, size, out, k = told
    _nothing(out, k)
    out[k].since = first
    if file:
        row = first_of(store.links[FILE_LINKS], file_root(store, bits[0], file))
        if donates(store, row, first, page):
            tell(store, row, found, size)
            out[k].file = size
            size += 1
    if itself >= 0:
        size = _copies(store, itself, first, page, site, found, size, out, k)
    if entry < 0 or entries[entry].text == 0:
        return size, 0
    count = neighbors(store, bits[1], policy, entries, entry, itself, candidates, marks, near)
    row, b, c = best_donor(store, near, count, first, page, site, _ANY)
    if row >= 0:
        tell(store, row, found, size)
        out[k].near, out[k].b, out[k].c = size, b, c
        out[k].cluster = cluster_id(store, types.int64(store.rows[row].entry))
        same = store.rows[row].site == site
        out[k].flags |= SAME if same else 0
        size += 1
        if owned(first):
            row = -1
        elif not (1 if same else 2) & policy[ALERTS]:
            row, b, c = best_donor(store, near, count, first, page, site, policy[ALERTS])
        if row >= 0:
            tell(store, row, found, size)
            out[k].alert, out[k].alert_b, out[k].alert_c = size, b, c
            out[k].flags |= ALERT_SAME if store.rows[row].site == site else 0
            size += 1
    out[k].cut = near[CUT_ROW, 0] + near[CUT_ROW, 1]
    return size, count
