"""Which documents hold these grams, and where in them: walks from each gram's newest posting.

Each step of a walk waits for memory, so that many walks go side by side, a step of each in turn:
what they wait for comes at once. A gram that more than `most` documents hold is popular, and no
list of them is made: so a walk ends after so many, and a page of nothing but popular grams costs no
more than that for each.

Whoever asks for all grams of a page that stands here needs the table for few of them: the page's
own postings stand side by side, and each says whether it is its gram's newest, at which the walk
begins. Where only what other sites have is wanted, the newest also says whether several sites may
have the gram; without that there is no walk, which is so of five grams in six of real pages.

Of a popular gram it is noted where its walk ended. Since the oldest leave first, it is popular as
long as that posting is there, without another walk; what is noted changes no answer. Once a page
has left before its turn nothing that was noted holds, and where they leave by age nothing is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import (
    OFFSETS,
    OUT_COUNTS,
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
from reusewatch.detector.quilts.gram_table import gram_bits, key_at, key_of, look, slot_of_gram
from reusewatch.detector.quilts.links import (
    before,
    document_at,
    is_followed,
    is_linked,
    is_mixed,
)
from reusewatch.detector.quilts.site_peers import documents_of, is_there
from reusewatch.detector.quilts.store import (
    ABSENT,
    BLOCK,
    DOCUMENTS,
    END_POSTING,
    FIRST_POSTING,
    FORGOTTEN,
    MAX_AGE,
    SCALE,
    STORE,
    WARM,
)
from reusewatch.detector.window.buckets import home, number, number_bits, seek

_GROUP = 512
"""Grams that are asked for side by side. The longest walks of a group go on when the others have
ended, each step waiting by itself: in groups of 64 half of a walk's time was that."""
_KNOWN = 1 << 14
"""Grams that were asked for in the same call, by some bits of their hash: pages of one site ask for
its template again and again, each time a walk of `most` steps."""
_SITES = 256
"""Sites of which it is known in a call how many documents they have."""
_NUMBERS = types.Array(types.int32, 1, "C")
_SEEN_SITES = tuple_of(OUT_WORDS, OUT_OFFSETS)
_COLUMNS = tuple_of(*[OUT_OFFSETS] * 6)
"""Of the walks of a group: where each stands in the ring; which posting that is, counted from the
first ever; the gram before that is the same, or −1; those that go on; the places passed; and where
each goes next."""
_SOUGHT = tuple_of(OUT_WORDS, OUT_OFFSETS, OUT_OFFSETS)
"""Grams of the group for which the table is asked, which ones these are, and the slots found."""
_BEFORE = tuple_of(OFFSETS, _NUMBERS)
"""What is known before: of each gram the page's own posting, or −1, and grams asked for earlier."""
_PAGES = tuple_of(WORDS, WORDS, OFFSETS)
"""The pages that ask, by their texts and sites, and where the grams of each begin; none where
nobody says."""


@part(types.int64(STORE, types.int64, types.int64), inline=True)
def _position(store: Any, last: Any, at: Any) -> Any:
    """Which posting, counted from the first ever, stands at a place; the newest is at `last`."""
    behind = last - at
    if behind < 0:
        behind += store.postings.size
    return store.numbers[END_POSTING] - 1 - behind


@part(types.int64(STORE, types.uint64), inline=True)
def _noted_at(store: Any, gram: Any) -> Any:
    """Where it is noted that a gram is popular."""
    places = types.uint64(store.popular.size)
    return types.int64(((mix(gram) >> np.uint64(32)) * places) >> np.uint64(32))


@part(types.uint64(STORE, types.int64), inline=True)
def _stamp(store: Any, most: Any) -> Any:
    """What a gram is noted with: something else once a note no longer holds."""
    return mix(types.uint64(store.numbers[FORGOTTEN] * 4096 + most)) | np.uint64(1 << 63)


