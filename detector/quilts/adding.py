"""Documents enter the postings and leave them: a batch in one call.

A token sequence has one document, which stands for the page that had it first, whichever page
brought it first. A page that comes with other words than before has another document; the old one
leaves if no other page has its words. Nothing here asks what a document is a copy of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OFFSETS,
    OUT_COUNTS,
    OUT_OFFSETS,
    WORDS,
    kernel,
    part,
    types,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.quilts.gram_table import (
    first_slot,
    gram_bits,
    key_at,
    key_of,
    line_of,
    look,
    slot_of_gram,
)
from reusewatch.detector.quilts.links import (
    begin_document,
    document_at,
    follow,
    is_mixed,
    mark_mixed,
    open_block,
)
from reusewatch.detector.quilts.site_peers import join_site, leave_site
from reusewatch.detector.quilts.store import (
    ABSENT,
    DISTINCT,
    DOCUMENT_BYTES,
    DOCUMENTS,
    END_DOCUMENT,
    END_POSTING,
    FIRST_DOCUMENT,
    FIRST_POSTING,
    FORGOTTEN,
    GONE,
    LATE,
    LIVE,
    MAX_AGE,
    MAX_BYTES,
    NEWEST,
    OWNED,
    POSTING_BYTES,
    SCALE,
    STORE,
    WARM,
)
from reusewatch.detector.window.buckets import home, number, number_bits, put, seek, take

_LOW = np.uint64((1 << 32) - 1)
_HALF = np.uint64(32)
_HIGH = np.uint64((1 << 16) - 1)
_MOST = (1 << 32) - 1
_LAST_PLACE = (1 << 16) - 1
_AHEAD = 64
"""Grams that are looked for side by side."""


@part(types.int64(OUT_COUNTS, types.int64, STORE, types.uint64, types.boolean))
def document_by(table: Any, bits: Any, store: Any, wanted: Any, by_text: Any) -> Any:
    """The document with this text, or the newest one of this page; −1 if there is none."""
    hashed = mix(wanted)
    at = seek(table, bits, hashed, home(table, hashed))
    while at >= 0:
        found = number(table, bits, at)
        has = store.documents[found].text if by_text else store.documents[found].page
        if has == wanted:
            return found
        at = seek(table, bits, hashed, at)
    return -1


@part(types.void(STORE, types.int64))
def _forget(store: Any, at: Any) -> None:
    """A document is found no more; its postings stay until its turn comes."""
    document = store.documents[at]
    if document.flags & GONE:
        return
    take(store.by_text, number_bits(store.by_text), mix(document.text), at)
    take(store.by_page, number_bits(store.by_page), mix(document.page), at)
    leave_site(store, at)
    store.documents[at].flags |= np.uint16(GONE)
    store.numbers[LIVE] -= 1
    store.numbers[ABSENT] += 1


@part(types.void(STORE))
def _expire(store: Any) -> None:
    """The oldest document leaves, with its postings."""
    numbers = store.numbers
    at = numbers[FIRST_DOCUMENT] % store.documents.size
    _forget(store, at)
    numbers[ABSENT] -= 1
    bits, total = gram_bits(store), types.int64(0)
    begin = store.documents[at].begin
    end = begin + types.int64(store.documents[at].kept)
    for posting in range(begin, end):
        total += store.grams[line_of(store, mix(key_at(store, posting % store.postings.size)))]
    numbers[WARM] = total
    for posting in range(begin, end):
        ring = posting % store.postings.size
        # Only the newest posting of a gram is in the table, and this is the oldest.
        numbers[DISTINCT] -= take(store.grams, bits, mix(key_at(store, ring)), ring)
    numbers[FIRST_POSTING] = end
    numbers[FIRST_DOCUMENT] += 1


@part(types.int64(STORE), inline=True)
def _taken(store: Any) -> Any:
    numbers = store.numbers
    documents = numbers[END_DOCUMENT] - numbers[FIRST_DOCUMENT]
    postings = numbers[END_POSTING] - numbers[FIRST_POSTING]
    return documents * DOCUMENT_BYTES + postings * POSTING_BYTES


@part(types.boolean(types.int64, types.uint64, types.int64, types.uint64), inline=True)
def earlier(at: Any, page: Any, other_at: Any, other: Any) -> Any:
    """Whether a page was there before another; ties go by id."""
    return at < other_at or (at == other_at and page < other)


@part(types.void(STORE, types.int64))
def _mix(store: Any, at: Any) -> None:
    """A document is of another site now: its grams may be of several."""
    bits, begin = gram_bits(store), store.documents[at].begin
    for posting in range(begin, begin + types.int64(store.documents[at].kept)):
        key = key_at(store, posting % store.postings.size)
        slot = slot_of_gram(store, bits, key, first_slot(store, bits, key))
        if slot >= 0:
            mark_mixed(store, number(store.grams, bits, slot))


@part(types.boolean(STORE, types.int64, DOCUMENTS, types.int64))
def _known(store: Any, bits: Any, pages: Any, row: Any) -> Any:
    """Whether the words have a document; it then stands for the owned or earlier of both pages."""
    page = pages[row]
    at = document_by(store.by_text, bits, store, page.text, True)
    if at < 0:
        return False
    known = store.documents[at]
    if known.page != page.page:
        store.documents[at].sightings = min(types.int64(known.sightings) + 1, _MOST)
    mine, theirs = types.int64(page.flags) & OWNED, types.int64(known.flags) & OWNED
    if mine > theirs or (mine == theirs and earlier(page.at, page.page, known.at, known.page)):
        if known.page != page.page:
            take(store.by_page, bits, mix(known.page), at)
            put(store.by_page, bits, mix(page.page), at)
        store.documents[at].page, store.documents[at].at = page.page, page.at
        if known.site != page.site:
            leave_site(store, at)
            store.documents[at].site = page.site
            join_site(store, at)
            _mix(store, at)
        store.documents[at].ip = page.ip
    store.documents[at].flags |= page.flags
    return True


@part(types.boolean(STORE, types.int64, DOCUMENTS, types.int64))
def _superseded(store: Any, bits: Any, pages: Any, row: Any) -> Any:
    """Of a page's versions the latest stays, unless other pages have the words of an older one."""
    page = pages[row]
    at = document_by(store.by_page, bits, store, page.page, False)
    if at < 0:
        return False
    known = store.documents[at]
    if (known.at, known.text) > (page.at, page.text):
        return True
    if known.sightings == 0:
        _forget(store, at)
        store.numbers[FORGOTTEN] += 1
    return False


