"""The index of weighted terms: adding pages, asking for pages like one, memory.

Measured in a process of its own, so that its memory is the index's alone.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence

from tests.benchmarks import mwo_speed
from tests.benchmarks.clock import pinned
from tests.benchmarks.rows import Bench, Family, Row

NAMES = ("mwo_adds_per_second", "mwo_queries_per_second", "mwo_bytes_per_page")
ASKED = 0.7
"""The threshold whose queries are the row's; the others are beside it."""


def window(pages: int) -> mwo_speed.Cost:
    """All figures of a full window, on one core."""
    with pinned():
        return mwo_speed.measure(pages)


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """All of them: filling the window takes longest."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        cost = pool.apply(window, (bench.scale.mwo_pages,))
    about = {"pages": cost.pages, "terms a page": cost.terms_per_page}
    queries = {
        str(threshold): {
            "a second": speed, "candidates": candidates, "mezzanine": mezzanine, "cut": cut,
        }
        for threshold, (speed, candidates, mezzanine, cut) in cost.queries.items()
    }  # fmt: skip
    return [
        Row(NAMES[0], cost.adds_per_second, "pages/s",
            {"what": "to a full window, one leaves for each; CPU time", **about}),
        Row(NAMES[1], cost.queries[ASKED][0], "queries/s",
            {"what": f"the best 10 from MWO {ASKED} on; CPU time", **about,
             "by threshold": queries}),
        Row(NAMES[2], cost.bytes_per_page, "bytes",
            {"what": "resident memory", **about, "arrays": cost.array_bytes_per_page}),
    ]  # fmt: skip


FAMILY = Family(NAMES, measure)
