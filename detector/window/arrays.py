"""A window as raw arrays of plain kinds, and back; a copy of memory either way.

Tables are stored too: to build them anew takes longer than to read them, and would forget what
hot keys had given up. Not stored is which sites are watched: they are counted anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.large_arrays import zeros
from reusewatch.detector.window.growth import NOBODY
from reusewatch.detector.window.store import (
    CLUSTER,
    CLUSTERS,
    COUNT,
    ENTRIES,
    ENTRY,
    ROW,
    ROWS,
    Store,
)

_RECORDS = {"rows": (ROW, ROWS), "entries": (ENTRY, ENTRIES), "clusters": (CLUSTER, CLUSTERS)}
_SIZES = ("rows", "entries", "clusters")


def arrays_of(store: Store) -> dict[str, NDArray[Any]]:
    """Views of the store's arrays; records as words, as far as they are used."""
    arrays: dict[str, NDArray[Any]] = {
        name: array for name, array in store._asdict().items() if name not in NOBODY
    }
    arrays["capacities"] = np.array([len(arrays[name]) for name in _SIZES], np.int64)
    for name, (_, number) in _RECORDS.items():
        arrays[name] = arrays[name][: store.numbers[number]].view(np.uint8)
    return arrays


def store_of(arrays: Mapping[str, NDArray[Any]]) -> Store:
    """A store of these arrays' content; they are not kept."""
    copies: dict[str, NDArray[Any]] = {}
    for name in Store._fields:
        if name not in _RECORDS and name not in NOBODY:
            copies[name] = np.array(arrays[name])
    # A window that was saved when there were fewer numbers: the others begin at 0.
    copies["numbers"] = np.pad(copies["numbers"], (0, COUNT - len(copies["numbers"])))
    for name, size in zip(_SIZES, arrays["capacities"].tolist(), strict=True):
        kind, _ = _RECORDS[name]
        copies[name] = zeros(size, kind)
        raw = np.ascontiguousarray(arrays[name])
        saved = raw.view(kind)
        copies[name][: len(saved)] = saved
    return Store(**copies, **NOBODY)
