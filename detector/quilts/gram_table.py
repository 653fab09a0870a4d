"""The table of the gram postings: from a gram to its newest posting.

As `detector.window.buckets` has it, with as many bits for a number as the ring of postings needs,
which is longer than the table. What a page needs of it is looked at once for all of its grams
before any is looked for: each look waits for memory, and all of them together wait once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_OFFSETS, WORDS, part, types
from reusewatch.detector.compiling.lines import LINE, first_of, is_from
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.quilts.store import BLOCK, STORE, WARM
from reusewatch.detector.window.buckets import number

_LOW = np.uint64((1 << 32) - 1)
_HALF = np.uint64(32)
_OF_LINE = LINE - 1
_SLOTS = -2
LEAST_BITS = 24
"""Fewer would say more of a key, and each ring of twice the size want a table written anew."""


@part(types.uint64(types.uint64), inline=True)
def key_of(gram: Any) -> Any:
    """The 48 bits of a gram's hash by which it is known. Not the highest: samples go by those."""
    return gram & types.uint64((1 << 48) - 1)


@part(types.uint64(STORE, types.int64), inline=True)
def key_at(store: Any, at: Any) -> Any:
    return types.uint64(store.postings[at].low) | (types.uint64(store.postings[at].high) << _HALF)


@part(types.int64(STORE), inline=True)
def gram_bits(store: Any) -> Any:
    """Bits of a slot of the grams' table that are the posting; the others are of the key's hash."""
    bits = LEAST_BITS
    while (store.postings.size >> bits) > 0:
        bits += 1
    return bits


@part(types.int64(STORE, types.uint64), inline=True)
def line_of(store: Any, hashed: Any) -> Any:
    """Where the line of a hash begins, as `buckets.home` says."""
    lines = types.uint64(store.grams.size // LINE)
    return types.int64(((hashed >> _HALF) * lines) >> _HALF) * LINE


@part(types.int64(STORE, types.int64, types.uint64, types.int64))
def _seek(store: Any, bits: Any, hashed: Any, at: Any) -> Any:
    """`buckets.seek` in this table, with its number of bits."""
    begin, line = line_of(store, hashed), at & ~_OF_LINE
    slot = types.uint32((types.int64(hashed & _LOW) >> bits << bits) + 1)
    numbers = types.uint32((1 << bits) - 1)
    found = is_from(store.grams, line, slot, numbers) & (-2 << (at & _OF_LINE))
    while found == 0:
        if store.grams[line] == 0:
            return -1
        line += LINE
        if line == store.grams.size:
            line = 0
        if line == begin:
            return -1
        found = is_from(store.grams, line, slot, numbers) & _SLOTS
    return line + first_of(found)


@part(types.int64(STORE, types.int64, types.uint64), inline=True)
def first_slot(store: Any, bits: Any, key: Any) -> Any:
    """The first slot that may lead to a gram; −1 if there is none."""
    hashed = mix(key)
    return _seek(store, bits, hashed, line_of(store, hashed))


@part(types.void(STORE, types.int64, WORDS, types.int64, types.int64, OUT_OFFSETS))
def look(store: Any, bits: Any, grams: Any, first: Any, end: Any, slots: Any) -> None:
    """Look at every line that these grams need, and at the posting that each leads to most likely;
    `slots` has the first slot of each that may be its own, or −1."""
    total = types.int64(0)
    for gram in range(first, end):
        total += store.grams[line_of(store, mix(key_of(grams[gram])))]
    for gram in range(first, end):
        at = first_slot(store, bits, key_of(grams[gram]))
        slots[gram - first] = at
        if at >= 0:
            posting = number(store.grams, bits, at)
            total += store.postings[posting].low
            total += types.int64(store.blocks[posting // BLOCK].linked)
    store.numbers[WARM] = total


@part(types.int64(STORE, types.int64, types.uint64, types.int64), inline=True)
def slot_of_gram(store: Any, bits: Any, key: Any, at: Any) -> Any:
    """The slot that leads to a gram's newest posting, from the one on that `look` has found; −1 if
    none has it."""
    while at >= 0 and key_at(store, number(store.grams, bits, at)) != key:
        at = _seek(store, bits, mix(key), at)
    return at
