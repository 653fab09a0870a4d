"""Ragged columns: values of many pages end to end, and where each page starts.

All sketches are made a batch at a time, so that one kernel call serves many pages. A column
is checked when it is built, since a kernel that trusts a wrong offset reads past its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def page_offsets(counts: Iterable[int]) -> NDArray[np.int64]:
    """Where each page starts, and last where the column ends.

    >>> page_offsets([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    return np.cumsum([0, *counts], dtype=np.int64)


def trimmed(column: NDArray[Any], count: int) -> NDArray[Any]:
    """The first `count` entries of a column that nobody else looks at: it is made shorter where it
    stands, and the rest of its memory is free."""
    column.resize(int(count), refcheck=False)
    return column


def as_column(values: ArrayLike, kind: type) -> NDArray[Any]:
    """Values as kernels take them: of this kind, in one stretch, copied only where they are not."""
    # First: `np.require` looks for what it is asked in Python, for each column of each batch.
    if isinstance(values, np.ndarray) and values.dtype == kind:
        stands = values.flags
        if stands.c_contiguous and stands.aligned:
            return values
    return np.require(values, kind, ["C", "A"])


def check_offsets(offsets: NDArray[np.int64], size: int) -> None:
    """Refuse offsets that do not cut a column of `size` values into pages."""
    if offsets.ndim != 1 or not len(offsets) or offsets[0] != 0 or offsets[-1] != size:
        raise ValueError(f"page offsets must run from 0 to the {size} values of the column")
    if (offsets[1:] < offsets[:-1]).any():
        raise ValueError("page offsets must not fall")


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """64-bit values of many pages; `offsets` has one entry more than there are pages."""

    values: NDArray[np.uint64]
    offsets: NDArray[np.int64]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", as_column(self.values, np.uint64))
        object.__setattr__(self, "offsets", as_column(self.offsets, np.int64))
        check_offsets(self.offsets, self.values.size)

    @classmethod
    def of(cls, pages: Sequence[Sequence[int] | NDArray[Any]]) -> Ragged:
        """A column of these pages' values.

        >>> Ragged.of([[1, 2], [], [3]])[2].tolist()
        [3]
        """
        parts = [np.asarray(page, dtype=np.uint64) for page in pages]
        values = np.concatenate([np.empty(0, np.uint64), *parts])
        return cls(values, page_offsets(map(len, pages)))

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many values each page has."""
        return self.offsets[1:] - self.offsets[:-1]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, page: int) -> NDArray[np.uint64]:
        return self.values[self.offsets[page] : self.offsets[page + 1]]

    def __iter__(self) -> Iterator[NDArray[np.uint64]]:
        return (self[page] for page in range(len(self)))
