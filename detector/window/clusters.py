"""Fetterly et al.'s classes, kept while pages come and go (2005, §3.3).

Two pages are near-duplicates if two of six supershingles agree (k = 5, circular); a class is the
transitive closure. Here classes only join: what a set that left had held together stays one
until the exact closure is asked for (`detector.window.closure`). A class has one representative,
the page first seen; when it leaves, the earliest of the `LOOK` that stand in the class longest.

A class that would outgrow `MAX_CLUSTER` sets does not join another, and that is counted:
chaining ends there, not in one class of everything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reusewatch.detector.compiling.kernels import kernel, part, types
from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.window.candidates import CANDIDATES, collect
from reusewatch.detector.window.numbering import give_number, take_number
from reusewatch.detector.window.store import (
    CLUSTERS,
    FREE_CLUSTERS,
    LINKS,
    MAX_CLUSTER,
    NEAR_TABLES,
    REFUSED,
    STORE,
    SUPER5,
    TEXT_LINKS,
)
from reusewatch.detector.window.treap import earlier, first_of

_LOOK = 64
_TWO = 2
_ONE = np.uint64(1)


@part(types.int64(STORE, types.int64))
def first_row(store: Any, entry: Any) -> Any:
    """The row of a set that was seen first."""
    return first_of(store.links[TEXT_LINKS], types.int64(store.entries[entry].root))


@kernel(types.uint64(types.uint64, types.uint64))
def name_of(page: Any, text: Any) -> Any:
    """The id of a class, from its representative's page and words; never 0."""
    return max(mix(page ^ mix(text)), _ONE)


@part(types.uint64(STORE, types.int64))
def cluster_id(store: Any, entry: Any) -> Any:
    """The id of a set's class; a set that is in none is one of its own."""
    cluster = store.entries[entry].cluster
    if cluster >= 0:
        entry = types.int64(store.clusters[cluster].chosen)
    return name_of(store.rows[first_row(store, entry)].page, store.entries[entry].text)


@part(types.void(STORE, types.int64))
def lead(store: Any, entry: Any) -> None:
    """A set has a new first row: it may be the class's."""
    cluster = store.entries[entry].cluster
    if cluster < 0:
        return
    chosen = types.int64(store.clusters[cluster].chosen)
    if earlier(store.rows, first_row(store, entry), first_row(store, chosen)):
        store.clusters[cluster].chosen = entry


@part(types.void(STORE, types.int64))
def _choose(store: Any, cluster: Any) -> None:
    """The representative left, or is first no more."""
    entry = types.int64(store.clusters[cluster].head)
    store.clusters[cluster].chosen = entry
    for _ in range(_LOOK):
        if entry < 0:
            return
        lead(store, entry)
        entry = types.int64(store.entries[entry].next)


@part(types.void(STORE, types.int64))
def led_no_more(store: Any, entry: Any) -> None:
    """A set lost its first row, or its first row is seen later than was thought."""
    cluster = types.int64(store.entries[entry].cluster)
    if cluster >= 0 and store.clusters[cluster].chosen == entry:
        _choose(store, cluster)


@part(types.int64(STORE, types.int64))
def _found(store: Any, entry: Any) -> Any:
    """A class of one set."""
    cluster = take_number(store.free_clusters, store.numbers, FREE_CLUSTERS, CLUSTERS)
    store.clusters[cluster].size = 1
    store.clusters[cluster].head = store.clusters[cluster].tail = entry
    store.clusters[cluster].chosen = entry
    store.entries[entry].cluster = cluster
    store.entries[entry].next = store.entries[entry].before = -1
    return cluster


@part(types.void(STORE, types.int64))
def _dissolve(store: Any, cluster: Any) -> None:
    give_number(store.free_clusters, store.numbers, FREE_CLUSTERS, cluster)


@part(types.void(STORE, types.int64, types.int64))
def _join(store: Any, one: Any, other: Any) -> None:
    """Two classes become one: the members of the smaller are told."""
    if store.clusters[one].size < store.clusters[other].size:
        one, other = other, one
    entry = types.int64(store.clusters[other].head)
    while entry >= 0:
        store.entries[entry].cluster = one
        entry = types.int64(store.entries[entry].next)
    head, tail = store.clusters[other].head, store.clusters[one].tail
    store.entries[tail].next, store.entries[head].before = head, tail
    store.clusters[one].tail = store.clusters[other].tail
    store.clusters[one].size += store.clusters[other].size
    chosen = types.int64(store.clusters[other].chosen)
    _dissolve(store, other)
    lead(store, chosen)


@part(types.void(STORE, types.int64, types.int64))
def _connect(store: Any, entry: Any, other: Any) -> None:
    for each in (entry, other):
        if store.entries[each].cluster < 0:
            _found(store, each)
    one, two = types.int64(store.entries[entry].cluster), types.int64(store.entries[other].cluster)
    if one == two:
        return
    if store.clusters[one].size + store.clusters[two].size > store.numbers[MAX_CLUSTER]:
        store.numbers[REFUSED] += 1
        return
    _join(store, one, two)


@part(types.void(STORE, types.int64, types.int64, LINKS, LINKS))
def join_classes(store: Any, bits: Any, entry: Any, found: Any, marks: Any) -> None:
    """A new set joins the classes of all that agree with it in two of six supershingles."""
    count = collect(store, bits, store.entries, entry, SUPER5, NEAR_TABLES, found, marks)
    for i in range(min(count, CANDIDATES)):
        other = types.int64(found[i])
        agree = 0
        for j in range(6):
            value = store.entries[entry].super5[j]
            agree += value != 0 and value == store.entries[other].super5[j]
        if other != entry and agree >= _TWO:
            _connect(store, entry, other)


@part(types.void(STORE, types.int64))
def leave_class(store: Any, entry: Any) -> None:
    """A set leaves the window, and with it its class."""
    cluster = types.int64(store.entries[entry].cluster)
    if cluster < 0:
        return
    last, then = store.entries[entry].before, store.entries[entry].next
    if last >= 0:
        store.entries[last].next = then
    else:
        store.clusters[cluster].head = then
    if then >= 0:
        store.entries[then].before = last
    else:
        store.clusters[cluster].tail = last
    store.entries[entry].cluster = -1
    store.clusters[cluster].size -= 1
    if store.clusters[cluster].size == 0:
        _dissolve(store, cluster)
    elif store.clusters[cluster].chosen == entry:
        _choose(store, cluster)
