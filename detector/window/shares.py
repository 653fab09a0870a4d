"""Sites that have more than their share of a full window: their own oldest page leaves first.

So nobody can push everybody's pages out with pages of his own. The share binds only while the
window is full; while no other site needs the room, one site may have all of it. Of each site the
newest pages up to its share come before all that are beyond a share, and among either the newer
ones: which pages stay depends on no order, as each that leaves is the last by that rule then and
ever after (more pages can only put it further back).

A count for every site would be memory for every site of a crawl of millions. Instead the sites
with at least half a share are found by counting now and then (Misra, Gries 1982: as
many counters as there can be such sites, then a look at the candidates alone), and only these are
watched: another one needs half a share of new pages before it can be over, and before so
many have entered, sites are counted anew. A site that is watched has a queue of its own.
Knows no site's name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, OUT_WORDS, kernel, part, types
from reusewatch.detector.window.expiry import aged, crowded, rise, sink, sooner
from reusewatch.detector.window.store import (
    BLANK,
    BLANK_ROWS,
    CROWD,
    CROWDS,
    ENTERED,
    LIVE,
    LIVE_ROWS,
    MAX_ROWS,
    ROWS,
    ROWS_TYPE,
    SHARE,
    STORE,
    Store,
)

LEAST_SHARE = 0.05
"""Sites that can be near to their share are few: at most 40 at this one."""
_NEVER = 1 << 62


def share_of(pages: int, share: float) -> int:
    """The pages that a site may have of so many; 0 where there is no bound.

    >>> share_of(1000, 0.25), share_of(3, 0.25), share_of(1000, 1.0)
    (250, 1, 0)
    """
    return 0 if share >= 1 else max(1, int(pages * share))


def uncounted(store: Store) -> Store:
    """The store with no site watched: all will be counted when next it is full."""
    store.numbers[CROWDS] = 0
    if store.numbers[SHARE]:
        store.numbers[ENTERED] = _NEVER
    return store


def counted(store: Store, pages: int) -> tuple[Store, int]:
    """The store, its sites counted anew where that is due; and how many of so many pages may be
    added before the next look."""
    numbers = store.numbers
    share = int(numbers[SHARE])
    with_words = int(numbers[LIVE_ROWS] - numbers[BLANK_ROWS])
    if not share or with_words + pages <= numbers[MAX_ROWS]:
        return uncounted(store), pages
    half = (share + 1) // 2
    if numbers[ENTERED] + min(pages, half) > half:
        store = _watching(store, share - half + 1, half)
    return store, min(pages, half - int(numbers[ENTERED]))


def _watching(store: Store, least: int, more: int) -> Store:
    """The store with a queue for each site of at least so many rows, and room for more in each."""
    many = int(store.numbers[LIVE_ROWS]) // least
    sites, counts = np.zeros(many, np.uint64), np.zeros(many, np.int64)
    _large_sites(store, sites, counts)
    large = counts >= least
    crowds = np.zeros(int(large.sum()), CROWD)
    crowds["site"] = sites[large]
    ends = np.cumsum(counts[large] + more)
    crowds["begin"] = ends - counts[large] - more
    room = int(ends[-1]) if ends.size else 0
    store = store._replace(
        crowds=crowds, crowd_due=np.empty(room, np.int64), crowd_row=np.empty(room, np.int32)
    )
    store.numbers[CROWDS], store.numbers[ENTERED] = len(crowds), 0
    _line_up(store)
    return store


@part(types.boolean(ROWS_TYPE, types.int64), inline=True)
def _counts(rows: Any, row: Any) -> Any:
    return rows[row].state & (LIVE | BLANK) == LIVE


@part(types.void(types.uint64, OUT_WORDS, OUT_OFFSETS), inline=True)
def _stand_for(site: Any, sites: Any, counts: Any) -> None:
    """One more row of a site: of its counter, or of a free one; else all others' count for less."""
    free = -1
    for i in range(sites.size):
        if counts[i] == 0:
            free = i
        elif sites[i] == site:
            counts[i] += 1
            return
    if free >= 0:
        sites[free], counts[free] = site, 1
        return
    for i in range(sites.size):
        counts[i] -= 1