@part(types.boolean(STORE, types.uint64, types.uint64), inline=True)
def _is_noted(store: Any, gram: Any, stamp: Any) -> Any:
    """Whether a gram is known to be popular."""
    noted = _noted_at(store, gram)
    return store.popular[noted] == gram ^ stamp and (
        store.popular_since[noted] >= store.numbers[FIRST_POSTING]
    )


@part(types.int64(STORE, WORDS, types.int64, types.int64, types.int64, OUT_COUNTS, _COLUMNS,
                  _SOUGHT, _BEFORE, types.int64, types.boolean))  # fmt: skip
def _begin(
    store: Any, grams: Any, first: Any, end: Any, most: Any, counts: Any, walks: Any,
    sought: Any, known: Any, last: Any, apart: Any,
) -> Any:  # fmt: skip
    """Walks of these grams, each at its newest posting; returns how many there are.

    The table, which takes longest, is asked for those alone of which nothing else says where that
    is: a page's own posting is it while none came after that. Where pages are asked for what they
    have of other sites, a gram that one site has to itself needs no walk.
    """
    at, position, asked, going, _, _ = walks
    words, which, slots = sought
    mine, before_at = known
    active, count, stamp = 0, 0, _stamp(store, most)
    for gram in range(first, end):
        each, own = gram - first, mine[gram]
        asked[each] = -1
        followed = own < 0 or is_followed(store, own)
        if apart and not followed and not is_mixed(store, own):
            continue
        if followed or is_linked(store, own):  # else nobody else has it
            place = types.int64(mix(grams[gram]) & np.uint64(_KNOWN - 1))
            other = types.int64(before_at[place])
            before_at[place] = gram
            # Of a page that does not stand here nothing is left out.
            if other >= 0 and grams[other] == grams[gram] and (mine[other] >= 0) == (own >= 0):
                asked[each] = other
                continue
            if _is_noted(store, grams[gram], stamp):
                counts[gram] = most + 1
                continue
            if followed:
                words[count], which[count] = grams[gram], each
                count += 1
                continue
        at[each], position[each] = own, _position(store, last, own)
        going[active] = each
        active += 1
    bits = gram_bits(store)
    look(store, bits, words, 0, count, slots)
    for one in range(count):
        each = which[one]
        slot = slot_of_gram(store, bits, key_of(words[one]), slots[one])
        if slot < 0:
            continue
        at[each] = number(store.grams, bits, slot)
        if apart and mine[first + each] >= 0 and not is_mixed(store, at[each]):
            continue
        position[each] = _position(store, last, at[each])
        if position[each] >= store.numbers[FIRST_POSTING]:
            going[active] = each
            active += 1
    return active


@part(types.void(STORE, WORDS, OUT_COUNTS, types.int64, types.int64, types.int64, _COLUMNS,
                 types.int64))  # fmt: skip
