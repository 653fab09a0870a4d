"""Which page had something first: a number for each page, made of its fetch time and its site. The
smallest number of many is that of the first page.

Times are whole seconds. Of several pages of one second, the first is the same one in any order.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.streams.records import LabelFirst
from reusewatch.streams.sites import Sites

_SECOND = 1_000_000
_HALF = np.uint64(32)
_LAST = (1 << 32) - 1


def numbers_of(block: pa.RecordBatch, sites: Sites) -> NDArray[np.uint64]:
    """The number of each page; `sites` remembers the names."""
    seconds = block.column("fetched_at").view(pa.int64()).to_numpy() // _SECOND
    known = sites.hashes(block.column("site").to_pylist()) & np.uint64(_LAST)
    numbers: NDArray[np.uint64] = np.clip(seconds, 0, _LAST).astype(np.uint64) << _HALF | known
    return numbers


def first_of(number: int, names: dict[int, str]) -> LabelFirst | None:
    """Site and time of a number; `names` are those of `Sites.by_last_bits`. None where the site is
    forgotten."""
    site = names.get(number & _LAST)
    at = datetime.fromtimestamp(number >> 32, UTC)
    return None if site is None else LabelFirst(site=site, fetched_at=at)
