"""Which documents hold these grams, and where in them: a walk from each gram's newest posting.

Changes nothing. A gram that more than `most` documents hold is popular, and no list of them is
made: so a walk ends after so many, and a page of nothing but popular grams costs no more than that
for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from reusewatch.detector.compiling.kernels import (
    OUT_COUNTS,
    OUT_OFFSETS,
    WORDS,
    kernel,
    part,
    tuple_of,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.quilts.adding import key_of, slot_of_gram, warm
from reusewatch.detector.quilts.site_peers import documents_of, is_there
from reusewatch.detector.quilts.store import (
    DOCUMENTS,
    END_POSTING,
    FIRST_POSTING,
    NEIGHBORS,
    STORE,
)
from reusewatch.detector.window.buckets import number, number_bits

_AHEAD = 64
_KNOWN = 1 << 14
"""Grams that were asked for in the same call, by some bits of their hash: pages of one site ask for
its template again and again, each time a walk of `most` steps."""
_NUMBERS = types.Array(types.int32, 1, "C")


@part(types.int64(STORE, types.int64), inline=True)
def _position(store: Any, at: Any) -> Any:
    """Which posting, counted from the first ever, stands at a place of the ring."""
    size, last = store.postings.size, store.numbers[END_POSTING] - 1
    return last - (last - at) % size


@part(types.int64(STORE, types.int64, types.int64), inline=True)
def _document(store: Any, at: Any, position: Any) -> Any:
    """The document of a posting: one in `NEIGHBORS` names its own, and the others stand behind."""
    document = types.int64(store.named[at // NEIGHBORS])
    while store.documents[document].begin + types.int64(store.documents[document].kept) <= position:
        document += 1
        if document == store.documents.size:
            document = 0
    return document


_FOUND = tuple_of(OUT_COUNTS, OUT_OFFSETS, _NUMBERS, OUT_COUNTS)


@kernel(types.int64(STORE, WORDS, types.int64, _FOUND, DOCUMENTS))
def holders_of(store: Any, grams: Any, most: Any, out: Any, met: Any) -> Any:
    """Of each gram how many documents hold it, counted to `most` + 1, and those of up to `most`.

    Returns how many documents were met; the lists name them by their number in `met`.
    """
    counts, offsets, documents, starts = out
    bits = number_bits(store.grams)
    numbered = np.full(store.documents.size, -1, np.int32)
    before_at = np.full(_KNOWN, -1, np.int32)
    end, known = 0, 0
    offsets[0] = 0
    for gram in range(grams.size):
        if gram % _AHEAD == 0:
            warm(store, grams, gram, min(gram + _AHEAD, grams.size))
        place = types.int64(mix(grams[gram]) & np.uint64(_KNOWN - 1))
        asked = types.int64(before_at[place])
        before_at[place] = gram
        if asked >= 0 and grams[asked] == grams[gram]:
            counts[gram] = counts[asked]
            for each in range(offsets[asked], offsets[asked + 1]):
                documents[end], starts[end] = documents[each], starts[each]
                end += 1
            offsets[gram + 1] = end
            continue
        begin, count = end, 0
        slot = slot_of_gram(store, bits, key_of(grams[gram]))
        at = number(store.grams, bits, slot) if slot >= 0 else types.int64(-1)
        position = _position(store, at) if at >= 0 else types.int64(-1)
        while position >= store.numbers[FIRST_POSTING]:
            document = _document(store, at, position)
            if is_there(store, document):
                count += 1
                if count > most:
                    break
                documents[end], starts[end] = document, store.postings[at].start
                end += 1
            at = types.int64(store.postings[at].next)
            before = _position(store, at)
            # What stood there is gone, and a newer posting may stand there now.
            if before >= position:
                break
            position = before
        counts[gram] = count
        if count > most:
            end = begin
        for each in range(begin, end):
            document = documents[each]
            if numbered[document] < 0:
                numbered[document] = known
                met[known] = store.documents[document]
                met[known].peers = documents_of(store, met[known].site)
                known += 1
            documents[each] = numbered[document]
        offsets[gram + 1] = end
    return known
