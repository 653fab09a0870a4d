"""Pages of which nothing is labeled, as most of a crawl: as columns, and what one of them adds to
its prefixes. It has no name to be remembered, and changes a badness only where something else is
labeled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from reusewatch.detector.mean_and_deviation import Moments
from reusewatch.detector.neighborhoods.prefix_sums import PrefixSums


class Unlabeled(NamedTuple):
    """Pages of which nothing is labeled, as columns: URL, fetch, and chunks that count."""

    page: Sequence[int]
    url: Sequence[str]
    at: Sequence[int]
    total: Sequence[int]


def count_in(nodes: Iterable[PrefixSums], total: int, figures: Moments) -> None:
    """Count a page of so many chunks, of which there are some, that was never seen before, in these
    prefixes; `figures` are of how bad all prefixes are."""
    for node in nodes:
        files = node.files
        node.files = files + 1
        node.chunks += total
        if not files:
            figures.add(0)
        elif node.shares:
            before, now = node.shares // files, node.shares // (files + 1)
            if before != now:
                figures.remove(before)
                figures.add(now)
