"""The sliding index of near-duplicates: its speed, its memory, its restart, and beside others'.

The windows are measured in a process of its own, so that its memory is theirs alone.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.benchmarks import index_speed, lsh_speed
from tests.benchmarks.clock import pinned
from tests.benchmarks.index_speed import Cost, Restart
from tests.benchmarks.rows import Bench, Family, Row
from tests.benchmarks.signatures import peers_python

OF_THE_WINDOW = (
    "index_match_add_per_second",
    "index_bytes_per_page",
    "index_cost_10m_over_100k",
    "index_restore_seconds",
)
# Installs what it compares with.
BESIDE_PEERS = ("index_over_best_lsh",)
NAMES = (*OF_THE_WINDOW, *BESIDE_PEERS)


def windows(sizes: Sequence[int], directory: Path) -> tuple[list[Cost], Restart]:
    """All figures of the windows, on one core."""
    with pinned():
        return index_speed.measure(sizes, directory)


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """Those of the rows that are wanted."""
    rows = []
    spawn = multiprocessing.get_context("spawn")
    if set(OF_THE_WINDOW) & set(names):
        with spawn.Pool(1) as pool:
            rows += _windows(*pool.apply(windows, (bench.scale.index_pages, bench.directory)))
    if BESIDE_PEERS[0] in names:
        with spawn.Pool(1) as pool:
            ours = pool.apply(lsh_speed.ours, (bench.scale.lsh_pages,))
        rows.append(_beside(ours, lsh_speed.peers(peers_python(bench), bench.scale.lsh_pages)))
    return rows


def _windows(costs: list[Cost], restart: Restart) -> list[Row]:
    first, last = costs[0], costs[-1]
    speeds = {f"{cost.pages:,} pages": cost.per_second for cost in costs}
    sizes = {f"{cost.pages:,} pages": cost.bytes_per_page for cost in costs}
    arrays = {f"{cost.pages:,} pages": cost.array_bytes for cost in costs}
    return [
        Row(NAMES[0], last.per_second, "pages/s",
            {"what": "match and add on a full, sliding window; CPU time, median of rounds",
             "by size": speeds, "candidates cut": last.candidates_cut}),
        Row(NAMES[1], last.bytes_per_page, "bytes",
            {"what": "resident memory, per page", "by size": sizes, "arrays": arrays}),
        Row(NAMES[2], first.per_second / last.per_second, "×", {"by size": speeds}),
        Row(NAMES[3], restart.restore.wall, "s",
            {"what": "read from disk, checksum and copy; on the wall", **asdict(restart)}),
    ]  # fmt: skip


def _beside(ours: lsh_speed.Found, peers: dict[str, lsh_speed.Found]) -> Row:
    found = {"reusewatch": ours, **peers}
    best = min(peer["seconds_per_page"] for peer in peers.values())
    detail = {
        name: {
            "pages": one["pages"],
            "match and add/s": 1 / one["seconds_per_page"],
            "bytes/page": one["bytes_per_page"],
            "recall by words changed": one["recall"],
            "answers that were not planted": one["others"],
        }
        for name, one in found.items()
    }
    return Row(BESIDE_PEERS[0], best / ours["seconds_per_page"], "×", detail)


FAMILY = Family(NAMES, measure)
