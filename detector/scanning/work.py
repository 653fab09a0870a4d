"""Memory that is used again for every page: kernels allocate none.

One record, handed on by address: as separate arrays it would be dozens of arguments in every call
between kernels, which cost more than the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.scanning.tables import as_record


class Work(NamedTuple):
    """The state of a pass."""

    secrets: NDArray[np.uint64]  # see `mixing`
    st: NDArray[np.int64]  # counters, see `output`
    before: NDArray[np.int64]  # the counters at the page's start
    bound: NDArray[np.int64]  # where the page is, see `kernel`
    now: NDArray[np.int64]  # what is open around the text, see `page`
    found: NDArray[np.int64]  # the tag that was read, see `syntax`
    word: NDArray[np.uint64]  # the open word, see `text`
    facts: NDArray[np.int64]  # what the page has, see `page`


def new_work(secrets: NDArray[np.uint64]) -> NDArray[np.void]:
    """The state before the first page, as an array of one record."""
    sizes = (64, 64, 8, 32, 16)
    arrays = [np.zeros(size, np.int64) for size in sizes]
    return as_record(Work(secrets, *arrays, np.zeros(8, np.uint64), np.zeros(32, np.int64)))
