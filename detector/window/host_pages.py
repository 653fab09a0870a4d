"""The pages of some hosts that the window has: all rows are looked at once, for all of these hosts.

A host is told by how its URLs begin. Of a URL that begins in another way than nearly all do, only
who knows all of the ways can say its host: it is handed out as such. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    BYTES,
    OFFSETS,
    OUT_OFFSETS,
    WORDS,
    kernel,
    part,
    tuple_of,
    types,
)
from reusewatch.detector.ragged import page_offsets
from reusewatch.detector.window.buckets import number_bits
from reusewatch.detector.window.store import BY_PAGE, LIVE, ROWS, STORE, Store
from reusewatch.detector.window.url_arena import UNIT
from reusewatch.detector.window.versions import latest

ODD = -1
"""In place of a host: that of a URL which does not begin plainly."""

_SCHEMES = np.frombuffer(b"https://http://", np.uint8)
_LONGEST = 300
_IN_HOSTS = np.zeros(256, np.bool_)
_IN_HOSTS[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-")] = True
_SLASH = np.uint8(ord("/"))
_HOSTS = tuple_of(WORDS, BYTES, OFFSETS)
"""Hosts in the order of their sites: the site of each, and the URLs of all, end to end."""


@part(types.int64(STORE, types.int64, types.int64))
def _root_end(store: Any, begin: Any, length: Any) -> Any:
    """How many bytes of a URL are that of its host; 0 where it does not begin plainly."""
    scheme = 0
    for first, last in ((0, 8), (8, 15)):
        same = 0
        while same < min(last - first, length) and (
            store.arena[begin + same] == _SCHEMES[first + same]
        ):
            same += 1
        if same == last - first:
            scheme = same
    if scheme == 0:
        return 0
    at = scheme
    while at < length and _IN_HOSTS[store.arena[begin + at]]:
        at += 1
    plain = 0 < at - scheme <= _LONGEST and at < length and store.arena[begin + at] == _SLASH
    return at + 1 if plain else 0


@part(types.int64(STORE, types.int64, types.int64, _HOSTS, types.int64))
def _host_of(store: Any, begin: Any, size: Any, hosts: Any, first: Any) -> Any:
    """Which host, of those of one site that begin with `first`, has a URL that begins so; or how
    many there are."""
    sites, roots, offsets = hosts
    host = first
    while host < sites.size and sites[host] == sites[first]:
        same = 0
        if offsets[host + 1] - offsets[host] == size:
            while same < size and store.arena[begin + same] == roots[offsets[host] + same]:
                same += 1
        if same == size:
            return host
        host += 1
    return sites.size


@part(types.int64(WORDS, types.uint64))
def _first_of(sites: Any, site: Any) -> Any:
    """The first host whose site is not below this one. By hand: with a kernel that calls numpy's
    search numba loads all of its linear algebra, which takes longer than all other kernels."""
    low, high = 0, sites.size
    while low < high:
        middle = (low + high) >> 1
        if sites[middle] < site:
            low = middle + 1
        else:
            high = middle
    return low


@kernel(types.int64(STORE, _HOSTS, OUT_OFFSETS, OUT_OFFSETS))
def rows_on(store: Any, hosts: Any, rows: Any, host_of: Any) -> Any:
    """The rows of these hosts, and of URLs on their sites that are odd; returns how many."""
    found = 0
    for row in range(store.numbers[ROWS]):
        one = store.rows[row]
        if not one.state & LIVE:
            continue
        first = _first_of(hosts[0], one.site)
        if first == hosts[0].size or hosts[0][first] != one.site:
            continue
        begin = types.int64(one.url) * UNIT
        size = _root_end(store, begin, types.int64(one.length))
        host = ODD if size == 0 else _host_of(store, begin, size, hosts, first)
        if host < hosts[0].size:
            rows[found], host_of[found] = row, host
            found += 1
    return found


@kernel(types.void(STORE, WORDS, OUT_OFFSETS))
def rows_of_pages(store: Any, pages: Any, rows: Any) -> None:
    """Of each page that version which has the lowest number; −1 where the window has none."""
    bits = number_bits(store.row_tables[BY_PAGE])
    for i in range(pages.size):
        row = latest(store, bits, pages[i])
        rows[i] = row
        while row >= 0:
            rows[i] = min(rows[i], row)
            row = types.int64(store.rows[row].older)


def pages_on(
    store: Store, hosts: Mapping[str, int], host_of_odd: Callable[[NDArray[Any]], str]
) -> dict[str, dict[int, int]]:
    """Of each of these hosts, of which the sites are known, its pages, and when each was first
    seen. `host_of_odd` tells the host of a row by a closer look at its URL."""
    names = sorted(hosts, key=hosts.__getitem__)
    texts = [name.encode("utf-8", "surrogatepass") for name in names]
    sites = np.array([hosts[name] for name in names], np.uint64)
    size = int(store.numbers[ROWS])
    rows, host = np.empty(size, np.int64), np.empty(size, np.int64)
    roots = np.frombuffer(b"".join(texts), np.uint8)
    found = rows_on(store, (sites, roots, page_offsets(list(map(len, texts)))), rows, host)
    rows, host = rows[:found], host[:found]
    for at in np.flatnonzero(host == ODD).tolist():
        name = host_of_odd(store.rows[rows[at]])
        host[at] = names.index(name) if name in hosts else ODD
    page, first = store.rows["page"][rows], store.rows["first"][rows]
    # Of a page's versions the one that was seen first comes last, and stays.
    order = np.lexsort((-first, host))
    ends = np.searchsorted(host[order], np.arange(len(names) + 1))
    return {
        name: dict(zip(page[mine].tolist(), first[mine].tolist(), strict=True))
        for name, mine in zip(names, np.split(order, ends)[1:-1], strict=True)
    }
