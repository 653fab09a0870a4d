"""Pages like a given one in the sliding window, by minimum weight overlapping (Das et al.).

`similar` is pure, `add` changes; adding a page twice changes nothing. A page is in the window as
it was fetched last. The window is bounded by count and by age; age is event time.

All terms of the window's pages are in the inverted index; the prefix is the asked page's alone.
So the global order is the one of this moment: document frequencies change with every page, and an
order that pages were filed under would have to be renewed with them. Nothing is lost against
comparing with every page, but what the bounds on a search cut, and that is counted.

Takes about 19 bytes for a term of a page, 30 for a term of the window, 190 for a page and its URL,
and room to grow: as much again in small windows, a quarter more in large ones.
Knows no clock: `now` is a fact that is passed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reusewatch.detector.errors import BadState
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.similar.adding import add_terms, contents
from reusewatch.detector.similar.answers import Search, Similar, shared_terms
from reusewatch.detector.similar.checking import check_terms
from reusewatch.detector.similar.growth import with_rows, with_term_room
from reusewatch.detector.similar.overlap import least
from reusewatch.detector.similar.search import candidates, known_terms, verify
from reusewatch.detector.similar.store import (
    BLOCK,
    BLOCKS,
    LIVE_TERMS,
    POSTINGS,
    TERMS,
    TermStore,
    empty_terms,
)
from reusewatch.detector.similar.term_order import canonical
from reusewatch.detector.similar.weighted_pages import WeightedPages, checked_weights
from reusewatch.detector.window.arrays import arrays_of, store_of
from reusewatch.detector.window.buckets import number_bits
from reusewatch.detector.window.growth import empty_store, with_room
from reusewatch.detector.window.store import BY_PAGE, LIVE_ROWS, MAX_AGE, MAX_ROWS, NEWEST, ROWS
from reusewatch.detector.window.url_arena import UNIT
from reusewatch.detector.window.versions import latest

BATCH = 256
MOST_ENTRIES = 4_000_000
"""Entries of lists that a search looks at: what a template shared by a million pages may cost."""
MOST_CHECKED = 100_000
"""Pages that a search compares term by term."""


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """The page that is asked for, as the index knows its terms."""

    terms: NDArray[np.uint64]
    weights: NDArray[np.float32]
    numbers: NDArray[np.int64]
    order: NDArray[np.int64]


class MwoIndex:
    """The window's pages by their weighted terms.

    `threshold_floor` is the least threshold that is answered: towards 0 the prefix becomes the
    whole page, and every page that shares a word is a candidate.
    """

    def __init__(
        self,
        *,
        max_pages: int,
        max_age_us: int | None = None,
        threshold_floor: float = 0.1,
        most_entries: int = MOST_ENTRIES,
        most_checked: int = MOST_CHECKED,
    ) -> None:
        if min(max_pages, most_entries, most_checked) < 1:
            raise ValueError("pages, entries and checked pages are bounded by at least 1")
        least(threshold_floor)
        self.threshold_floor = threshold_floor
        self._max_pages = max_pages
        self._max_age = -1 if max_age_us is None else max_age_us
        self._most = most_entries, most_checked
        self._window, self._store = empty_store(), empty_terms()
        self._bound()

    def _bound(self) -> None:
        self._window.numbers[MAX_ROWS] = self._max_pages
        self._window.numbers[MAX_AGE] = self._max_age

    def __len__(self) -> int:
        return int(self._window.numbers[LIVE_ROWS])

    @property
    def terms(self) -> int:
        """Different terms of the window's pages."""
        return int(self._store.counts[LIVE_TERMS])

    @property
    def newest(self) -> int:
        """The latest fetch seen."""
        return int(self._window.numbers[NEWEST])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays, unused room included."""
        return sum(array.nbytes for array in (*self._window, *self._store))

    def add(self, pages: WeightedPages, *, now: int) -> None:
        """Put pages into the window; each replaces what it held of the same page before."""
        hashes = np.empty(len(pages), np.uint64)
        terms, offsets = pages.terms, pages.terms.offsets
        contents(terms.values, pages.weights.view(np.uint32), offsets, hashes)
        rows = pages.rows(hashes)
        columns = (terms.values, pages.weights)
        for begin in range(0, len(pages), BATCH):
            end = min(begin + BATCH, len(pages))
            ends = pages.url_offsets[begin : end + 1]
            self._window = with_room(
                self._window, end - begin, int(ends[-1] - ends[0]), self._max_pages + BATCH
            )
            self._store = with_rows(self._store, len(self._window.rows))
            done, part = 0, (*columns, offsets[begin : end + 1])
            while done < end - begin:
                arrivals = rows[begin:end]
                done = add_terms(
                    self._window, self._store, arrivals, (pages.urls, ends), part, now, done
                )
                if done < end - begin:
                    self._store = with_term_room(self._window, self._store)

    def similar(
        self,
        terms: ArrayLike,
        weights: ArrayLike,
        *,
        threshold: float,
        top: int | None = None,
        without: int | None = None,
    ) -> Search:
        """Pages whose MWO with these weighted terms reaches the threshold, best first.

        `without` names a page that is no answer: the asked one itself.
        """
        if threshold < self.threshold_floor:
            raise ValueError(f"{threshold} is below the threshold floor {self.threshold_floor}")
        asked = self._asked(terms, weights)
        met, passed, unseen = self._filtered(asked, threshold)
        itself = self._row(without) if without is not None else -1
        passed = passed[met[passed] != itself]
        size = int(np.count_nonzero(met != itself))
        rows, overlaps = self._checked(asked, met[passed])
        enough = overlaps >= least(threshold)
        rows, overlaps = rows[enough], overlaps[enough]
        best = np.lexsort((self._window.rows["page"][rows], -overlaps))[:top]
        return Search(
            answers=tuple(self._answer(asked, int(rows[i]), float(overlaps[i])) for i in best),
            pages=len(self), candidates=size, mezzanine=len(passed),
            found=len(rows), unseen=unseen, cut=max(len(passed) - self._most[1], 0),
        )  # fmt: skip

    def _asked(self, terms: ArrayLike, weights: ArrayLike) -> _Asked:
        column = Ragged.of([np.asarray(terms, np.uint64)])
        shares = checked_weights(column, weights)
        numbers, frequencies = known_terms(self._store, column.values)
        return _Asked(column.values, shares, numbers, canonical(frequencies, column.values))

    def _filtered(
        self, asked: _Asked, threshold: float
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
        """The candidate set, which of it are the mezzanine set, and entries not looked at."""
        rows, known = self._window.rows, (asked.numbers, asked.order)
        used = int(self._window.numbers[ROWS])
        sums, enough = np.zeros((used, 2)), least(threshold)
        met, most, unseen = candidates(
            self._store, *known, asked.weights, enough, self._most[0], sums
        )
        chosen = np.flatnonzero(most >= enough)
        if len(chosen) > self._most[1]:  # those that may overlap most come first
            pages = rows["page"][met[chosen]]
            chosen = chosen[np.lexsort((pages, -most[chosen]))]
        return met, chosen, int(unseen)

    def _checked(
        self, asked: _Asked, rows: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """MWO of as many rows as may be checked."""
        rows = np.ascontiguousarray(rows[: self._most[1]])
        weights, known = np.zeros(len(self._store.terms), np.float32), asked.numbers >= 0
        weights[asked.numbers[known]] = asked.weights[known]
        overlaps = np.empty(len(rows))
        verify(self._store, self._window.rows, rows, weights, overlaps)
        return rows, overlaps

    def _answer(self, asked: _Asked, row: int, overlap: float) -> Similar:
        record = self._window.rows[row]
        begin = int(record["url"]) * UNIT
        url = self._window.arena[begin : begin + int(record["length"])].tobytes()
        return Similar(
            int(record["page"]), url.decode("utf-8", "surrogatepass"), overlap,
            shared_terms((asked.terms, asked.weights), self._cells(row)),
        )  # fmt: skip

    def _cells(self, row: int) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        cells = slice(int(self._window.rows[row]["start"]), int(self._window.rows[row]["end"]))
        terms = self._store.terms["hash"][self._store.cell_term[cells]]
        return terms, self._store.cell_weight[cells]

    def _row(self, page: int) -> int:
        return int(latest(
            self._window, number_bits(self._window.row_tables[BY_PAGE]), np.uint64(page)
        ))  # fmt: skip

    def terms_of(self, page: int) -> tuple[NDArray[np.uint64], NDArray[np.float32]] | None:
        """A page's terms and weights as the window has them, to ask for pages like it."""
        row = self._row(page)
        if row < 0:
            return None
        terms, weights = self._cells(row)
        return terms, weights.copy()

    def save(self) -> Mapping[str, NDArray[Any]]:
        """The window as raw arrays, without copies: to be written before the next `add`."""
        counts, used = self._store.counts, dict(self._store._asdict())
        used["terms"] = used["terms"][: counts[TERMS]].view(np.uint8)
        for name in ("cell_term", "cell_weight", "cell_place"):
            used[name] = used[name][: counts[BLOCKS] * BLOCK]
        used["owner"] = used["owner"][: counts[BLOCKS]]
        used["postings"] = used["postings"][: counts[POSTINGS]]
        used["totals"] = used["totals"][: self._window.numbers[ROWS]]
        return arrays_of(self._window) | {f"mwo_{name}": array for name, array in used.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take up a saved window; what no longer fits leaves with the next page. Raises
        BadState."""
        from reusewatch.detector.similar.auditing import PARTS, audit_terms  # for who restores

        window = store_of(arrays, by_file=False)
        check_terms(arrays)
        kinds = empty_terms()._asdict()
        copies = {
            name: np.array(np.ascontiguousarray(arrays[f"mwo_{name}"]).view(array.dtype))
            for name, array in kinds.items()
        }
        store = TermStore(**copies)
        if wrong := audit_terms(window, store):
            raise BadState(f"{PARTS[wrong - 1]} do not hold together")
        self._window, self._store = window, store
        self._bound()
