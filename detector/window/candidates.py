"""Candidates: the identity sets that share a supershingle or a piece with a page.

Henzinger 2006, §3.2, §3.3: pairs that agree in two of six supershingles share one, and pairs that
differ in up to 11 bits share one of the 12 pieces of their simhashes. A key that very many sets
share (a template) keeps `POSTINGS` of them, each new one taking the place of one of them; what
was cut is counted. Never decides what is near.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_COUNTS, part, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.window.buckets import home, number, put, seek, take, with_key
from reusewatch.detector.window.store import (
    BY_TEXT,
    CUT,
    ENTRIES_TYPE,
    LINKS,
    NEAR_TABLES,
    PIECES,
    STORE,
    SUPER5,
)

POSTINGS = 32
"""Sets that a key leads to."""
CANDIDATES = 256
"""Sets that a page is compared with."""
MARKS = 1024
"""Places of the marks, a power of two: at most a quarter of them is taken."""
_FEW = 16

_ZERO = np.uint64(0)
_WORD = np.uint64(32)
_ONE = np.uint64(1)


@part(types.uint64(ENTRIES_TYPE, types.int64, types.int64))
def key_of(entries: Any, entry: Any, table: Any) -> Any:
    """The key of a set in a table: 33 bits, so that a piece of zeros is one; 0 is no key."""
    if table < PIECES:
        return types.uint64(entries[entry].super8[table])
    if table >= SUPER5:
        return types.uint64(entries[entry].super5[table - SUPER5])
    piece = table - PIECES
    word = entries[entry].simhash[piece >> 1]
    return ((word >> (_WORD * types.uint64(piece & 1))) & types.uint64(0xFFFFFFFF)) | (
        _ONE << _WORD
    )


@part(types.uint64(types.uint64, types.int64))
def hash_of(key: Any, table: Any) -> Any:
    """Where a key stands in its table."""
    return mix(key ^ (types.uint64(table + 1) << types.uint64(40)))


@part(types.boolean(ENTRIES_TYPE, types.int64))
def projected(entries: Any, entry: Any) -> Any:
    """Whether a set has a simhash; one of zeros only says that there were no words."""
    simhash = entries[entry].simhash
    return (simhash[0] | simhash[1] | simhash[2] | simhash[3] | simhash[4] | simhash[5]) != _ZERO


@part(types.boolean(ENTRIES_TYPE, types.int64, types.int64))
def has_key(entries: Any, entry: Any, table: Any) -> Any:
    """Whether a set stands in a table at all."""
    if PIECES <= table < SUPER5:
        return projected(entries, entry)
    return key_of(entries, entry, table) != _ZERO


@part(types.int64(ENTRIES_TYPE, OUT_COUNTS, types.int64, types.int64, types.int64))
def _post(entries: Any, slots: Any, bits: Any, table: Any, entry: Any) -> Any:
    """Enter a set under one of its keys; 1 if the key leads to too many, and one is given up."""
    key = key_of(entries, entry, table)
    hashed = hash_of(key, table)
    same, given_up, turn = 0, -1, types.int64(mix(types.uint64(entry)) % types.uint64(POSTINGS))
    at = seek(slots, bits, hashed, home(slots, hashed))
    while at >= 0:
        if key_of(entries, number(slots, bits, at), table) == key:
            if same == turn:
                given_up = at
            same += 1
            if same == POSTINGS:
                slots[given_up] = (slots[given_up] >> bits << bits) | (entry + 1)
                return 1
        at = seek(slots, bits, hashed, at)
    put(slots, bits, hashed, entry)
    return 0


@part(types.void(STORE, types.int64, types.int64))
def enter(store: Any, bits: Any, entry: Any) -> None:
    """Enter a set under all of its keys."""
    entries, tables, cut = store.entries, store.entry_tables, 0
    for table in range(NEAR_TABLES):
        if has_key(entries, entry, table):
            cut += _post(entries, tables[table], bits, table, entry)
    put(tables[BY_TEXT], bits, mix(entries[entry].text), entry)
    store.numbers[CUT] += cut


@part(types.void(STORE, types.int64, types.int64))
def leave(store: Any, bits: Any, entry: Any) -> None:
    """Take a set out of all tables."""
    for table in range(NEAR_TABLES):
        if has_key(store.entries, entry, table):
            key = key_of(store.entries, entry, table)
            take(store.entry_tables[table], bits, hash_of(key, table), entry)
    take(store.entry_tables[BY_TEXT], bits, mix(store.entries[entry].text), entry)


@part(types.int64(STORE, types.int64, types.uint64))
def entry_of(store: Any, bits: Any, text: Any) -> Any:
    """The identity set of a token sequence; −1 if the window has none."""
    if text == _ZERO:
        return -1
    return with_key(store.entry_tables[BY_TEXT], bits, store.entries.text, text)


@part(types.void(LINKS, LINKS, types.int64))
def _mark(found: Any, marks: Any, place: Any) -> None:
    at = (types.int64(found[place]) * 2654435761 >> 7) & (MARKS - 1)
    while marks[at] >= 0:
        at = (at + 1) & (MARKS - 1)
    marks[at] = place


@part(types.boolean(LINKS, types.int64, LINKS, types.int64))
def _new(found: Any, count: Any, marks: Any, entry: Any) -> Any:
    """Whether a set is not among those found; then it is.

    Few are compared one by one; of many, marks is a small open hash of their places.
    """
    if count < _FEW:
        for i in range(count):
            if found[i] == entry:
                return False
    else:
        if count == _FEW:
            for i in range(marks.size):
                marks[i] = -1
            for i in range(count):
                _mark(found, marks, i)
        at = (entry * 2654435761 >> 7) & (MARKS - 1)
        while marks[at] >= 0:
            if found[marks[at]] == entry:
                return False
            at = (at + 1) & (MARKS - 1)
    if count < CANDIDATES:
        found[count] = entry
        if count >= _FEW:
            _mark(found, marks, count)
    return True


@part(types.int64(STORE, types.int64, ENTRIES_TYPE, types.int64, types.int64, types.int64, LINKS,
                    LINKS))  # fmt: skip
def collect(
    store: Any, bits: Any, entries: Any, entry: Any, begin: Any, end: Any, found: Any, marks: Any
) -> Any:
    """The sets that share a key with this one in the tables from begin to end, each once.

    Returns how many there are; past `CANDIDATES` they are only counted. The set itself is one
    of them, if it is in the window.
    """
    count = 0
    for table in range(begin, end):
        if not has_key(entries, entry, table):
            continue
        key, slots = key_of(entries, entry, table), store.entry_tables[table]
        hashed = hash_of(key, table)
        at = seek(slots, bits, hashed, home(slots, hashed))
        while at >= 0:
            other = number(slots, bits, at)
            if key_of(store.entries, other, table) == key and _new(found, count, marks, other):
                count += 1
            at = seek(slots, bits, hashed, at)
    return count
