"""When a neighborhood opens, closes, and is reported again.

It opens when its badness is above the threshold beyond what chance does with so many files (a
lower confidence bound: ten files' mean alone would cross it to and fro), and closes when its
badness falls well below; in between it is reported again only when its badness is `MOVED` away from
what was reported last. By so much a mean of n files moves in n / 10 files at the soonest, so
reports grow with the logarithm of the files.

Counts nothing, and remembers on the sums of a prefix what was told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reusewatch.detector.mean_and_deviation import SHARE_BITS, surely_above
from reusewatch.detector.neighborhoods.figures import Neighborhood, shown
from reusewatch.detector.neighborhoods.prefix_sums import PrefixSums

MOVED = 0.1
"""Of badness: a neighborhood that is open is reported again when it has moved by so much."""

_ONE = float(1 << SHARE_BITS)
_NOTHING: Iterable[tuple[Neighborhood, ...]] = ((), (), ())


@dataclass(frozen=True, slots=True)
class Judging:
    """Of how many files a neighborhood is one, and at which part of the threshold it closes."""

    min_files: int
    closes_below: float

    def judge(
        self, nodes: Sequence[PrefixSums], threshold: float
    ) -> Iterable[tuple[Neighborhood, ...]]:
        """Of these prefixes those that open, those that close, those that moved."""
        limit = int(threshold * _ONE)
        # What is not open, and not above the threshold at all, is not so beyond chance either.
        some = [node for node in nodes if node.open or node.shares > node.files * limit]
        if not some:
            return _NOTHING
        found: dict[str, list[Neighborhood]] = {"opened": [], "closed": [], "moved": []}
        for node in some:
            what = self._turned(node, threshold)
            if what is not None:
                found[what].append(shown(node))
        return map(tuple, found.values())

    def _turned(self, node: PrefixSums, threshold: float) -> str | None:
        badness = node.badness / _ONE
        if not node.open:
            if node.files < self.min_files or not surely_above(node.shares, node.files, threshold):
                return None
            node.open, node.told = True, node.badness
            node.sure = surely_above(node.homed, node.files, threshold)
            return "opened"
        if not node.files:
            return None
        if badness < threshold * self.closes_below:
            node.open, node.told, node.sure = False, 0, False
            return "closed"
        was_sure, node.sure = node.sure, self._is_sure(node, threshold)
        # What was told is not known where a state was saved before it was kept.
        moved = bool(node.told) and abs(badness - node.told / _ONE) >= MOVED
        moved = moved or was_sure != node.sure
        if moved or not node.told:
            node.told = node.badness
        return "moved" if moved else None

    def _is_sure(self, node: PrefixSums, threshold: float) -> bool:
        """Whether labels with a home alone make a prefix bad that is open: it opens and closes by
        the same figures."""
        if node.sure:
            return node.homed >= node.files * int(threshold * self.closes_below * _ONE)
        return surely_above(node.homed, node.files, threshold)
