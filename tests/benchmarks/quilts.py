"""The gram postings of quilts and partial copies: posting, asking and judging a page, memory.

Measured in a process of its own for each size, so that its memory is the postings' alone.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence

from tests.benchmarks import quilts_speed
from tests.benchmarks.clock import pinned
from tests.benchmarks.rows import Bench, Family, Row

NAMES = (
    "quilts_us_per_page", "quilts_bytes_per_page", "quilts_posted_per_second",
    "quilts_asked_per_second",
)  # fmt: skip


def postings(pages: int) -> quilts_speed.Cost:
    """All figures of postings that hold so many pages, on one core."""
    with pinned():
        return quilts_speed.measure(pages)


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """All of them, of the largest size; the others are beside it."""
    costs = []
    for pages in bench.scale.quilts_pages:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            costs.append(pool.apply(postings, (pages,)))
    last = costs[-1]
    about = {"grams a page": quilts_speed.GRAMS, "kept": last.grams_per_page}

    def by_size(name: str) -> dict[str, float]:
        return {f"{cost.pages:,} pages": getattr(cost, name) for cost in costs}

    per_gram = {size: value / last.grams_per_page
                for size, value in by_size("bytes_per_page").items()}  # fmt: skip
    return [
        Row(NAMES[0], last.us_per_page, "µs",
            {"what": "posted, asked for and judged; CPU time, the best of rounds", **about,
             "by size": by_size("us_per_page")}),
        Row(NAMES[1], last.bytes_per_page, "bytes",
            {"what": "resident memory", **about, "by size": by_size("bytes_per_page"),
             "a kept gram": per_gram, "arrays": by_size("array_bytes_per_page")}),
        Row(NAMES[2], last.posted_per_second, "grams/s",
            {"what": "CPU time", "by size": by_size("posted_per_second")}),
        Row(NAMES[3], last.asked_per_second, "grams/s",
            {"what": "asked for and judged; CPU time", "by size": by_size("asked_per_second")}),
    ]  # fmt: skip


FAMILY = Family(NAMES, measure)
