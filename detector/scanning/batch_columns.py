"""The columns of a batch: what the pass wrote for one part of it after the other, end to end.

The pass writes a token's facts side by side, into room that the next part is written to; here each
fact gets a column of its own, of its own type, and the room is free again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import (
    OUT_BYTES,
    OUT_COUNTS,
    OUT_WORDS,
    WORDS,
    kernel,
)
from reusewatch.detector.scanning.output import TOKEN_WIDTH

# A batch that needs more than its first pages promise is copied once more.
_MORE = 1.1
# What is not written to takes no memory: room for so many tokens costs addresses alone.
_USUAL = 1 << 21
_TYPES = (np.uint64, np.int32, np.int32, np.int32, np.uint8, np.uint32)
_ROWS = types.Array(types.int32, 1, "C", readonly=True)
_OUT_ROWS = types.Array(types.int32, 1, "C")


class Tokens(NamedTuple):
    """The columns of `scan.Batch` that have a row a token."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    blocks: NDArray[np.int32]
    fields: NDArray[np.uint8]
    lengths: NDArray[np.uint32]


class TokenColumns:
    """Tokens, as they come."""

    def __init__(self) -> None:
        self._columns = _columns(0)
        self._size = 0

    def add(self, hashes: NDArray[np.uint64], rows: NDArray[np.int32], *, share: float) -> None:
        """Take more tokens, which then are about this share of all."""
        size = self._size + len(hashes)
        if size > len(self._columns.hashes):
            self._columns = _columns(_room(size, share), self.columns())
        _put(hashes, rows, self._size, self._columns)
        self._size = size

    def columns(self) -> Tokens:
        """All that came."""
        every: Any = (column[: self._size] for column in self._columns)
        return Tokens(*every)


def _room(size: int, share: float) -> int:
    """For how many tokens there is to be room, where so many are about this share of all."""
    expected = size if share >= 1 else int(size / share * _MORE)
    # Pages are not alike: the first one may be the only long one.
    return min(expected, max(4 * size, _USUAL))


def _columns(size: int, known: Tokens | None = None) -> Tokens:
    """Columns for so many tokens, which begin with those that are known."""
    every: list[Any] = [np.empty(size, kind) for kind in _TYPES]
    if known is not None:
        for column, begin in zip(every, known, strict=True):
            column[: len(known.hashes)] = begin
    return Tokens(*every)


def joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Copies of the parts of a column, end to end; of one, itself."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


_TOKENS = types.NamedTuple(  # type: ignore[no-untyped-call]
    (OUT_WORDS, _OUT_ROWS, _OUT_ROWS, _OUT_ROWS, OUT_BYTES, OUT_COUNTS), Tokens
)


@kernel(types.void(WORDS, _ROWS, types.int64, _TOKENS), allocates=False)
def _put(hashes: Any, rows: Any, at: Any, out: Any) -> None:
    for token in range(types.uint64(hashes.size)):
        # Without a sign: else each index is asked whether it counts from the end.
        row, to = types.uint64(TOKEN_WIDTH) * token, types.uint64(at) + token
        out.hashes[to] = hashes[token]
        out.starts[to] = rows[row]
        out.ends[to] = rows[row + types.uint64(1)]
        out.fields[to] = rows[row + types.uint64(2)]
        out.blocks[to] = rows[row + types.uint64(3)]
        out.lengths[to] = rows[row + types.uint64(4)]
