"""Mutations of copies: chunks added, deleted, changed on every page (Ardi, Heidemann 2014, §5.3).

They are done to chunk hash vectors: an added chunk, and a changed one, is a hash that nobody has.
The order of a vector does not matter, so what is added stands at the end of a page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.ragged import Ragged, page_offsets

Mutation = Callable[[Ragged, int, np.random.Generator], Ragged]


def add(pages: Ragged, count: int, rng: np.random.Generator) -> Ragged:
    """So many chunks more on each page."""
    fresh = _fresh(rng, count * len(pages))
    whose = np.concatenate([_whose(pages), np.repeat(np.arange(len(pages)), count)])
    order = np.argsort(whose, kind="stable")
    values = np.concatenate([pages.values, fresh])[order]
    return Ragged(values, page_offsets(pages.counts + count))


def delete(pages: Ragged, count: int, rng: np.random.Generator) -> Ragged:
    """So many chunks fewer, drawn at random; a page that had no more is there no more."""
    whose = _whose(pages)
    order = np.lexsort((rng.random(len(whose)), whose))
    rank = np.arange(len(whose)) - pages.offsets[:-1][whose]
    kept = order[rank >= count]
    left = np.maximum(pages.counts - count, 0)
    return Ragged(pages.values[kept], page_offsets(left[left > 0]))


def change(pages: Ragged, count: int, rng: np.random.Generator) -> Ragged:
    """So many changes to chunks drawn at random, with replacement: one may be changed again."""
    has = np.flatnonzero(pages.counts)
    drawn = (rng.random((count, len(has))) * pages.counts[has]).astype(np.int64)
    places = (drawn + pages.offsets[:-1][has]).ravel()
    values = pages.values.copy()
    values[places] = _fresh(rng, len(places))
    return Ragged(values, pages.offsets)


MUTATIONS: Mapping[str, Mutation] = {"add": add, "delete": delete, "change": change}


def _whose(pages: Ragged) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(pages)), pages.counts)


def _fresh(rng: np.random.Generator, count: int) -> NDArray[np.uint64]:
    """Hashes that nobody has: of 64 random bits, a hit is not to be expected."""
    return rng.integers(1, np.iinfo(np.uint64).max, count, dtype=np.uint64)
