"""Sets of rows in the order in which pages were first seen: balanced trees in two arrays.

A treap (Seidel, Aragon 1996): ordered by (time since when a row counts as seen, page id), its
shape drawn from the row numbers, so that a set of a million costs twenty steps and not a million.
Knows no set: the caller keeps its root, and takes a row out before its order changes.
"""

from __future__ import annotations

from typing import Any

from reusewatch.detector.compiling.kernels import part, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.window.store import LINKS, ROWS_TYPE


@part(types.boolean(ROWS_TYPE, types.int64, types.int64))
def earlier(rows: Any, one: Any, other: Any) -> Any:
    """Of two rows, whether the first was seen first; ties go by page id.

    Of two versions of a page that count as seen at once, the one that was really seen first.
    """
    if rows[one].since != rows[other].since:
        return rows[one].since < rows[other].since
    if rows[one].page != rows[other].page:
        return rows[one].page < rows[other].page
    return rows[one].first < rows[other].first


@part(types.boolean(ROWS_TYPE, types.int64, types.int64, types.uint64))
def before(rows: Any, row: Any, since: Any, page: Any) -> Any:
    """Whether a row was seen before a page of this time and id."""
    if rows[row].since != since:
        return rows[row].since < since
    return rows[row].page < page


@part(types.boolean(ROWS_TYPE, types.int64, types.int64))
def left_of(rows: Any, one: Any, other: Any) -> Any:
    """Where two rows stand in a tree. Two versions of one page may be of one time: without an
    order among them too, a row is looked for where it is not."""
    if not earlier(rows, one, other) and not earlier(rows, other, one):
        return one < other
    return earlier(rows, one, other)


@part(types.int64(LINKS, ROWS_TYPE, types.int64, types.int64))
def insert(links: Any, rows: Any, root: Any, row: Any) -> Any:
    """Put a row into a set; returns the new root."""
    rank, slot, at = mix(types.uint64(row)), -1, root
    while at >= 0 and mix(types.uint64(at)) > rank:
        slot = 2 * at + (1 if left_of(rows, at, row) else 0)
        at = links[slot]
    low, high = 2 * row, 2 * row + 1
    while at >= 0:  # what hung here is split around the row
        if left_of(rows, at, row):
            links[low] = at
            low = 2 * at + 1
            at = links[low]
        else:
            links[high] = at
            high = 2 * at
            at = links[high]
    links[low] = links[high] = -1
    if slot < 0:
        return row
    links[slot] = row
    return root


@part(types.int64(LINKS, ROWS_TYPE, types.int64, types.int64))
def remove(links: Any, rows: Any, root: Any, row: Any) -> Any:
    """Take a row out of its set; returns the new root, −1 of an empty set."""
    slot, at = -1, root
    while at != row:
        slot = 2 * at + (1 if left_of(rows, at, row) else 0)
        at = links[slot]
    low, high = types.int64(links[2 * row]), types.int64(links[2 * row + 1])
    while low >= 0 or high >= 0:
        takes_low = high < 0 or (low >= 0 and mix(types.uint64(low)) > mix(types.uint64(high)))
        at = low if takes_low else high
        if slot < 0:
            root = at
        else:
            links[slot] = at
        if low < 0 or high < 0:
            return root
        if takes_low:
            slot = 2 * at + 1
            low = types.int64(links[slot])
        else:
            slot = 2 * at
            high = types.int64(links[slot])
    if slot < 0:
        return -1
    links[slot] = -1
    return root


@part(types.int64(LINKS, types.int64))
def first_of(links: Any, root: Any) -> Any:
    """The row of a set that was seen first."""
    while root >= 0 and links[2 * root] >= 0:
        root = types.int64(links[2 * root])
    return root


@part(types.int64(LINKS, ROWS_TYPE, types.int64, types.int64, types.uint64))
def after(links: Any, rows: Any, root: Any, since: Any, page: Any) -> Any:
    """The row of a set that comes next after a page of this time and id; −1 after the last."""
    found = -1
    while root >= 0:
        later = not before(rows, root, since, page)
        if later and not (rows[root].since == since and rows[root].page == page):
            found = root
            root = types.int64(links[2 * root])
        else:
            root = types.int64(links[2 * root + 1])
    return found


@part(types.int64(LINKS, ROWS_TYPE, types.int64, types.int64))
def following(links: Any, rows: Any, root: Any, row: Any) -> Any:
    """The row after this one."""
    return after(links, rows, root, rows[row].since, rows[row].page)
