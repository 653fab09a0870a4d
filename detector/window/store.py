"""What the sliding index holds: records of page versions and of identity sets, as raw arrays.

A *row* is a page version (a URL with one content); an *entry* is an identity set (Henzinger
2006, §3): the token sequence that one or more rows share, with its sketches. Records, not
columns: what is asked of a page is asked together, and memory answers by the line.

A row takes 96 bytes, 32 in sets and queues, 11 in tables and its URL; an entry 144, 4 and 133 in
tables when full: 416 bytes a page with URLs of 60 characters where a quarter are copies, 486 where
none is.

While some sites have much of a full window, their rows take 12 bytes more, in queues of their own.

Of a row `first` is when its content was first seen, `since` the time by which it is earlier or
later than others: see `detector.window.inheriting` and `detector.window.owned`. `canonical` is the
page that it names as its source, or itself; 0 is none.

Supershingles are kept as 32 bits. Two of six agree by chance once in 2^60 pairs, a third beside
two that truly agree once in 2^30: a page's figure may be off by one in a billion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OUT_BYTES, OUT_OFFSETS, packed, records, types

NO_ROW = -1
SAMPLE = 16
"""Bytes of min-values kept of a page, to see whether it shares phrases with another."""

LIVE, ALERTED, NEAR, LISTED, NEAR_ALERTED, DISMISSED, STRIPPED, REDATED, TOLD_OWNED, BLANK = (
    1 << bit for bit in range(10)
)
"""Bits of a row's state: in the window; reported as a copy; known to be a near-copy; on a list
now; reported as a near-copy. Then of a row that left but stands in the queue still, so that its
number cannot be used again: it left before its turn; its URL's room is free again, too. Then: it
counts as seen sooner than when it was judged, or was not judged yet; it was reported with an owned
original; and last, it has no words, and takes no other's place."""
NO_TIME = 1 << 62
"""Later than every fetch: the last sighting of a row that was dismissed."""

ROW = np.dtype(
    [
        ("page", "u8"), ("site", "u8"), ("first", "i8"), ("last", "i8"), ("file", "u8"),
        ("origin", "u8"), ("start", "u4"), ("end", "u4"), ("url", "u4"), ("length", "u4"),
        ("since", "i8"), ("canonical", "u8"), ("entry", "i4"), ("older", "i4"), ("next", "i4"),
        ("state", "i4"),
    ]
)  # fmt: skip
"""A page version. Times are microseconds since 1970; rows and entries are named by their numbers,
−1 where there is none.

| field | what it says |
| --- | --- |
| `page` | the hash of its URL: all versions of a page have the same |
| `site` | the hash of its site |
| `first`, `last` | when it was first and last seen with this content |
| `file` | the hash of its file's bytes |
| `origin` | the caller's, and handed back: where it can be read again |
| `start`, `end` | where its words begin and end in its file |
| `url`, `length` | where its URL stands in the arena, in units of it, and how many bytes it has |
| `since` | since when it counts as seen, before or after others |
| `entry` | its identity set; −1: it has no words |
| `older` | the version of the same page that was added before it |
| `next` | the next row of the one list that it is on: of those to be judged again, or that left |
| `state` | the bits above |
"""
ENTRY = np.dtype(
    [
        ("text", "u8"), ("simhash", "u8", (6,)), ("super8", "u4", (6,)), ("super5", "u4", (6,)),
        ("sample", "u1", (SAMPLE,)), ("root", "i4"), ("second", "i4"), ("count", "i4"),
        ("cluster", "i4"), ("next", "i4"), ("before", "i4"),
    ]
)  # fmt: skip
"""An identity set: what all pages of the same words have in common.

| field | what it says |
| --- | --- |
| `text` | the hash of the token sequence, by which it is found |
| `simhash` | the 384 bits that Charikar's similarity compares |
| `super8`, `super5` | the supershingles of phrases of 8 and of 5 words, 32 bits of each; 0: none |
| `sample` | bytes of min-values, by which shared phrases are guessed |
| `root` | the root of the tree of its rows, ordered by when they count as seen |
| `second` | the first row of another site than the first row's |
| `count` | how many rows it has |
| `cluster` | the class of near-duplicates that it is in; −1: none |
| `next`, `before` | its neighbours on the list of that class |
"""
CLUSTER = np.dtype([("size", "i4"), ("head", "i4"), ("tail", "i4"), ("chosen", "i4")])
"""A class of near-duplicates: how many identity sets it has, the first and the last on their list,
and the one with the earliest page, which names the class."""
CROWD = np.dtype([("site", "u8"), ("count", "i8"), ("begin", "i8"), ("queued", "i8")])
"""A site with much of the window, see `shares`: `count` are its rows; its queue has the places of
`crowd_due` and `crowd_row` from `begin` on, and `queued` of them are taken."""
SEEN = np.dtype(
    [
        ("page", "u8"), ("site", "u8"), ("first", "i8"), ("last", "i8"), ("text", "u8"),
        ("file", "u8"), ("origin", "u8"), ("start", "u4"), ("end", "u4"), ("url", "u4"),
        ("length", "u4"), ("since", "i8"), ("canonical", "u8"),
    ]
)  # fmt: skip
"""A page as an answer names it: what its row says, with the hash of its words, and `url` the place
of its URL among those of the answer."""

