"""Room for the gram postings while no ring has come round: longer arrays, and larger tables.

Documents and postings keep their places, so that a table is written anew from its own numbers and
nothing is looked up; a posting that is posted again, as `adding.move` does it, is looked for first,
and the whole store stands in memory twice meanwhile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import OUT_COUNTS, kernel
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.quilts.adding import key_at
from reusewatch.detector.quilts.store import (
    END_DOCUMENT,
    END_POSTING,
    NEIGHBORS,
    STORE,
    Store,
)
from reusewatch.detector.window.buckets import LINE, empty_tables, number, number_bits, put
from reusewatch.detector.window.growth import longer

_GRAM, _TEXT, _PAGE, _SITE = range(4)
_OF_LINE = LINE - 1


def can_grow(store: Store) -> bool:
    """Whether what stands at a place of a ring would stand there in a longer one, too."""
    numbers = store.numbers
    documents, postings = len(store.documents), len(store.postings)
    return bool(numbers[END_DOCUMENT] <= documents and numbers[END_POSTING] <= postings)


def grown(store: Store, documents: int, postings: int) -> Store:
    """The same store with so much room; of what has enough already nothing is touched."""
    if postings > len(store.postings):
        store = store._replace(
            postings=longer(store.postings, postings),
            named=longer(store.named, postings // NEIGHBORS + 1),
            grams=_larger(store, _GRAM, store.grams, postings),
        )
    if documents > len(store.documents):
        store = store._replace(
            documents=longer(store.documents, documents),
            by_text=_larger(store, _TEXT, store.by_text, documents),
            by_page=_larger(store, _PAGE, store.by_page, documents),
            by_site=_larger(store, _SITE, store.by_site, documents),
        )
    return store


def _larger(store: Store, which: int, table: NDArray[Any], capacity: int) -> NDArray[Any]:
    larger: NDArray[Any] = empty_tables(1, capacity)[0]
    _rehash(store, which, table, larger)
    return larger


@kernel(types.void(STORE, types.int64, OUT_COUNTS, OUT_COUNTS))
def _rehash(store: Any, which: Any, old: Any, new: Any) -> None:
    old_bits, bits = number_bits(old), number_bits(new)
    for at in range(old.size):
        if at & _OF_LINE == 0 or old[at] == 0:
            continue
        row = number(old, old_bits, at)
        key: Any = np.uint64(0)
        if which == _GRAM:
            key = key_at(store, row)
        elif which == _TEXT:
            key = store.documents[row].text
        elif which == _PAGE:
            key = store.documents[row].page
        else:
            key = store.documents[row].site
        put(new, bits, mix(key), row)