@part(types.void(types.uint64, OUT_WORDS, OUT_OFFSETS), inline=True)
def _count(site: Any, sites: Any, counts: Any) -> None:
    for i in range(sites.size):
        if counts[i] >= 0 and sites[i] == site:
            counts[i] += 1
            return


@kernel(types.void(STORE, OUT_WORDS, OUT_OFFSETS))
def _large_sites(store: Any, sites: Any, counts: Any) -> None:
    """All sites with more rows than one in so many plus one, and how many each has."""
    rows = store.rows  # taken out once: in the loop, all of the store would be
    for row in range(store.numbers[ROWS]):
        if _counts(rows, row):
            _stand_for(rows[row].site, sites, counts)
    for i in range(sites.size):  # a counter that counts nothing may have the name of another one
        counts[i] = 0 if counts[i] else -1
    for row in range(store.numbers[ROWS]):
        if _counts(rows, row):
            _count(rows[row].site, sites, counts)


@part(types.int64(STORE, types.uint64))
def _watched(store: Any, site: Any) -> Any:
    for i in range(store.numbers[CROWDS]):
        if store.crowds[i].site == site:
            return i
    return types.int64(-1)


@part(types.void(STORE, types.int64))
def join(store: Any, row: Any) -> None:
    """A row with words is one more of its site."""
    i = _watched(store, store.rows[row].site)
    if i >= 0:
        begin, size, due = store.crowds[i].begin, store.crowds[i].queued, store.rows[row].last
        rise(store.rows, store.crowd_due, store.crowd_row, begin, 1, size, due, row)
        store.crowds[i].count += 1
        store.crowds[i].queued += 1


@kernel(types.void(STORE))
def _line_up(store: Any) -> None:
    """Put the rows of the sites that are watched into their queues."""
    rows, crowds, many = store.rows, store.crowds, store.numbers[CROWDS]
    for row in range(store.numbers[ROWS]):
        if _counts(rows, row):
            site = rows[row].site
            for i in range(many):
                if crowds[i].site == site:
                    join(store, row)
                    break


@part(types.void(STORE, types.int64))
def part_with(store: Any, row: Any) -> None:
    """A row is none of its site any more; its queue finds that out when its turn comes."""
    i = _watched(store, store.rows[row].site)
    if i >= 0 and not store.rows[row].state & BLANK:
        store.crowds[i].count -= 1


@part(types.int64(STORE, types.int64))
def _oldest(store: Any, i: Any) -> Any:
    """The row of a site that is watched that was last seen longest ago; −1 if it has none."""
    rows, due, queue = store.rows, store.crowd_due, store.crowd_row
    begin = store.crowds[i].begin
    while store.crowds[i].queued:
        row, size = types.int64(queue[begin]), store.crowds[i].queued
        ours = _counts(rows, row) and rows[row].site == store.crowds[i].site
        if ours and rows[row].last == due[begin]:
            return row
        if ours:  # seen again since, or its number is another page's now
            sink(rows, due, queue, begin, 1, size, 0, rows[row].last, row)
            continue
        store.crowds[i].queued = size - 1
        if size > 1:
            last = begin + size - 1
            sink(rows, due, queue, begin, 1, size - 1, 0, due[last], types.int64(queue[last]))
    return types.int64(-1)


@part(types.int64(STORE, types.int64))
def over_share(store: Any, head: Any) -> Any:
    """The row that leaves in place of the one whose turn it is: the oldest of those whose site has
    more than its share. −1 where that one itself leaves."""
    rows = store.rows
    if not store.numbers[CROWDS] or rows[head].state & BLANK or aged(store, head):
        return types.int64(-1)
    found = types.int64(-1)
    if crowded(store):
        for i in range(store.numbers[CROWDS]):
            if store.crowds[i].count > store.numbers[SHARE]:
                row = _oldest(store, i)
                if row >= 0 and (
                    found < 0 or sooner(rows, rows[row].last, row, rows[found].last, found)
                ):
                    found = row
    return types.int64(-1) if found == head else found
