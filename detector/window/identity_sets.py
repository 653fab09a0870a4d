"""Identity sets: pages with one token sequence, in the order in which they were first seen.

Henzinger 2006, §3. A member is a *copy* iff an earlier member is of another site (`same_site`:
iff there is an earlier member). So all that are no copies stand before the first member of
another site than the first member's, the `second`: with it, whether a row is a copy is one
comparison, and a set of a million costs no more than one of ten.

The sets of pages with the same file have an order too, and no copies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import part, tuple_of, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.window.buckets import put, swap, take, with_key
from reusewatch.detector.window.owned import owned
from reusewatch.detector.window.store import (
    ALERTED,
    BY_FILE,
    FILE_LINKS,
    LEFT,
    LISTED,
    SAME_SITE,
    STORE,
    TEXT_LINKS,
    TOLD_OWNED,
)
from reusewatch.detector.window.treap import (
    after,
    before,
    earlier,
    first_of,
    following,
    insert,
    remove,
)

_NONE = np.uint64(0)
TOLD_AGAIN = 1000
"""Copies that are reported again when earlier pages of their set come late: of one set where an
owned page is its first now, and of a step of pages in all; those after them are reported with the
donors that were known when they came."""
_LOOK = 64


@part(types.void(STORE, types.int64))
def listed(store: Any, row: Any) -> None:
    """Put a row on the list of those to be judged again, once."""
    if store.rows[row].state & LISTED:
        return
    store.rows[row].state |= LISTED
    store.rows[row].next = store.numbers[LEFT]
    store.numbers[LEFT] = row


@part(types.boolean(STORE, types.int64))
def is_copy(store: Any, row: Any) -> Any:
    """Whether an earlier row has the words of this one, on another site. An owned page is none."""
    entry = types.int64(store.rows[row].entry)
    if entry < 0 or owned(store.rows[row].since):
        return False
    first = first_of(store.links[TEXT_LINKS], types.int64(store.entries[entry].root))
    if store.numbers[SAME_SITE] or store.rows[first].site != store.rows[row].site:
        return row != first
    second = types.int64(store.entries[entry].second)
    return second >= 0 and earlier(store.rows, second, row)


@part(types.boolean(STORE, types.int64))
def overtakes(store: Any, row: Any) -> Any:
    """Whether rows with the words of this one come after it that were reported: where it has just
    taken its place, they may have other donors now."""
    entry = types.int64(store.rows[row].entry)
    if entry < 0:
        return False
    links, root = store.links[TEXT_LINKS], types.int64(store.entries[entry].root)
    row = following(links, store.rows, root, row)
    for _ in range(_LOOK):
        if row < 0 or store.rows[row].state & ALERTED:
            return row >= 0
        row = following(links, store.rows, root, row)
    return True


@part(tuple_of(types.int64, types.int64, types.int64)(STORE, types.int64))
def _ends(store: Any, entry: Any) -> Any:
    """Of a set: the root of its tree, its first row, and the first row of another site."""
    root = types.int64(store.entries[entry].root)
    first = first_of(store.links[TEXT_LINKS], root)
    return root, first, types.int64(store.entries[entry].second)


@part(types.int64(STORE, types.int64, types.int64))
def _foreign_from(store: Any, root: Any, row: Any) -> Any:
    """The first row, from this one on, of another site than the first of the set."""
    links = store.links[TEXT_LINKS]
    site = store.rows[first_of(links, root)].site
    while row >= 0 and store.rows[row].site == site:
        row = following(links, store.rows, root, row)
    return row


@part(types.void(STORE, types.int64, types.int64, types.int64))
def _list_between(store: Any, root: Any, row: Any, end: Any) -> None:
    """List the rows after this one and before the end."""
    links = store.links[TEXT_LINKS]
    row = following(links, store.rows, root, row)
    while row >= 0 and row != end:
        listed(store, row)
        row = following(links, store.rows, root, row)


@part(types.void(STORE, types.int64, types.int64))
def _list_copies(store: Any, root: Any, row: Any) -> None:
    """List what was reported as a copy before this owned page came: its original is known now."""
    links, rows = store.links[TEXT_LINKS], store.rows
    row = following(links, rows, root, row)
    for _ in range(TOLD_AGAIN):
        if row < 0:
            break
        if rows[row].state & (ALERTED | TOLD_OWNED) == ALERTED:
            listed(store, row)
        row = following(links, rows, root, row)


@part(types.void(STORE, types.int64, types.int64))
def place_text(store: Any, entry: Any, row: Any) -> None:
    """Add a row to its set; rows that became copies, or have a first donor now, are listed."""
    links, rows = store.links[TEXT_LINKS], store.rows
    root, first, second = _ends(store, entry)
    root = insert(links, rows, root, row)
    store.entries[entry].root = root
    store.entries[entry].count += 1
    if first < 0:
        return
    leads = earlier(rows, row, first)
    if leads:
        listed(store, first)
        if owned(rows[row].since) and not owned(rows[first].since):
            _list_copies(store, root, row)
    if store.numbers[SAME_SITE] or rows[row].site == rows[first].site:
        return
    if second < 0 or earlier(rows, row, second):
        _list_between(store, root, row, second)
        store.entries[entry].second = first if leads else row


@part(types.void(STORE, types.int64, types.int64))
def remove_text(store: Any, entry: Any, row: Any) -> None:
    """Take a row out of its set."""
    links, rows = store.links[TEXT_LINKS], store.rows
    root, first, second = _ends(store, entry)
    root = remove(links, rows, root, row)
    store.entries[entry].root = root
    store.entries[entry].count -= 1
    if root < 0:
        store.entries[entry].second = -1
        return
    if row == first:
        first = first_of(links, root)
        if rows[first].site != rows[row].site:
            store.entries[entry].second = _foreign_from(store, root, first)
    elif row == second:
        then = after(links, rows, root, rows[row].since, rows[row].page)
        store.entries[entry].second = _foreign_from(store, root, then)


@part(types.int64(STORE, types.int64, types.uint64))
def file_root(store: Any, bits: Any, file: Any) -> Any:
    """The root of a file's set; −1 if the window has no such file."""
    return with_key(store.row_tables[BY_FILE], bits, store.rows.file, file)