@part(types.void(STORE, types.int64, types.uint64, types.uint16, types.int64, types.uint64))
def _post(store: Any, bits: Any, key: Any, start: Any, slot: Any, site: Any) -> None:
    """Post a gram of a document of a site that this slot may lead to."""
    end = store.numbers[END_POSTING]
    at = end % store.postings.size
    slot = slot_of_gram(store, bits, key, slot)
    open_block(store, at)
    if slot >= 0:
        before = number(store.grams, bits, slot)
        if is_mixed(store, before) or store.documents[document_at(store, before)].site != site:
            mark_mixed(store, at)
        follow(store, at, before)
    store.postings[at].low = key & _LOW
    store.postings[at].high = (key >> _HALF) & _HIGH
    store.postings[at].start = start
    if slot < 0:
        put(store.grams, bits, mix(key), at)
        store.numbers[DISTINCT] += 1
    else:  # the same key: its mark stays
        store.grams[slot] = (types.int64(store.grams[slot]) >> bits << bits) | (at + 1)
    store.numbers[END_POSTING] = end + 1


@part(types.int64(COUNTS, types.int64, types.int64))
def _scale(starts: Any, first: Any, end: Any) -> Any:
    """By how many bits places have to be shorter, for all to have 16."""
    most, scale = types.int64(0), 0
    for gram in range(first, end):
        most = max(most, types.int64(starts[gram]))
    while most >> scale > _LAST_PLACE:
        scale += 1
    return scale


