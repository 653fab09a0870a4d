"""A window as raw arrays of plain kinds, and back: copied, or, to be asked only, where they stand.

Tables are stored too: to build them anew takes longer than to read them, and would forget what
hot keys had given up. Not stored is which sites are watched: they are counted anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.errors import BadState
from reusewatch.detector.large_arrays import zeros
from reusewatch.detector.window.checking import check_window, numbers_of
from reusewatch.detector.window.growth import NOBODY
from reusewatch.detector.window.store import (
    CLUSTER,
    CLUSTERS,
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


def store_of(arrays: Mapping[str, NDArray[Any]], *, by_file: bool = True) -> Store:
    """A store of these arrays' content; they are not kept. Raises BadState. `by_file`: it has
    pages by their files and by their words, too."""
    check_window(arrays)
    copies: dict[str, NDArray[Any]] = {}
    for name in Store._fields:
        if name not in _RECORDS and name not in NOBODY:
            copies[name] = np.array(arrays[name])
    copies["numbers"] = numbers_of(arrays)
    for name, size in zip(_SIZES, arrays["capacities"].tolist(), strict=True):
        kind, _ = _RECORDS[name]
        copies[name] = zeros(size, kind)
        raw = np.ascontiguousarray(arrays[name])
        saved = raw.view(kind)
        copies[name][: len(saved)] = saved
    return _sound(Store(**copies, **NOBODY), by_file)


def as_saved(arrays: Mapping[str, NDArray[Any]]) -> Store:
    """A store of these arrays themselves, where they can be written to: for whoever only asks. It
    has no room for anything more."""
    check_window(arrays)
    found = {name: _writable(arrays[name]) for name in Store._fields if name not in NOBODY}
    for name, (kind, _) in _RECORDS.items():
        found[name] = found[name].view(kind)
    # Bounds are written there, and may be others' who hold the arrays.
    found["numbers"] = numbers_of(arrays)
    return _sound(Store(**found, **NOBODY), by_file=True)


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """Kernels take no other, though they change nothing."""
    return np.require(array, requirements=["C", "A", "W"])


def _sound(store: Store, by_file: bool) -> Store:
    from reusewatch.detector.window.auditing import PARTS, audit  # compiled for who restores

    if wrong := audit(store, by_file):
        raise BadState(f"{PARTS[wrong - 1]} do not hold together")
    return store