@part(types.void(STORE, types.int64, types.int64))
def place_file(store: Any, bits: Any, row: Any) -> None:
    """Add a row to the set of its file; a row that has a first donor now is listed."""
    file = store.rows[row].file
    if file == _NONE:
        return
    links, slots = store.links[FILE_LINKS], store.row_tables[BY_FILE]
    was = file_root(store, bits, file)
    first = first_of(links, was)
    root = insert(links, store.rows, was, row)
    if was < 0:
        put(slots, bits, mix(file), root)
        return
    if root != was:
        swap(slots, bits, mix(file), was, root)
    if earlier(store.rows, row, first):
        listed(store, first)


@part(types.void(STORE, types.int64, types.int64))
def remove_file(store: Any, bits: Any, row: Any) -> None:
    """Take a row out of the set of its file."""
    file = store.rows[row].file
    if file == _NONE:
        return
    slots = store.row_tables[BY_FILE]
    was = file_root(store, bits, file)
    root = remove(store.links[FILE_LINKS], store.rows, was, row)
    if root < 0:
        take(slots, bits, mix(file), was)
    elif root != was:
        swap(slots, bits, mix(file), was, root)


@part(types.int64(STORE, types.int64, types.int64, types.uint64))
def next_donor(store: Any, entry: Any, row: Any, site: Any) -> Any:
    """The row after this one that makes a page of this site a copy; begins at −1.

    The head of the set, of one site, is stepped over at once: it can be a million rows long.
    """
    links, rows = store.links[TEXT_LINKS], store.rows
    root = types.int64(store.entries[entry].root)
    if row < 0:
        row = first_of(links, root)
        if not store.numbers[SAME_SITE] and rows[row].site == site:
            row = types.int64(store.entries[entry].second)
    else:
        row = following(links, rows, root, row)
    return row


@part(types.boolean(STORE, types.int64, types.int64, types.uint64))
def donates(store: Any, row: Any, first: Any, page: Any) -> Any:
    """Whether a row was seen before a page of this time and id."""
    return row >= 0 and before(store.rows, row, first, page)
