"""Room for the gram postings: longer rings while none has come round, and larger tables.

Documents and postings keep their places, so that a table is written anew from its own numbers and
nothing is looked up; a posting that is posted again, as `adding.move` does it, is looked for first,
and the whole store stands in memory twice meanwhile. The grams' table has room for the grams that
are there, not for the postings, of which many are of one gram.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import OUT_COUNTS, kernel, types
from reusewatch.detector.compiling.lines import LINE
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.large_arrays import move, used_up, zeros
from reusewatch.detector.quilts.gram_table import LEAST_BITS, gram_bits, key_at
from reusewatch.detector.quilts.store import (
    BLOCK,
    BLOCKS,
    DOCUMENT,
    END_DOCUMENT,
    END_LINK,
    END_POSTING,
    POSTING,
    STORE,
    WARM,
    Store,
    whole_blocks,
)
from reusewatch.detector.window.buckets import (
    capacity_of,
    empty_tables,
    number,
    number_bits,
    put,
)

_TEXT, _PAGE, _SITE = range(3)
_OF_LINE = LINE - 1
_AHEAD = 64 * LINE
_LARGE = 1 << 20
_ROOMIER = 4
_AT_ONCE = 1 << 22


def roomier(size: int, need: int, bound: int) -> int:
    """The size of a ring that has room for so many: four times as much, and at least what some ten
    thousand pages need. It is written from its begin to its end, and what nobody has written yet
    takes no memory."""
    return size if need <= size else min(max(need, _ROOMIER * size, _AT_ONCE), max(need, bound))


def more(size: int, need: int, bound: int) -> int:
    """The size that has room for so many: twice as much, and a quarter more where that is much."""
    if need <= size:
        return size
    step = size // 4 if size > _LARGE else size
    return min(max(need, size + step), max(need, bound))


def can_grow(store: Store) -> bool:
    """Whether what stands at a place of a ring would stand there in a longer one, too."""
    numbers = store.numbers
    documents, postings, links = (len(x) for x in (store.documents, store.postings, store.links))
    return bool(
        numbers[END_DOCUMENT] <= documents
        and numbers[END_POSTING] <= postings
        and numbers[END_LINK] <= links
    )


def grown(store: Store, documents: int, postings: int, grams: int, links: int) -> Store:
    """The same store with so much room; of what has enough already nothing is touched. The one
    that was given is used up."""
    size, old, old_bits = whole_blocks(postings), store, _bits(store)
    # All room is made before anything is moved: where memory is full, the store stays whole.
    if size > len(old.postings):
        store = store._replace(
            postings=zeros(size, POSTING),
            blocks=zeros(size // BLOCK, BLOCKS),
            popular=np.zeros(size // BLOCK, np.uint64),
            popular_since=np.zeros(size // BLOCK, np.int64),
        )
    if links > len(old.links):
        store = store._replace(links=zeros(links, np.uint32))
    # A longer ring may need another bit of each slot.
    wider, room = _bits(store) > old_bits, capacity_of(old.grams)
    if grams > room or wider:
        store = store._replace(grams=empty_tables(1, max(grams, room))[0])
    if documents > len(old.documents):
        tables = (empty_tables(1, documents)[0] for _ in range(3))
        store = store._replace(
            documents=zeros(documents, DOCUMENT),
            **dict(zip(("by_text", "by_page", "by_site"), tables, strict=True)),
        )
    _take_over(old, store, old_bits)
    return store


def _bits(store: Store) -> int:
    """As `gram_bits` says."""
    return max(LEAST_BITS, len(store.postings).bit_length())


def _take_over(old: Store, new: Store, old_bits: int) -> None:
    if new.postings is not old.postings:
        move(old.postings, new.postings)
        move(old.blocks, new.blocks)
    if new.links is not old.links:
        move(old.links, new.links)
    if new.grams is not old.grams:
        for part in used_up(old.grams):
            _rehash_grams(new, old_bits, old.grams, part.start, part.stop)
    if new.documents is not old.documents:
        move(old.documents, new.documents)
        for which, name in ((_TEXT, "by_text"), (_PAGE, "by_page"), (_SITE, "by_site")):
            _rehash(new, which, getattr(old, name), getattr(new, name))


@kernel(types.void(STORE, types.int64, OUT_COUNTS, types.int64, types.int64))
def _rehash_grams(store: Any, old_bits: Any, old: Any, first: Any, last: Any) -> None:
    """Grams of some slots of a table into the one of the store. Lines of both are ordered by hashes
    alike, so that only the postings are strewn: of a few lines each is looked at once ahead."""
    bits, total = gram_bits(store), types.int64(0)
    for begin in range(first, last, _AHEAD):
        end = min(begin + _AHEAD, last)
        for at in range(begin, end):
            if at & _OF_LINE and old[at]:
                total += store.postings[number(old, old_bits, at)].low
        for at in range(begin, end):
            if at & _OF_LINE and old[at]:
                row = number(old, old_bits, at)
                put(store.grams, bits, mix(key_at(store, row)), row)
    store.numbers[WARM] = total


@kernel(types.void(STORE, types.int64, OUT_COUNTS, OUT_COUNTS))
def _rehash(store: Any, which: Any, old: Any, new: Any) -> None:
    old_bits, bits = number_bits(old), number_bits(new)
    for at in range(old.size):
        if at & _OF_LINE == 0 or old[at] == 0:
            continue
        row = number(old, old_bits, at)
        key: Any = np.uint64(0)
        if which == _TEXT:
            key = store.documents[row].text
        elif which == _PAGE:
            key = store.documents[row].page
        else:
            key = store.documents[row].site
        put(new, bits, mix(key), row)
