"""Since when a version counts as seen: a page that changes a little stays the original.

A page is fetched, then its mirror is, then the page again with another number in its footer. By
the times of the fetches alone the new version is later than the mirror, and near to it. So a
version counts as seen since the earliest version of its own URL that is near to it, by the policy
for one site or for two. It must be near to that very version: from version to version anything can
become anything, and a thief could come to another's text with a date of long ago.

A date that was inherited stays when the version that it came from leaves the window. As long as
none has left, it depends on the versions alone and not on the order in which they arrived.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, part, types
from reusewatch.detector.window.clusters import lead
from reusewatch.detector.window.identity_sets import (
    listed,
    place_file,
    place_text,
    remove_file,
    remove_text,
)
from reusewatch.detector.window.judging import BITS, SCRATCH
from reusewatch.detector.window.neighbors import ALERTS, list_near_copies, near_by, neighbors
from reusewatch.detector.window.owned import AHEAD_US, owned
from reusewatch.detector.window.store import ENTRIES_TYPE, REDATED, STORE
from reusewatch.detector.window.versions import latest

_ZERO = np.uint64(0)


@part(types.int64(STORE, types.int64, OUT_OFFSETS, ENTRIES_TYPE, types.int64, types.uint64,
                  types.int64))  # fmt: skip
def since_of(
    store: Any, bits: Any, policy: Any, entries: Any, entry: Any, page: Any, at: Any
) -> Any:
    """Since when a new version of a page counts as seen, that was first seen at this time."""
    if entries[entry].text == _ZERO:
        return at
    ahead = AHEAD_US if owned(at) else 0
    rows, since, other = store.rows, at + ahead, latest(store, bits, page)
    while other >= 0:
        own = types.int64(rows[other].entry)
        # The date first: it is the cheaper of the two questions.
        sooner = own >= 0 and rows[other].first < since
        if sooner and near_by(policy, entries, entry, store.entries, own):
            since = rows[other].first
        other = types.int64(rows[other].older)
    return since - ahead


@part(types.void(STORE, BITS, OUT_OFFSETS, types.int64, types.int64, SCRATCH))
def _date_back(store: Any, bits: Any, policy: Any, row: Any, since: Any, scratch: Any) -> None:
    """A row counts as seen sooner: it is to be judged again, and so are those that follow it."""
    candidates, marks, near = scratch
    entry = types.int64(store.rows[row].entry)
    # Out of its sets first: they are ordered by the time that changes here.
    remove_text(store, entry, row)
    remove_file(store, bits[0], row)
    store.rows[row].since = since
    place_text(store, entry, row)
    lead(store, entry)
    place_file(store, bits[0], row)
    store.rows[row].state |= REDATED
    listed(store, row)
    count = neighbors(store, bits[1], policy, store.entries, entry, entry, candidates, marks, near)
    list_near_copies(store, near, count, row, policy[ALERTS])


@part(types.void(STORE, BITS, OUT_OFFSETS, types.int64, SCRATCH))
def bequeath(store: Any, bits: Any, policy: Any, row: Any, scratch: Any) -> None:
    """Other versions of a row's page that are near to it count as seen since it was, at least.

    Uses the scratch: what stands there of near sets is lost.
    """
    rows, entry = store.rows, types.int64(store.rows[row].entry)
    if entry < 0:
        return
    first = rows[row].first - (AHEAD_US if owned(rows[row].since) else 0)
    other = latest(store, bits[0], rows[row].page)
    while other >= 0:
        own = types.int64(rows[other].entry)
        later = other != row and own >= 0 and first < rows[other].since
        if later and near_by(policy, store.entries, entry, store.entries, own):
            _date_back(store, bits, policy, other, first, scratch)
        other = types.int64(rows[other].older)
