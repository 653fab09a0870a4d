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


def count_in(nodes: Iterable[PrefixSums], total: int, figures: Moments) -> list[PrefixSums]:
    """Count a page of so many chunks that was never seen before in these prefixes; `figures` are of
    how bad all prefixes are. Those of them that are open or where something is labeled."""
    judged = []
    for node in nodes:
        files, shares = node.files, node.shares
        if shares or node.open:
            judged.append(node)
        if not total:
            continue
        node.files = files + 1
        node.chunks += total
        if not files:
            figures.add(0)
        elif shares:
            before, now = shares // files, shares // (files + 1)
            figures.total += now - before
            figures.squares += now * now - before * before
    return judged
