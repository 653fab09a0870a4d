"""Memory that is used again for every page: kernels allocate none.

One record, handed on by address: as separate arrays it would be dozens of arguments in every call
between kernels, which cost more than the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.scanning.tables import as_record


class Work(NamedTuple):
    """The state of a pass."""

    secrets: NDArray[np.uint64]  # see `mixing`
    st: NDArray[np.int64]  # counters, see `output`
    bound: NDArray[np.int64]  # where the page is, see `kernel`
    now: NDArray[np.int64]  # what is open around the text, see `page`
    found: NDArray[np.int64]  # the tag that was read, see `syntax`
    word: NDArray[np.uint64]  # the open word, see `text`
    facts: NDArray[np.int64]  # what the page has, see `page`
    below: NDArray[np.uint64]  # hashes begun with a foreign base: its folder, its root
    dodges: NDArray[np.int64]  # words that were folded or hidden, see `dodges`
    restyled: NDArray[np.int64]  # open elements that are not shown as ever, see `hiding`


def new_work(secrets: NDArray[np.uint64]) -> NDArray[np.void]:
    """The state before the first page, as an array of one record."""
    return as_record(
        Work(
            secrets,
            st=np.zeros(32, np.int64),
            bound=np.zeros(8, np.int64),
            now=np.zeros(32, np.int64),
            found=np.zeros(20, np.int64),
            word=np.zeros(8, np.uint64),
            facts=np.zeros(19, np.int64),
            below=np.zeros(8, np.uint64),
            dodges=np.zeros(8, np.int64),
            restyled=np.zeros(16, np.int64),
        )
    )
