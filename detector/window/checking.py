"""A saved window is checked: every number in it that leads somewhere leads into the window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.errors import BadState
from reusewatch.detector.saved import Kept, Saved, check, within
from reusewatch.detector.window.buckets import slots_for
from reusewatch.detector.window.store import (
    ARENA,
    ARENA_FREE,
    BLANKS_QUEUED,
    CLUSTER,
    CLUSTERS,
    COUNT,
    ENTRIES,
    ENTRY,
    FREE_CLUSTERS,
    FREE_ENTRIES,
    FREE_ROWS,
    GRAVES,
    LEFT,
    NEAR_TABLES,
    QUEUED,
    ROW,
    ROWS,
)
from reusewatch.detector.window.url_arena import SIZES, UNIT


def numbers_of(saved: Saved) -> NDArray[np.int64]:
    """The numbers; of a window that was saved when there were fewer, the others are 0."""
    check(saved, {"numbers": Kept(np.int64, (None,))})
    if len(saved["numbers"]) > COUNT:
        raise BadState(f"numbers has {len(saved['numbers'])} entries, and not {COUNT}")
    return np.pad(saved["numbers"], (0, COUNT - len(saved["numbers"])))


def check_window(saved: Saved) -> None:
    """Raises BadState."""
    check(saved, {
        "capacities": Kept(np.int64, (3,), (1, 1 << 31)), "arena": Kept(np.uint8, (None,)),
        "arena_free": Kept(np.int64, (SIZES,)),
    })  # fmt: skip
    numbers, room = numbers_of(saved), saved["arena"].size // UNIT
    rows, entries, clusters = saved["capacities"].tolist()
    for number, most in (
        (ROWS, rows), (ENTRIES, entries), (CLUSTERS, clusters), (ARENA, room), (QUEUED, rows),
    ):  # fmt: skip
        within(f"numbers[{number}]", numbers[number], 0, most + 1)
    for number, of in ((FREE_ROWS, ROWS), (FREE_ENTRIES, ENTRIES), (FREE_CLUSTERS, CLUSTERS),
                       (ARENA_FREE, ARENA)):  # fmt: skip
        within(f"numbers[{number}]", numbers[number], 0, int(numbers[of]) + 1)
    within("numbers[BLANKS_QUEUED]", numbers[BLANKS_QUEUED], 0, rows - int(numbers[QUEUED]) + 1)
    row, entry, cluster = ((-1, int(numbers[one])) for one in (ROWS, ENTRIES, CLUSTERS))
    within("numbers[GRAVES]", numbers[GRAVES], *row)
    # 0 before the first page comes: each page begins a new list.
    within("numbers[LEFT]", numbers[LEFT], -1, max(row[1], 1))
    within("arena_free", saved["arena_free"], -1, int(numbers[ARENA]))
    check(saved, _arrays((rows, entries, clusters), row, entry, cluster))


def _arrays(
    sizes: tuple[int, int, int], row: tuple[int, int], entry: tuple[int, int],
    cluster: tuple[int, int],
) -> dict[str, Kept]:  # fmt: skip
    """The arrays of a window with room for so many, and what may name a row, a set, a class."""
    rows, entries, clusters = sizes
    ends: dict[str, Any] = {"head": entry, "tail": entry, "chosen": entry}
    of_entries = {"root": row, "second": row, "cluster": cluster, "next": entry, "before": entry}
    return {
        "rows": Kept(ROW, (row[1],), {"entry": entry, "older": row, "next": row}),
        "entries": Kept(ENTRY, (entry[1],), of_entries),
        "clusters": Kept(CLUSTER, (cluster[1],), ends),
        "row_tables": Kept(np.uint32, (2, slots_for(rows))),
        "entry_tables": Kept(np.uint32, (NEAR_TABLES + 1, slots_for(entries))),
        "links": Kept(np.int32, (2, 2 * rows), row),
        "due": Kept(np.int64, (rows,)),
        "due_row": Kept(np.int32, (rows,)),
        "free_rows": Kept(np.int32, (rows,)),
        "free_entries": Kept(np.int32, (entries,)),
        "free_clusters": Kept(np.int32, (clusters,)),
    }