def _walk(
    store: Any, grams: Any, counts: Any, first: Any, most: Any, active: Any, walks: Any, last: Any
) -> None:
    """Go on with the walks until each has passed all documents, or too many."""
    at, position, _, going, passed, towards = walks
    oldest, total = store.numbers[FIRST_POSTING], types.int64(0)
    # Where nothing has left before its turn, whose a posting is need not be asked on the way.
    ages_nothing = store.numbers[MAX_AGE] < 0
    all_there = store.numbers[ABSENT] == 0 and ages_nothing
    while active > 0:
        for walk in range(active):
            total += types.int64(store.blocks[at[going[walk]] // BLOCK].linked)
        for walk in range(active):
            towards[going[walk]] = before(store, at[going[walk]])
        left = 0
        for walk in range(active):
            each = going[walk]
            here = at[each]
            if all_there or is_there(store, document_at(store, here)):
                counts[first + each] += 1
                if types.int64(counts[first + each]) > most:
                    if ages_nothing:
                        noted = _noted_at(store, grams[first + each])
                        store.popular[noted] = grams[first + each] ^ _stamp(store, most)
                        store.popular_since[noted] = position[each]
                    continue
                passed[each * most + types.int64(counts[first + each]) - 1] = here
            then = towards[each]
            earlier = _position(store, last, then)
            # What stood there is gone, and a newer posting may stand there now.
            if earlier >= position[each] or earlier < oldest:
                continue
            at[each], position[each] = then, earlier
            going[left] = each
            left += 1
        active = left
    store.numbers[WARM] = total


@part(types.int64(STORE, types.int64, types.int64, types.int64, OUT_COUNTS, OUT_OFFSETS, _NUMBERS))
def _documents(
    store: Any, first: Any, end: Any, most: Any, counts: Any, passed: Any, found: Any
) -> Any:
    """The documents of all places that were passed, but of popular grams; looked at once."""
    total, listed = types.int64(0), 0
    for gram in range(first, end):
        begin = (gram - first) * most
        for step in range(begin, begin + types.int64(counts[gram])):
            if types.int64(counts[gram]) > most:
                break
            found[listed] = document_at(store, passed[step])
            total += types.int64(store.postings[passed[step]].start)
            listed += 1
    for each in range(listed):
        total += store.documents[found[each]].flags
    return total


_FOUND = tuple_of(OUT_COUNTS, OUT_OFFSETS, _NUMBERS, OUT_COUNTS)
_MET = tuple_of(DOCUMENTS, _NUMBERS, _NUMBERS)
"""Documents that were met, where each stands; and of each that stands somewhere its number among
those that were met, or −1."""


@part(types.int64(STORE, types.int64, types.int64, types.int64, _COLUMNS, _FOUND, _MET,
                  _NUMBERS, types.int64))  # fmt: skip
def _list(
    store: Any, first: Any, end_gram: Any, most: Any, walks: Any, out: Any, met: Any, found: Any,
    known: Any,
) -> Any:  # fmt: skip
    """Write down who holds each gram of the group; returns how many documents were met so far."""
    counts, offsets, documents, starts = out
    records, stands, numbered = met
    asked, passed = walks[2], walks[4]
    end, at = offsets[first], 0
    for gram in range(first, end_gram):
        each = gram - first
        if asked[each] >= 0:
            counts[gram] = counts[asked[each]]
            for other in range(offsets[asked[each]], offsets[asked[each] + 1]):
                documents[end], starts[end] = documents[other], starts[other]
                end += 1
        elif types.int64(counts[gram]) <= most:
            for step in range(each * most, each * most + types.int64(counts[gram])):
                document = types.int64(found[at])
                at += 1
                if numbered[document] < 0:
                    numbered[document], stands[known] = known, document
                    records[known] = store.documents[document]
                    known += 1
                scale = types.int64(store.documents[document].flags) >> SCALE
                documents[end] = numbered[document]
                starts[end] = types.int64(store.postings[passed[step]].start) << scale
                end += 1
        offsets[gram + 1] = end
    return known


@part(types.int64(_SEEN_SITES, types.uint64), inline=True)
def _peers_of(seen: Any, site: Any) -> Any:
    """How many documents a site has, if it is one of those that were asked for last; else −1."""
    at = types.int64(mix(site) & np.uint64(_SITES - 1))
    return seen[1][at] if seen[0][at] == site else -1


@part(types.void(STORE, DOCUMENTS, types.int64), allocates=True)
def _note_peers(store: Any, met: Any, known: Any) -> None:
    """Of each document that was met, how many its site has: it is looked for once for those of a
    site that come near each other, and side by side for the others."""
    bits, total = number_bits(store.by_site), types.int64(0)
    seen = np.zeros(_SITES, np.uint64), np.full(_SITES, -1, np.int64)
    for begin in range(0, known, _GROUP):
        end = min(begin + _GROUP, known)
        for each in range(begin, end):
            if _peers_of(seen, met[each].site) < 0:
                total += store.by_site[home(store.by_site, mix(met[each].site))]
        for each in range(begin, end):
            if _peers_of(seen, met[each].site) < 0:
                hashed = mix(met[each].site)
                at = seek(store.by_site, bits, hashed, home(store.by_site, hashed))
                if at >= 0:
                    total += store.documents[number(store.by_site, bits, at)].peers
        for each in range(begin, end):
            site = met[each].site
            peers = _peers_of(seen, site)
            if peers < 0:
                peers = types.int64(documents_of(store, site))
                at = types.int64(mix(site) & np.uint64(_SITES - 1))
                seen[0][at], seen[1][at] = site, peers
            met[each].peers = peers
    store.numbers[WARM] = total


@part(types.void(STORE, WORDS, _PAGES, OUT_OFFSETS))
def _own_postings(store: Any, grams: Any, pages: Any, mine: Any) -> None:
    """Where the grams of each page stand as its site's; −1 of those that do not."""
    texts, sites, offsets = pages
    bits = number_bits(store.by_text)
    mine[:] = -1
    for page in range(texts.size):
        document = document_by(store.by_text, bits, store, texts[page], True)
        if document < 0 or not is_there(store, document):
            continue
        # Of pages with the same words one has the document.
        if store.documents[document].site != sites[page]:
            continue
        begin, first = store.documents[document].begin, offsets[page]
        kept = min(types.int64(store.documents[document].kept), offsets[page + 1] - first)
        posting = begin % store.postings.size
        for gram in range(first, first + kept):
            # By what stands there, not by the text alone: other grams may have been kept of it.
            if key_at(store, posting) == key_of(grams[gram]):
                mine[gram] = posting
            posting = posting + 1 if posting + 1 < store.postings.size else 0


@kernel(types.int64(
    STORE, WORDS, _PAGES, types.boolean, types.int64, _FOUND, DOCUMENTS, _NUMBERS
))  # fmt: skip
def holders_of(
    store: Any, grams: Any, pages: Any, apart: Any, most: Any, out: Any, records: Any,
    numbered: Any,
) -> Any:  # fmt: skip
    """Of each gram how many documents hold it, counted to `most` + 1, and those of up to `most`.
    `apart`: of a gram of these pages that documents of the page's own site alone hold, none.

    Returns how many documents were met; the lists name them by their number in `records`.
    `numbered` has a −1 for each place of a document, before and after: to write it anew for each
    call takes as long, in a large window, as to ask for a page.
    """
    counts, offsets = out[0], out[1]
    met = (records, np.empty(records.size, np.int32), numbered)
    own = np.empty(grams.size, np.int64), np.full(_KNOWN, -1, np.int32)
    _own_postings(store, grams, pages, own[0])
    walks = (
        np.empty(_GROUP, np.int64), np.empty(_GROUP, np.int64), np.empty(_GROUP, np.int64),
        np.empty(_GROUP, np.int64), np.empty(_GROUP * most, np.int64), np.empty(_GROUP, np.int64),
    )  # fmt: skip
    sought = np.empty(_GROUP, np.uint64), np.empty(_GROUP, np.int64), np.empty(_GROUP, np.int64)
    found = np.empty(_GROUP * most, np.int32)
    last = (store.numbers[END_POSTING] - 1) % store.postings.size
    known, total = 0, types.int64(0)
    offsets[0] = 0
    for first in range(0, grams.size, _GROUP):
        end = min(first + _GROUP, grams.size)
        active = _begin(store, grams, first, end, most, counts, walks, sought, own, last, apart)
        _walk(store, grams, counts, first, most, active, walks, last)
        total += _documents(store, first, end, most, counts, walks[4], found)
        known = _list(store, first, end, most, walks, out, met, found, known)
    store.numbers[WARM] = total
    for each in range(known):
        numbered[met[1][each]] = -1
    _note_peers(store, records, known)
    return known
