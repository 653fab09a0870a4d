"""Whether a saved window holds together. Changes nothing.

Kernels follow its lists, trees and tables without a limit. A row that stands on two lists, a list
that comes round or a number that its table does not find again would make them run for ever. All
bounds were checked before (`checking`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import (
    OUT_BYTES,
    OUT_COUNTS,
    OUT_WORDS,
    kernel,
    part,
    types,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.window.buckets import home, mark_of, number, number_bits
from reusewatch.detector.window.candidates import has_key, hash_of, key_of
from reusewatch.detector.window.identity_sets import file_root
from reusewatch.detector.window.store import (
    ARENA,
    ARENA_FREE,
    BLANK,
    BLANK_ROWS,
    BLANKS_QUEUED,
    BY_FILE,
    BY_PAGE,
    BY_TEXT,
    CLUSTERS,
    DISMISSED,
    DISMISSED_ROWS,
    ENTRIES,
    FILE_LINKS,
    FREE_CLUSTERS,
    FREE_ENTRIES,
    FREE_ROWS,
    GRAVES,
    LINKS,
    LIVE,
    LIVE_ENTRIES,
    LIVE_ROWS,
    NO_TIME,
    QUEUED,
    ROWS,
    ROWS_TYPE,
    STORE,
    STRIPPED,
    TEXT_LINKS,
)
from reusewatch.detector.window.treap import left_of
from reusewatch.detector.window.url_arena import following_piece, units
from reusewatch.detector.window.versions import latest

_DEEPEST = 256
"""Steps in a tree of rows: one of 2^32 is deeper than a hundred once in a billion windows."""
_FARTHEST = 4096
"""Lines that a number may be away from its home."""
_FREE, _GRAVE, _QUEUE, _BLANKS = 1, 2, 4, 8
_LAST = np.int64(15)
_ZERO = np.uint64(0)


@part(types.boolean(LINKS, types.int64, types.int64, OUT_BYTES, types.uint8))
def listed_once(numbers: Any, begin: Any, end: Any, met: Any, mark: Any) -> Any:
    """Mark the numbers of a list; whether each is one of `met`, and stands there once."""
    for at in range(begin, end):
        one = types.int64(numbers[at])
        if not 0 <= one < met.size or met[one] & mark:
            return False
        met[one] |= mark
    return True


@part(types.int64(OUT_COUNTS, OUT_WORDS, OUT_BYTES), allocates=True)
def held_once(slots: Any, hashes: Any, alive: Any) -> Any:
    """How many numbers a table holds; −1 where one is not alive, stands twice, or would not be
    found under its hash. A table that counts its lines wrongly loses numbers later."""
    bits, count = number_bits(slots), 0
    met, past = np.zeros(hashes.size, np.bool_), np.zeros(slots.size >> 4, np.uint32)
    for at in range(slots.size):
        if not at & _LAST or not slots[at]:
            continue
        one = number(slots, bits, at)
        if not 0 <= one < hashes.size or not alive[one] or met[one]:
            return -1
        if types.int64(slots[at]) >> bits != mark_of(hashes[one], bits):
            return -1
        met[one], line, steps = True, home(slots, hashes[one]), 0
        while line != at & ~_LAST:
            past[line >> 4] += 1
            line, steps = (line + 16) % slots.size, steps + 1
            if steps > _FARTHEST:
                return -1
        count += 1
    for line in range(past.size):
        if past[line] != slots[line << 4]:
            return -1
    return count


@part(types.boolean(LINKS, ROWS_TYPE, types.int64, types.int64))
def _reached(links: Any, rows: Any, root: Any, row: Any) -> Any:
    """Whether a row is found in its tree."""
    for _ in range(_DEEPEST):
        if root < 0 or root == row:
            return root == row
        root = types.int64(links[2 * root + (1 if left_of(rows, root, row) else 0)])
    return False


@part(types.int64(LINKS, types.int64))
def _below(links: Any, row: Any) -> Any:
    """How many rows hang below a row at once."""
    return (links[2 * row] >= 0) + (links[2 * row + 1] >= 0)


@part(types.boolean(STORE), allocates=True)
def rows_sound(store: Any) -> Any:
    """Whether each row is in one state, and stands where rows of this state do."""
    numbers, rows, size = store.numbers, store.rows, store.due_row.size
    met = np.zeros(numbers[ROWS], np.uint8)
    if not (
        listed_once(store.free_rows, 0, numbers[FREE_ROWS], met, _FREE)
        and listed_once(store.due_row, 0, numbers[QUEUED], met, _QUEUE)
        and listed_once(store.due_row, size - numbers[BLANKS_QUEUED], size, met, _BLANKS)
    ):
        return False
    row = numbers[GRAVES]
    while row >= 0:
        if met[row] & _GRAVE:
            return False
        met[row] |= _GRAVE
        row = types.int64(rows[row].next)
    live, blank, dismissed = 0, 0, 0
    for row in range(met.size):
        state, queued = rows[row].state, met[row] & (_QUEUE | _BLANKS)
        listed, gone = met[row] & (_FREE | _GRAVE), rows[row].last == NO_TIME
        if state & LIVE:
            sound = queued == (_BLANKS if state & BLANK else _QUEUE) and not listed and not gone
            live, blank = live + 1, blank + (1 if state & BLANK else 0)
        elif state:
            buried = listed == (_GRAVE if state == DISMISSED else 0)
            sound = (
                ((state == DISMISSED) | (state == STRIPPED))
                and buried
                and gone
                and ((queued == _QUEUE) | (queued == _BLANKS))
            )
            dismissed += 1
        else:
            sound = queued == 0 and ((listed == _FREE) | (listed == _GRAVE))
        if not sound:
            return False
    return (
        live == numbers[LIVE_ROWS] and blank == numbers[BLANK_ROWS]
        and dismissed == numbers[DISMISSED_ROWS]
    )  # fmt: skip


@part(types.boolean(types.int64, types.int64, OUT_BYTES))
def taken_once(begin: Any, end: Any, taken: Any) -> Any:
    """Take these places; whether they are there, and were free."""
    if not 0 <= begin <= end <= taken.size:
        return False
    for at in range(begin, end):
        if taken[at]:
            return False
        taken[at] = 1
    return True


@part(types.boolean(STORE), allocates=True)
def urls_sound(store: Any) -> Any:
    """Whether no two URLs and free pieces share room."""
    rows, taken, used = store.rows, np.zeros(store.numbers[ARENA], np.uint8), 0
    grave = np.zeros(store.numbers[ROWS], np.bool_)
    row = store.numbers[GRAVES]
    while row >= 0:
        grave[row] = True
        row = types.int64(rows[row].next)
    for row in range(grave.size):
        if rows[row].state & LIVE or grave[row]:
            begin, size = types.int64(rows[row].url), units(types.int64(rows[row].length))
            used += size
            if not taken_once(begin, begin + size, taken):
                return False
    for size in range(store.arena_free.size):
        at = store.arena_free[size]
        while at >= 0:
            if size == 0 or not taken_once(at, at + size, taken):
                return False
            at = following_piece(store, at)
    return used + store.numbers[ARENA_FREE] == taken.size


@part(types.boolean(STORE, types.boolean), allocates=True)
def pages_sound(store: Any, by_file: Any) -> Any:
    """Whether each live row is found by its page, once, and, if so, by its file."""
    rows, links, numbers = store.rows, store.links[FILE_LINKS], store.numbers
    count = numbers[ROWS]
    pages, files = np.empty(count, np.uint64), np.empty(count, np.uint64)
    alive = np.zeros(count, np.uint8)
    for row in range(count):
        pages[row], files[row] = mix(rows[row].page), mix(rows[row].file)
        alive[row] = 1 if rows[row].state & LIVE else 0
    slots = store.row_tables[BY_PAGE]
    bits, met = number_bits(slots), 0
    if held_once(slots, pages, alive) < 0:
        return False
    for at in range(slots.size):
        if not at & _LAST or not slots[at]:
            continue
        row = number(slots, bits, at)
        page = rows[row].page
        if latest(store, bits, page) != row:  # the page has another list of versions
            return False
        while row >= 0:
            if alive[row] != 1 or rows[row].page != page:
                return False
            alive[row], met = 2, met + 1
            row = types.int64(rows[row].older)
    if met != numbers[LIVE_ROWS]:
        return False
    roots = held_once(store.row_tables[BY_FILE], files, alive)
    hung, members = roots, 0
    for row in range(count):
        if not alive[row] or rows[row].file == _ZERO:
            continue
        hung, members = hung + _below(links, row), members + 1
        if by_file and not _reached(links, rows, file_root(store, bits, rows[row].file), row):
            return False
    return hung == members or (not by_file and roots == 0)


@part(types.boolean(STORE, OUT_BYTES), allocates=True)
def _sets_sound(store: Any, alive: Any) -> Any:
    """Whether each live row with words is in the tree of its set, and no other row in any."""
    rows, entries, links = store.rows, store.entries, store.links[TEXT_LINKS]
    counts, hung, members = np.zeros(alive.size, np.int64), 0, 0
    for row in range(store.numbers[ROWS]):
        entry = types.int64(rows[row].entry)
        if not rows[row].state & LIVE or entry < 0:
            continue
        if not alive[entry] or not _reached(links, rows, types.int64(entries[entry].root), row):
            return False
        counts[entry] += 1
        hung, members = hung + _below(links, row), members + 1
    for entry in range(alive.size):
        if alive[entry]:
            hung += 1
            if counts[entry] == 0 or counts[entry] != entries[entry].count:
                return False
    return hung == members


@part(types.boolean(STORE, OUT_BYTES), allocates=True)
def _classes_sound(store: Any, alive: Any) -> Any:
    """Whether each class is a list of its sets."""
    entries, clusters, met = store.entries, store.clusters, 0
    free = np.zeros(store.numbers[CLUSTERS], np.uint8)
    if not listed_once(store.free_clusters, 0, store.numbers[FREE_CLUSTERS], free, _FREE):
        return False
    for cluster in range(free.size):
        if free[cluster]:
            continue
        at, last, size, chosen = types.int64(clusters[cluster].head), types.int64(-1), 0, False
        while at >= 0:
            if not alive[at] or entries[at].cluster != cluster or entries[at].before != last:
                return False
            size, last, chosen = size + 1, at, chosen or at == clusters[cluster].chosen
            at = types.int64(entries[at].next)
        if not chosen or size != clusters[cluster].size or last != clusters[cluster].tail:
            return False
        met += size
    for entry in range(alive.size):
        met -= 1 if alive[entry] and entries[entry].cluster >= 0 else 0
    return met == 0


@part(types.boolean(STORE), allocates=True)
def entries_sound(store: Any) -> Any:
    """Whether identity sets are live or free, and their trees, tables and classes hold."""
    entries, numbers, live = store.entries, store.numbers, 0
    alive, free = np.zeros(numbers[ENTRIES], np.uint8), np.zeros(numbers[ENTRIES], np.uint8)
    if not listed_once(store.free_entries, 0, numbers[FREE_ENTRIES], free, _FREE):
        return False
    for entry in range(alive.size):
        alive[entry] = 1 if entries[entry].text != _ZERO else 0
        live += alive[entry]
        if alive[entry] == free[entry]:
            return False
    if live != numbers[LIVE_ENTRIES]:
        return False
    hashes, here = np.zeros(alive.size, np.uint64), np.zeros(alive.size, np.uint8)
    for table in range(store.entry_tables.shape[0]):
        for entry in range(alive.size):
            if table == BY_TEXT:
                here[entry], hashes[entry] = alive[entry], mix(entries[entry].text)
            else:
                here[entry] = 1 if alive[entry] and has_key(entries, entry, table) else 0
                hashes[entry] = hash_of(key_of(entries, entry, table), table)
        if held_once(store.entry_tables[table], hashes, here) < 0:
            return False
    return _sets_sound(store, alive) and _classes_sound(store, alive)


@kernel(types.int64(STORE, types.boolean))
def audit(store: Any, by_file: Any) -> Any:
    """0 of a window that holds together; else which of `PARTS` does not, counted from 1. A window
    of terms has no pages `by_file`."""
    if not rows_sound(store):
        return 1
    if not urls_sound(store):
        return 2
    if not pages_sound(store, by_file):
        return 3
    return 0 if entries_sound(store) else 4


PARTS = (
    "rows, queues and free rows", "URLs and their free room", "versions of pages and of files",
    "identity sets and classes",
)  # fmt: skip
