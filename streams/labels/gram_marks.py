"""What of a batch's pages is labeled by the gram: pages in, marks out.

All of a page's grams are looked up, whatever the window keeps of them: here they only pass. A page
that has fewer in common than are ever reported costs no more than that; of the others the passages
are told, each with the labeled page that it is from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.contains import per_page
from reusewatch.detector.labels.gram_containment import (
    LEAST_SHARE,
    WRAPPED,
    Passage,
    least_grams,
    passages,
    shares,
)
from reusewatch.detector.labels.labeled_page import Stood
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.labels.stood import NO_PAGE
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.sketching.grams import in_sample
from reusewatch.streams.blocks.label_columns import NO_PLACE, GramMarks, place_of

if TYPE_CHECKING:
    from reusewatch.detector.labels.dataset import LabeledDataset
    from reusewatch.detector.labels.stop_chunks import StopChunks
    from reusewatch.detector.sketching.fingerprint import Fingerprints

# The names of a set of labels that a page at this URL is not at home of.
Foreign = Callable[[int, str], tuple[str, ...]]
# A label that brings less of what a page has in common is not named.
_NAMED = 0.1
_MOST_NAMED = 16
SAMPLE = 1 / 8
"""Of the grams of long pages, what a bus keeps with `grams = "sampled"`."""


class KeptGrams(NamedTuple):
    """The distinct grams that a block keeps of its pages; `whole` says of which pages all."""

    grams: Ragged
    whole: NDArray[np.bool_]


class GramMatching:
    """Marks pages; `foreign` says for whom."""

    def __init__(
        self,
        dataset: LabeledDataset,
        stops: StopChunks,
        foreign: Foreign,
        told: Callable[[Sequence[str]], Mapping[str, Any]],
    ) -> None:
        self._dataset = dataset
        self._stops = stops
        self._foreign = foreign
        self._told = told
        self._sample = dataset.gram_share
        self._least = least_grams(self._sample)

    def marks(self, made: Fingerprints, urls: Sequence[str]) -> dict[int, GramMarks]:
        """Of the pages that have enough in common with labeled ones."""
        if not self._sample:
            return {}
        circular = made.sketches.circular
        at, sets = self._dataset.match_grams(circular, wrapped=WRAPPED)
        going = ~self._stops.has_grams(circular.values[at])
        at, sets = at[going], sets[going]
        bounds = np.searchsorted(at, circular.offsets)
        found = {}
        for page in np.flatnonzero(np.diff(bounds) >= self._least).tolist():
            mine = slice(int(bounds[page]), int(bounds[page + 1]))
            names = {n: self._foreign(n, urls[page]) for n in _distinct(sets[mine])}
            kept = np.isin(sets[mine], [number for number, some in names.items() if some])
            positions = at[mine][kept] - circular.offsets[page]
            if len(positions) >= self._least:
                found[page] = positions, sets[mine][kept], names
        return self._marked(made, found)

    def marks_of_kept(self, kept: KeptGrams, urls: Sequence[str]) -> dict[int, GramMarks]:
        """As `marks`, without passages: an estimate for a page with a sample of its grams."""
        if not self._sample:
            return {}
        values, offsets = kept.grams.values, kept.grams.offsets
        sample = min(self._sample, SAMPLE)
        counted = np.repeat(kept.whole, np.diff(offsets)) & in_sample(values, self._sample)
        counted |= in_sample(values, sample)
        sets = self._dataset.match("grams", values)
        sets[self._stops.has_grams(values) | ~counted] = ABSENT
        least = np.where(kept.whole, self._least, least_grams(sample))
        totals = per_page(counted, offsets)
        found: dict[int, GramMarks] = {}
        for page in np.flatnonzero(per_page(sets != ABSENT, offsets) >= least).tolist():
            mine = sets[int(offsets[page]) : int(offsets[page + 1])]
            names = {n: self._foreign(n, urls[page]) for n in _distinct(mine[mine != ABSENT])}
            mine = mine[np.isin(mine, [number for number, some in names.items() if some])]
            if len(mine) >= max(least[page], LEAST_SHARE * totals[page]):
                found[page] = self._mark(len(mine), int(totals[page]), _named(mine, names))
        return found

    def _mark(self, labeled: int, total: int, named: list[str]) -> dict[str, Any]:
        told = self._told(named)
        return {"labeled": labeled, "total": total, **told, "labels": named, "passages": []}

    def _marked(self, made: Fingerprints, found: Mapping[int, Any]) -> dict[int, GramMarks]:
        """The marks of pages with these positions, sets and names."""
        if not found:
            return {}
        pages, circular = [*found], made.sketches.circular
        rows = [circular.values[circular.offsets[p] : circular.offsets[p + 1]] for p in pages]
        column = Ragged(np.concatenate(rows), page_offsets([len(row) for row in rows]))
        counted = shares(
            column, made.sketches.identity[pages], [found[page][0] for page in pages],
            sample=self._sample,
        )  # fmt: skip
        marked: dict[int, GramMarks] = {}
        for page, row, share in zip(pages, rows, counted, strict=True):
            if share.labeled >= self._least and share.ratio >= LEAST_SHARE:
                positions, sets, names = found[page]
                places = self._dataset.places("grams", row[positions])
                named = _named(sets, names)
                some = passages(positions, places)
                marked[page] = {
                    **self._mark(share.labeled, share.total, named),
                    "passages": self._passages(made, page, some, sets, names),
                }
        return marked

    def _passages(
        self,
        made: Fingerprints,
        page: int,
        found: Sequence[Passage],
        sets: NDArray[np.int64],
        names: Mapping[int, tuple[str, ...]],
    ) -> list[dict[str, Any]]:
        offsets = np.zeros(len(made) + 1, np.int64)
        offsets[page + 1 :] = len(found)
        firsts, lasts = (
            np.array([getattr(x, of) for x in found], np.uint32) for of in ("first", "last")
        )
        starts, ends = made.places.spans(offsets, firsts, lasts)
        rows = []
        for one, start, end in zip(found, starts.tolist(), ends.tolist(), strict=True):
            mine = names[int(sets[one.at])]
            stood = self._stood(one)
            known = stood is not None and stood.label in mine
            rows.append(
                {
                    "from": start,
                    "to": max(start, end),
                    "text": made.text_of(page, one.first, one.last),
                    "label": stood.label if known and stood else mine[0],
                    "at": place_of(stood) if known and stood else NO_PLACE,
                }
            )
        return rows

    def _stood(self, passage: Passage) -> Stood | None:
        if passage.page == NO_PAGE:
            return None
        return Stood(*self._dataset.page(passage.page), passage.start, passage.end)


def _named(sets: NDArray[np.int64], names: Mapping[int, tuple[str, ...]]) -> list[str]:
    """The labels that the grams of these sets are of, most first, but for those of a few."""
    counted: Counter[str] = Counter()
    for number in _distinct(sets):
        for name in names[number]:
            counted[name] += int(np.count_nonzero(sets == number))
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [name for name, times in ranked if times >= _NAMED * len(sets)][:_MOST_NAMED]


def _distinct(sets: NDArray[np.int64]) -> list[int]:
    """The numbers that occur, of which there are few: numpy's own way is made for many."""
    found: list[int] = []
    while len(sets):
        found.append(int(sets[0]))
        sets = sets[sets != sets[0]]
    return found
