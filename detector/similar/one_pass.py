"""Pages like a given one by one pass over all that are kept: what a single question takes.

Each page is compared, exactly (MWO, Das et al., §3, Table 3). To file so many pages takes a hundred
times as long as to pass over them, and three times their memory: that is for who asks again and
again (`index`). Both answer alike. The window is that of the index: each page as it was fetched
last, of two fetches at one time the one whose content has the larger hash; misdated pages are none;
bounded by age, and by count, the pages fetched last.

Knows no URL and no file: it is shown batches, and names rows of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reusewatch.detector.compiling.kernels import (
    COUNTS,
    OFFSETS,
    OUT_WORDS,
    WORDS,
    kernel,
    part,
    types,
)
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.similar.answers import Weighted
from reusewatch.detector.similar.kept_pages import KeptPages
from reusewatch.detector.similar.overlap import SHARES, least
from reusewatch.detector.similar.weighted_pages import checked_weights
from reusewatch.detector.window.adding import HOUR_US, WEB_BEGINS_US

THRESHOLD_FLOOR = 0.1
"""The least threshold that is answered: towards 0 every page that shares a word is similar."""
_TOTALS = types.Array(types.float64, 1, "C")
_RUNS = types.Array(types.int32, 1, "C", readonly=True)
_MARKS = 1 << 16
_HALF = np.uint64(32)
_LOW = np.uint64(_MARKS - 1)


@part(types.int64(WORDS, types.uint64))
def _place_of(rising: Any, term: Any) -> Any:
    """Where a term stands in these, −1 where it does not: by halves, whatever they are."""
    low, high = 0, rising.size
    while low < high:
        middle = (low + high) >> 1
        if rising[middle] < term:
            low = middle + 1
        else:
            high = middle
    return low if low < rising.size and rising[low] == term else -1


@kernel(types.void(WORDS, OFFSETS, _RUNS, SHARES, COUNTS, WORDS, SHARES, _TOTALS, OUT_WORDS))
def _compare(
    terms: Any, offsets: Any, begins: Any, weights: Any, bits: Any, asked: Any, shares: Any,
    overlaps: Any, contents: Any,
) -> None:  # fmt: skip
    """MWO of each page with the asked one, −1 where they share no term, and the page's content.

    `begins`, `weights`: runs of equal weights; `bits`: the same weights as they are in memory.
    """
    marks = np.zeros(_MARKS, np.bool_)
    for i in range(asked.size):
        marks[types.int64(asked[i] & _LOW)] = True
    run = types.int64(-1)
    for page in range(offsets.size - 1):
        total, content, shared = types.float64(0.0), types.uint64(0), False
        for i in range(offsets[page], offsets[page + 1]):
            if run + 1 < begins.size and begins[run + 1] == i:
                run += 1
            term = terms[i]
            content += mix(mix(term) ^ (types.uint64(bits[run]) << _HALF))
            if marks[types.int64(term & _LOW)]:
                at = _place_of(asked, term)
                if at >= 0:
                    total += min(shares[at], weights[run])
                    shared = True
        overlaps[page] = min(total, 1.0) if shared else -1.0
        contents[page] = content


@dataclass(frozen=True, slots=True)
class Row:
    """A page by the batch that it came in, and where it stands there."""

    batch: int
    row: int
    overlap: float


@dataclass(frozen=True, slots=True)
class Found:
    """The best rows, first the most alike; of how many `pages`, how many of them share a term and
    were compared, and how many reach the threshold. `itself` is the row of the page that asks."""

    rows: tuple[Row, ...]
    pages: int
    compared: int
    found: int
    itself: Row | None


@dataclass(frozen=True, slots=True, eq=False)
class _Looked:
    """What is remembered of a batch."""

    page: NDArray[np.uint64]
    at: NDArray[np.int64]
    dated: NDArray[np.bool_]
    overlaps: NDArray[np.float64]
    contents: NDArray[np.uint64]


class OnePass:
    """A question; `look` at each batch in turn, then `found`."""

    def __init__(self, terms: ArrayLike, weights: ArrayLike) -> None:
        column = Ragged.of([np.asarray(terms, np.uint64)])
        shares = checked_weights(column, weights)
        rising = column.values.argsort(kind="stable")
        self._asked: Weighted = column.values[rising], shares[rising]
        self._looked: list[_Looked] = []

    def look(self, pages: KeptPages, *, now: int) -> None:
        """Compare the pages of a batch that was kept at this moment."""
        overlaps, contents = np.empty(len(pages)), np.empty(len(pages), np.uint64)
        _compare(
            pages.terms.values, pages.terms.offsets, pages.begins, pages.weights,
            pages.weights.view(np.uint32), *self._asked, overlaps, contents,
        )  # fmt: skip
        # Copies: what is kept may be mapped, and let go of after this.
        page, at = pages.page.copy(), pages.at.copy()
        dated = (at >= WEB_BEGINS_US) & (at <= now + HOUR_US)
        self._looked.append(_Looked(page, at, dated, overlaps, contents))

    def found(
        self,
        threshold: float,
        *,
        max_pages: int,
        max_age_us: int | None = None,
        top: int | None = None,
        without: int | None = None,
    ) -> Found:
        """The rows whose MWO reaches the threshold, but for the page `without`."""
        if threshold < THRESHOLD_FLOOR:
            raise ValueError(f"{threshold} is below the threshold floor {THRESHOLD_FLOOR}")
        page, at, dated, overlaps, contents = (
            np.concatenate([np.empty(0, kind), *(getattr(one, name) for one in self._looked)])
            for name, kind in (("page", np.uint64), ("at", np.int64), ("dated", np.bool_),
                               ("overlaps", np.float64), ("contents", np.uint64))
        )  # fmt: skip
        held = _held(page, at, contents, np.flatnonzero(dated), max_pages, max_age_us)
        itself = held[page[held] == np.uint64(without)] if without is not None else held[:0]
        others = held if without is None else held[page[held] != np.uint64(without)]
        enough = others[(overlaps[others] >= least(threshold)) & (overlaps[others] >= 0)]
        best = enough[np.lexsort((page[enough], -overlaps[enough]))][:top]
        return Found(
            tuple(self._row(at, overlaps) for at in best.tolist()), held.size,
            int(np.count_nonzero(overlaps[others] >= 0)), enough.size,
            self._row(int(itself[0]), overlaps) if itself.size else None,
        )  # fmt: skip

    def _row(self, number: int, overlaps: NDArray[np.float64]) -> Row:
        begins = np.cumsum([0, *(one.page.size for one in self._looked)])
        batch = int(np.searchsorted(begins, number, "right")) - 1
        return Row(batch, number - int(begins[batch]), float(overlaps[number]))


def _held(
    page: NDArray[np.uint64],
    at: NDArray[np.int64],
    contents: NDArray[np.uint64],
    dated: NDArray[np.int64],
    max_pages: int,
    max_age_us: int | None,
) -> NDArray[np.int64]:
    """Of these rows those that a window would hold which they came into one after the other."""
    order = dated[np.lexsort((contents[dated], at[dated], page[dated]))]
    last = np.ones(order.size, np.bool_)
    last[:-1] = page[order[1:]] != page[order[:-1]]
    held = order[last]
    if max_age_us is not None and held.size:
        held = held[at[held] >= at[held].max() - max_age_us]
    # Who was fetched first leaves first, ties by page: as `window.expiry` has it.
    return held[np.lexsort((page[held], at[held]))][-max_pages:]