# Numbers that change, in one array: where each stands.
(
    ROWS, FREE_ROWS, ENTRIES, FREE_ENTRIES, QUEUED, CLUSTERS, FREE_CLUSTERS, LEFT, NEWEST,
    CUT, REFUSED, ARENA, ARENA_FREE, LIVE_ROWS, LIVE_ENTRIES, MAX_ROWS, MAX_AGE, SAME_SITE,
    MAX_CLUSTER, GRAVES, WARM, MAX_VERSIONS, DISMISSED_ROWS, DISMISSED_EVER,
    BLANK_ROWS, BLANKS_QUEUED, MAX_BLANKS, SHARE, ENTERED, CROWDS, CROWDED_EVER, COUNT,
) = range(32)  # fmt: skip

NEAR_TABLES = 24
"""Six supershingles with k = 8, twelve pieces of the simhash, six supershingles with k = 5."""
PIECES, SUPER5 = 6, 18
"""The first table of the simhash's pieces, and that of the supershingles with k = 5; those with
k = 8 come first."""
BY_PAGE, BY_FILE = 0, 1
BY_TEXT = NEAR_TABLES
TEXT_LINKS, FILE_LINKS = 0, 1


class Store(NamedTuple):
    """The arrays, as kernels take them."""

    rows: NDArray[Any]
    entries: NDArray[Any]
    clusters: NDArray[Any]
    row_tables: NDArray[np.uint32]
    entry_tables: NDArray[np.uint32]
    links: NDArray[np.int32]
    due: NDArray[np.int64]
    due_row: NDArray[np.int32]
    free_rows: NDArray[np.int32]
    free_entries: NDArray[np.int32]
    free_clusters: NDArray[np.int32]
    arena: NDArray[np.uint8]
    arena_free: NDArray[np.int64]
    numbers: NDArray[np.int64]
    crowds: NDArray[Any]
    crowd_due: NDArray[np.int64]
    crowd_row: NDArray[np.int32]


ROWS_TYPE = records(ROW)
ENTRIES_TYPE = records(ENTRY)
SEEN_TYPE = records(SEEN)
LINKS = types.Array(types.int32, 1, "C")
TABLES = types.Array(types.uint32, 2, "C")
STORE = packed(
    Store,
    [
        ROWS_TYPE, ENTRIES_TYPE, records(CLUSTER), TABLES, TABLES,
        types.Array(types.int32, 2, "C"), OUT_OFFSETS, LINKS, LINKS, LINKS, LINKS, OUT_BYTES,
        OUT_OFFSETS, OUT_OFFSETS, records(CROWD), OUT_OFFSETS, LINKS,
    ],
)  # fmt: skip
