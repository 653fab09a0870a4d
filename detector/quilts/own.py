"""How alike two pages are without what many other pages have too.

After Fetterly et al. 2005, §3.2: popular grams are left out of a pair, and it is judged again on
what is left, by the share of both pages' own grams that both have. Popular is what is a template of
one of the two sites, or of both together (`site_peers`): of an article on two hundred sites, each
in a template of its own, the templates are left out and the article stays, since no site has it
twice. With a fixed number of documents, as in the paper, it would be the article that goes.

Of long pages a share of the grams is looked at, drawn by their values, so that they are the same
ones on every page: a menu of forty thousand words is a template from end to end. Of the other pages
of a site those are looked at among `ENDS` grams at either end. Changes nothing; knows no page but
by its grams.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import (
    OUT_OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.quilts.adding import document_by
from reusewatch.detector.quilts.gram_table import key_at
from reusewatch.detector.quilts.site_peers import PEERS, first_peer, is_there, popular
from reusewatch.detector.quilts.store import STORE
from reusewatch.detector.sketching.grams import find, table_bits
from reusewatch.detector.window.buckets import number_bits

MOST = 4096
"""Grams of the longer of two pages that are looked at, about."""
ENDS = 1 << 15
UNKNOWN = -1.0
"""Of a pair of which one page has left the postings, or never entered."""

_NUMBERS = types.Array(types.int32, 1, "C")
_FLOATS = types.Array(types.float64, 1, "C")
_TABLE = tuple_of(OUT_OFFSETS, OUT_WORDS, _NUMBERS, types.uint64, types.uint64)
"""Grams of both pages: a hash table, the grams, a column of counts for each (first who of the two
has it, then how many others of either site), a salt, and which bits of a gram that is looked at are
zero."""
_MINE, _THEIRS = 1, 2


@part(types.int64(_TABLE, types.uint64), inline=True)
def _slot(table: Any, key: Any) -> Any:
    slots, keys, _, salt, _ = table
    return find(slots, slots.size - 1, keys, key, salt)


@part(types.int64(STORE, types.int64, _TABLE, types.int64, types.int64))
def _put_all(store: Any, at: Any, table: Any, size: Any, whose: Any) -> Any:
    """Put a document's grams into the table; how many grams it has then."""
    slots, keys, counts, _, zeros = table
    posting = store.documents[at].begin % store.postings.size
    for _ in range(types.int64(store.documents[at].kept)):
        key = key_at(store, posting)
        posting = posting + 1 if posting + 1 < store.postings.size else 0
        if zeros and mix(key) & zeros:
            continue
        slot = _slot(table, key)
        if slots[slot] < 0:
            slots[slot], keys[size] = size, key
            counts[3 * size] = counts[3 * size + 1] = counts[3 * size + 2] = 0
            size += 1
        counts[3 * slots[slot]] |= whose
    return size


@part(types.void(STORE, types.int64, types.int64, _TABLE, types.int64))
def _count_some(store: Any, begin: Any, end: Any, table: Any, column: Any) -> None:
    slots, _, counts, _, zeros = table
    posting = begin % store.postings.size
    for _ in range(end - begin):
        key = key_at(store, posting)
        posting = posting + 1 if posting + 1 < store.postings.size else 0
        if zeros and mix(key) & zeros:
            continue
        slot = _slot(table, key)
        if slots[slot] >= 0:
            counts[3 * slots[slot] + column] += 1


@part(types.int64(STORE, types.uint64, types.int64, types.int64, _TABLE, types.int64))
def _count_site(store: Any, site: Any, one: Any, other: Any, table: Any, column: Any) -> Any:
    """Count the grams of the other documents of a site's sample; how many these are."""
    each, size = first_peer(store, site), 0
    while each >= 0 and store.documents[each].peers > PEERS:
        each = types.int64(store.documents[each].peer)
    while each >= 0:
        if each not in (one, other) and is_there(store, each):
            begin, kept = store.documents[each].begin, types.int64(store.documents[each].kept)
            _count_some(store, begin, begin + min(kept, ENDS), table, column)
            last = max(kept - ENDS, ENDS)
            _count_some(store, begin + last, begin + max(kept, last), table, column)
            size += 1
        each = types.int64(store.documents[each].peer)
    return size


@part(types.float64(STORE, types.int64, types.boolean), inline=True)
def _comparable(store: Any, at: Any, sampled: Any) -> Any:
    """The share of a document's posted grams that may be in a sample."""
    document = store.documents[at]
    if not sampled or document.kept != document.grams:
        return 1.0
    return types.int64(document.ranged) / max(types.int64(document.kept), 1)


@part(types.float64(STORE, types.int64, types.int64), allocates=True)
def _own(store: Any, one: Any, other: Any) -> Any:
    here, there = store.documents[one], store.documents[other]
    most = types.int64(here.kept) + types.int64(there.kept)
    zeros = types.uint64(0)
    while max(types.int64(here.kept), types.int64(there.kept)) > MOST * (types.int64(zeros) + 1):
        zeros = zeros << types.uint64(1) | types.uint64(1)
    # Most of what is looked for is not there, which a table with room says at the first look.
    table = (
        np.full(1 << table_bits(2 * most), -1, np.int64), np.empty(most, np.uint64),
        np.empty(3 * most, np.int32), here.text, zeros,
    )  # fmt: skip
    size = _put_all(store, one, table, 0, _MINE)
    size = _put_all(store, other, table, size, _THEIRS)
    of_here = _count_site(store, here.site, one, other, table, 1)
    of_there = types.int64(0)
    if there.site != here.site:
        of_there = _count_site(store, there.site, one, other, table, 2)
    mine = theirs = both = 0
    for gram in range(size):
        who, counts = table[2][3 * gram], table[2]
        if popular(
            types.int64(counts[3 * gram + 1]), of_here, types.int64(counts[3 * gram + 2]), of_there
        ):
            continue
        mine += (who & _MINE) != 0
        theirs += (who & _THEIRS) != 0
        both += who == _MINE | _THEIRS
    sampled = here.kept != here.grams or there.kept != there.grams
    whole = mine * _comparable(store, one, sampled) + theirs * _comparable(store, other, sampled)
    return min(both / max(whole - both, 1.0), 1.0)


@kernel(types.void(STORE, WORDS, WORDS, _FLOATS))
def own_of(store: Any, texts: Any, others: Any, out: Any) -> None:
    """Of pairs of pages, by their texts: what share of both pages' own grams both have."""
    bits = number_bits(store.by_text)
    for at in range(others.size):
        one = document_by(store.by_text, bits, store, texts[at], True)
        other = document_by(store.by_text, bits, store, others[at], True)
        known = one >= 0 and other >= 0
        out[at] = _own(store, one, other) if known else UNKNOWN
