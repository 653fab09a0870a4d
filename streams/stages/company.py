"""What pages that are judged together are asked with: how alike they are to others in what is their
own, and which pages their donors are.

Neither the window nor the postings change meanwhile. So each answer is had once, and what nearly
every page asks is asked for all of them in one call: to begin a call takes as long as to answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from reusewatch.detector.window.index import NearDuplicateIndex
from reusewatch.detector.window.sightings import Seen, Settled
from reusewatch.streams.stages.quilting import Quilting, Stitched

_Pair = tuple[int, int]


class Company:
    """Answers to pages that are judged together; not to be kept for others."""

    def __init__(self, index: NearDuplicateIndex, quilting: Quilting) -> None:
        self._index = index
        self._quilting = quilting
        self._owns: dict[_Pair, float | None] = {}
        self._known: dict[_Pair, Seen | None] = {}

    def expect(self, found: Settled, rows: Iterable[int], parts: Iterable[Stitched]) -> None:
        """These rows are asked for what they have of their own beside the nearest page, and beside
        the one of their own site that was before them; and these parts for their one donor."""
        mine = np.fromiter(rows, np.int64)
        # A copy is told as that, and is asked nothing.
        mine = mine[found.judged.pages["donor_count"][mine] == 0]
        others = found.nearest[mine][:, [0, -1], 0].T
        seen = np.broadcast_to(found.judged.pages["seen"][mine], others.shape)
        there = others >= 0
        texts = (found.judged.found["text"][which[there]].tolist() for which in (seen, others))
        pairs = list(dict.fromkeys(zip(*texts, strict=True)))
        self._owns.update(zip(pairs, self._quilting.own(pairs), strict=True))
        donors = [_times_of(part.whole) for part in parts if part.whole is not None]
        about = self._index.versions_about(*([*zip(*donors, strict=True)] or ((), ())))
        self._known.update(zip(donors, about, strict=True))

    def own(self, text: int, other: int) -> float | None:
        """How alike the pages with these words are in what is their own."""
        pair = text, other
        if pair not in self._owns:
            (self._owns[pair],) = self._quilting.own([pair])
        return self._owns[pair]

    def known(self, document: Any) -> Seen | None:
        """The page of a document: as it was then, or as it is now."""
        when = _times_of(document)
        if when not in self._known:
            (self._known[when],) = self._index.versions_about([when[0]], [when[1]])
        return self._known[when]


def _times_of(document: Any) -> _Pair:
    return int(document["page"]), int(document["at"])
