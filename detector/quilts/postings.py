"""The gram postings of the window: for these grams, which pages, and where (Najork 2012, §2).

`ask` is pure, `add` changes; adding a page twice changes nothing. Bounded by bytes and by age: the
oldest documents leave first, and wholly. Knows nothing of what is judged by its answers, no clock,
and never decides what a site is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.quilts.adding import add_documents, move
from reusewatch.detector.quilts.asking import holders_of
from reusewatch.detector.quilts.checking import check_postings, distinct
from reusewatch.detector.quilts.growth import can_grow, grown, more, roomier
from reusewatch.detector.quilts.holders import Holders
from reusewatch.detector.quilts.store import (
    BLOCK,
    COUNT,
    DISTINCT,
    DOCUMENT,
    DOCUMENT_BYTES,
    END_DOCUMENT,
    END_LINK,
    END_POSTING,
    FIRST_DOCUMENT,
    FIRST_POSTING,
    LATE,
    LIVE,
    MAX_AGE,
    MAX_BYTES,
    MOST_POSTINGS,
    POSTING,
    POSTING_BYTES,
    WARM,
    Store,
    empty_store,
)
from reusewatch.detector.ragged import Ragged, as_column
from reusewatch.detector.window.buckets import capacity_of

_NOBODY = np.empty(0, np.uint64), np.empty(0, np.uint64), np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class GramPages:
    """Pages by their grams, a document record a page, as they enter and as they are judged.

    `grams` are those that are posted, `starts` the byte at which each begins, `ends` where it ends.
    """

    documents: NDArray[Any]
    grams: Ragged
    starts: NDArray[np.uint32]
    ends: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.documents)


class GramPostings:
    """The documents that came last, by their grams."""

    def __init__(self, *, max_bytes: int, max_age_us: int | None = None) -> None:
        if max_bytes < DOCUMENT_BYTES + POSTING_BYTES:
            raise ValueError(f"postings have room for at least one gram, not {max_bytes} bytes")
        self._facts = {
            MAX_AGE: -1 if max_age_us is None else max_age_us,
            MAX_BYTES: min(max_bytes, MOST_POSTINGS * POSTING_BYTES),
        }
        self._store = self._bounded(empty_store())
        # Of each place of a document, between two questions, −1: see `holders_of`.
        self._numbered = np.empty(0, np.int32)

    def _bounded(self, store: Store) -> Store:
        for number, value in self._facts.items():
            store.numbers[number] = value
        return store

    def __len__(self) -> int:
        return int(self._store.numbers[LIVE])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, as far as they were written."""
        store = self._store
        written = int(store.numbers[END_POSTING])
        rings = (
            (written, store.postings), (written // BLOCK + 1, store.blocks),
            (int(store.numbers[END_LINK]), store.links),
        )  # fmt: skip
        unwritten = (max(len(ring) - end, 0) * ring.itemsize for end, ring in rings)
        return sum(array.nbytes for array in store) - sum(unwritten)

    @property
    def late(self) -> int:
        """Pages so far that were older than the window, and did not enter."""
        return int(self._store.numbers[LATE])

    def add(self, pages: GramPages, *, dated: NDArray[np.bool_] | None = None) -> None:
        """Pages enter, one after the other; the oldest leave where there is no room.

        Those that are not `dated` do not enter: nobody knows what they were earlier than.
        """
        largest = self._facts[MAX_BYTES] - DOCUMENT_BYTES
        fits = pages.documents["kept"].astype(np.int64) * POSTING_BYTES <= largest
        documents = np.where(fits if dated is None else fits & dated, pages.documents["kept"], 0)
        records = pages.documents.copy()
        records["kept"] = documents
        self._make_room(len(records), int(documents.sum(dtype=np.int64)))
        add_documents(self._store, records, pages.grams.offsets, pages.grams.values, pages.starts)

    def _make_room(self, documents: int, postings: int) -> None:
        numbers, store = self._store.numbers, self._store
        needed = (
            int(numbers[END_DOCUMENT] - numbers[FIRST_DOCUMENT]) + documents,
            # What a block says of the postings that stand there goes with the first of them.
            int(numbers[END_POSTING] - numbers[FIRST_POSTING]) + postings + BLOCK,
            int(numbers[DISTINCT]) + postings,
            self._links() + postings + 1,
        )
        most = (
            self._facts[MAX_BYTES] // (DOCUMENT_BYTES + POSTING_BYTES) + 1,
            self._facts[MAX_BYTES] // POSTING_BYTES + 1 + BLOCK,
            self._facts[MAX_BYTES] // POSTING_BYTES + 1,
            self._facts[MAX_BYTES] // POSTING_BYTES + 1 + BLOCK,
        )
        have = (
            len(store.documents), len(store.postings), capacity_of(store.grams), len(store.links),
        )  # fmt: skip
        wanted = [min(need, bound) for need, bound in zip(needed, most, strict=True)]
        ways = (more, roomier, more, roomier)
        sizes = [way(*each) for way, *each in zip(ways, have, wanted, most, strict=True)]
        if sizes == list(have):
            return
        rings = [0, 1, 3]
        if all(sizes[ring] == have[ring] for ring in rings) or can_grow(store):
            self._store = grown(store, *sizes)
            return
        new = empty_store(*sizes)
        move(store, new)
        self._store = self._bounded(new)

    def _links(self) -> int:
        """Links of the postings that are there, and of what else is in the block of the first."""
        numbers, store = self._store.numbers, self._store
        if (first := int(numbers[FIRST_POSTING])) == int(numbers[END_POSTING]):
            return 0
        begin = int(store.blocks["link"][first % len(store.postings) // BLOCK])
        return (int(numbers[END_LINK]) - begin) % len(store.links)

    def ask(
        self, grams: NDArray[np.uint64], *, most: int, of: GramPages | None = None,
        apart: bool = False,
    ) -> Holders:  # fmt: skip
        """Who holds each of these grams, of those that at most `most` documents hold. `of`: the
        pages whose grams these are, all of them, which takes less time and says the same; but with
        `apart` nobody is told to hold what no other site than the page's own has.

        An answer takes up to `most` times eight bytes a gram: the caller asks in parts.
        """
        pages = _NOBODY if of is None else _askers(of)
        size = len(grams) * (most + 1) + 1
        counts, offsets = np.zeros(len(grams), np.uint32), np.zeros(len(grams) + 1, np.int64)
        held_by, starts = np.empty(size, np.int32), np.empty(size, np.uint32)
        met = np.empty(min(size, len(self._store.documents)), DOCUMENT)
        if len(self._numbered) != len(self._store.documents):
            self._numbered = np.full(len(self._store.documents), -1, np.int32)
        known = holders_of(
            self._store, as_column(grams, np.uint64),
            pages, apart, most, (counts, offsets, held_by, starts), met,
            self._numbered,
        )  # fmt: skip
        listed = offsets[-1]
        return Holders(
            most, counts, offsets, held_by[:listed].copy(), starts[:listed].copy(),
            met[:known].copy(),
        )  # fmt: skip

    def own(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """How alike the pages of each pair are without what many pages have (`own`), all by their
        texts; None where one of the two is not here."""
        from reusewatch.detector.quilts.own import own_of  # compiled for who judges near pages

        found, texts = np.empty(len(pairs)), np.array(pairs, np.uint64).reshape(-1, 2).T.copy()
        own_of(self._store, texts[0], texts[1], found)
        return [None if share < 0 else float(share) for share in found]

    def save(self) -> Mapping[str, NDArray[Any]]:
        """Documents and postings as raw arrays, without copies while no ring has come round: to be
        written before the next `add`. Tables are made anew from them."""
        numbers, store = self._store.numbers, self._store
        documents = _ring(store.documents, *numbers[[FIRST_DOCUMENT, END_DOCUMENT]].tolist())
        postings = _ring(store.postings, *numbers[[FIRST_POSTING, END_POSTING]].tolist())
        facts = numbers.copy()
        facts[WARM] = 0
        return {
            "documents": documents.view(np.uint8),
            "postings": postings.view(np.uint8),
            "numbers": facts,
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]] | None) -> None:
        """Take up what was saved, or begin with nothing; what no longer fits leaves later. Raises
        BadState."""
        if arrays is None:
            self._store = self._bounded(empty_store())
            return
        check_postings(arrays)
        documents = np.ascontiguousarray(arrays["documents"]).view(DOCUMENT)
        postings = np.ascontiguousarray(arrays["postings"]).view(POSTING)
        numbers = np.zeros(COUNT, np.int64)
        numbers[: len(arrays["numbers"])] = arrays["numbers"]
        old = empty_store(max(1, len(documents)), max(1, len(postings)), grams=1)
        first = int(numbers[FIRST_POSTING])
        old.numbers[:] = numbers
        old.numbers[FIRST_DOCUMENT], old.numbers[END_DOCUMENT] = 0, len(documents)
        old.numbers[FIRST_POSTING], old.numbers[END_POSTING] = 0, len(postings)
        old.documents[: len(documents)] = documents
        old.documents["begin"][: len(documents)] -= first
        old.postings[: len(postings)] = postings
        room = max(1 << 14, len(postings) + BLOCK)
        most = distinct(postings)
        # One link more than there are: full, their ring would look like an empty one.
        store = empty_store(
            max(1024, len(documents)), room, max(1 << 14, most),
            max(1024, len(postings) - most + 1),
        )  # fmt: skip
        move(old, store)
        self._store = self._bounded(store)


def _askers(pages: GramPages) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    texts, sites = (np.ascontiguousarray(pages.documents[name]) for name in ("text", "site"))
    return texts, sites, pages.grams.offsets


def _ring(rows: NDArray[Any], first: int, end: int) -> NDArray[Any]:
    """What stands in a ring from one row to another, both counted from the first ever."""
    start, size = first % len(rows), end - first
    if start + size <= len(rows):
        return rows[start : start + size]
    return np.concatenate((rows[start:], rows[: start + size - len(rows)]))