@part(types.void(STORE, DOCUMENTS, types.int64, WORDS, COUNTS, types.int64, OUT_OFFSETS))
def _enter(
    store: Any, pages: Any, row: Any, grams: Any, starts: Any, first: Any, slots: Any
) -> None:
    numbers = store.numbers
    bits, kept = gram_bits(store), types.int64(pages[row].kept)
    begin, scale = numbers[END_POSTING], _scale(starts, first, first + kept)
    begin_document(store, begin % store.postings.size)
    for begun in range(first, first + kept, slots.size):
        end = min(begun + slots.size, first + kept)
        look(store, bits, grams, begun, end, slots)
        for gram in range(begun, end):
            start = types.uint16(types.int64(starts[gram]) >> scale)
            _post(store, bits, key_of(grams[gram]), start, slots[gram - begun], pages[row].site)
    at = numbers[END_DOCUMENT] % store.documents.size
    store.documents[at] = pages[row]
    store.documents[at].begin = begin
    store.documents[at].flags |= np.uint16(scale << SCALE)
    put(store.by_text, number_bits(store.by_text), mix(pages[row].text), at)
    put(store.by_page, number_bits(store.by_page), mix(pages[row].page), at)
    join_site(store, at)
    numbers[END_DOCUMENT] += 1
    numbers[LIVE] += 1


@kernel(types.void(STORE, DOCUMENTS, OFFSETS, WORDS, COUNTS))
def add_documents(store: Any, pages: Any, offsets: Any, grams: Any, starts: Any) -> None:
    """Pages enter, one after the other; there is room for all of them."""
    numbers = store.numbers
    bits, slots = number_bits(store.by_text), np.empty(_AHEAD, np.int64)
    for row in range(pages.size):
        page = pages[row]
        if numbers[MAX_AGE] >= 0 and page.at < numbers[NEWEST] - numbers[MAX_AGE]:
            numbers[LATE] += 1
            continue
        numbers[NEWEST] = max(numbers[NEWEST], page.at)
        if page.kept == 0 or _known(store, bits, pages, row):
            continue
        if _superseded(store, bits, pages, row):
            continue
        cost = DOCUMENT_BYTES + types.int64(page.kept) * POSTING_BYTES
        while numbers[FIRST_DOCUMENT] < numbers[END_DOCUMENT] and (
            _taken(store) + cost > numbers[MAX_BYTES]
        ):
            _expire(store)
        _enter(store, pages, row, grams, starts, offsets[row], slots)


@kernel(types.void(STORE, STORE))
def move(old: Any, new: Any) -> None:
    """Everything that is still there into another store, which has room and is empty."""
    numbers, end = old.numbers, old.numbers[END_DOCUMENT]
    for name in (NEWEST, MAX_AGE, MAX_BYTES, LATE):
        new.numbers[name] = numbers[name]
    bits = gram_bits(new)
    for document in range(numbers[FIRST_DOCUMENT], end):
        source = document % old.documents.size
        begin = new.numbers[END_POSTING]
        first = old.documents[source].begin
        begin_document(new, begin % new.postings.size)
        for posting in range(first, first + types.int64(old.documents[source].kept)):
            ring = posting % old.postings.size
            key = key_at(old, ring)
            start, slot = old.postings[ring].start, first_slot(new, bits, key)
            _post(new, bits, key, start, slot, old.documents[source].site)
        at = new.numbers[END_DOCUMENT] % new.documents.size
        new.documents[at] = old.documents[source]
        new.documents[at].begin, new.documents[at].peers = begin, 0
        new.numbers[END_DOCUMENT] += 1
        if not old.documents[source].flags & GONE:
            put(new.by_text, number_bits(new.by_text), mix(new.documents[at].text), at)
            put(new.by_page, number_bits(new.by_page), mix(new.documents[at].page), at)
            join_site(new, at)
            new.numbers[LIVE] += 1
        else:
            new.numbers[ABSENT] += 1
