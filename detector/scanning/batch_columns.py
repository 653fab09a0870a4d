"""The columns of a batch: what the pass wrote for one page after the other, end to end.

The pass writes a token's facts side by side, into room that the next page is written to; here each
fact gets a column of its own, of its own type, and the room is free again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, part, uint64
from reusewatch.detector.scanning import output as o
from reusewatch.detector.scanning import state as s
from reusewatch.detector.scanning.output import Output

# A batch that needs more than its first pages promise is copied once more.
_MORE = 1.1
# Room that is not worth doubt: what is not written to takes no memory.
_USUAL = 1 << 20
# Times what was written: a batch of dense pages alone still needs one step more than it was given.
_MOST = 8
_TYPES = (np.uint64, np.int32, np.int32, np.int32, np.uint8, np.uint32, *(np.int32,) * 5)
# Of which kind of rows each column is: tokens, blocks, links, pictures, segments; how many wide.
_KINDS = (0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4)
_WIDTHS = (1, 1, 1, 1, 1, 1, 1, 1, o.LINK_WIDTH, 1, o.SEGMENT_WIDTH)
KINDS = 5
_ONE, _TWO, _THREE = uint64(1), uint64(2), uint64(3)


class Columns(NamedTuple):
    """The columns of `scan.Batch`, and segments."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    blocks: NDArray[np.int32]
    fields: NDArray[np.uint8]
    lengths: NDArray[np.uint32]
    block_starts: NDArray[np.int32]
    block_ends: NDArray[np.int32]
    links: NDArray[np.int32]
    images: NDArray[np.int32]
    segments: NDArray[np.int32]


def empty(sizes: Sequence[int]) -> Columns:
    """Columns with room for so many tokens, blocks, links, pictures and segments."""
    every: Any = (
        np.empty(width * sizes[kind], dtype)
        for dtype, kind, width in zip(_TYPES, _KINDS, _WIDTHS, strict=True)
    )
    return Columns(*every)


def longer(columns: Columns, used: Sequence[int], need: Sequence[int], share: float) -> Columns:
    """The same with room for more, of which there are so many and which are about this share of
    all; at least for so many as one page needs."""
    made = empty([_room(some, share) + more for some, more in zip(used, need, strict=True)])
    pairs: Any = zip(made, cut(columns, used), strict=True)
    for to, known in pairs:
        to[: len(known)] = known
    return made


def _room(some: int, share: float) -> int:
    """For so many that are about this share of all. A page may be the only one with as many: what
    it promises for a batch of small ones would be gigabytes."""
    promised = int(some / share * _MORE) if share > 0 else 0
    return max(2 * some, min(promised, max(_MOST * some, _USUAL)))


def cut(columns: Columns, used: Sequence[int]) -> Columns:
    """What was written, of all that there is room for."""
    every: Any = zip(columns, _KINDS, _WIDTHS, strict=True)
    return Columns(*(column[: width * used[kind]] for column, kind, width in every))


@part()
def fits(facts: NDArray[np.int64], columns: Columns, at: NDArray[np.int64]) -> Bool:
    """Whether there is room for what a page has, behind what stands there."""
    return (
        at[0] + facts[s.TOKENS] <= len(columns.hashes)
        and at[1] + facts[s.BLOCKS] <= len(columns.block_starts)
        and o.LINK_WIDTH * (at[2] + facts[s.LINKS]) <= len(columns.links)
        and at[3] + facts[s.PICTURES] <= len(columns.images)
        and o.SEGMENT_WIDTH * (at[4] + facts[s.SEGMENTS]) <= len(columns.segments)
    )


@part()
def put(
    st: NDArray[np.int64], facts: NDArray[np.int64], out: Output, columns: Columns,
    at: NDArray[np.int64],
) -> None:  # fmt: skip
    """Move what was written of a page to the columns, for which there is room."""
    _put_tokens(out, columns, at[0], facts[s.TOKENS])
    rows, blocks = out.columns, facts[s.BLOCKS]
    _move(rows, st[o.BLOCK_STARTS], blocks, columns.block_starts, at[1])
    _move(rows, st[o.BLOCK_ENDS], blocks, columns.block_ends, at[1])
    links, segments = o.LINK_WIDTH * facts[s.LINKS], o.SEGMENT_WIDTH * facts[s.SEGMENTS]
    _move(rows, st[o.LINKS], links, columns.links, o.LINK_WIDTH * at[2])
    _move(rows, st[o.PICTURES], facts[s.PICTURES], columns.images, at[3])
    _move(rows, st[o.SEGMENTS], segments, columns.segments, o.SEGMENT_WIDTH * at[4])
    for kind in range(KINDS):
        at[kind] += facts[s.TOKENS + kind]


@part()
def _put_tokens(out: Output, columns: Columns, at: Int, count: Int) -> None:
    hashes, rows = out.hashes, out.columns
    for token in range(uint64(count)):
        # Without a sign: else each index is asked whether it counts from the end.
        row, to = uint64(o.TOKEN_WIDTH) * token, uint64(at) + token
        columns.hashes[to] = hashes[token]
        columns.starts[to] = rows[row]
        columns.ends[to] = rows[row + _ONE]
        columns.blocks[to] = rows[row + _TWO]
        facts = rows[row + _THREE]
        columns.fields[to] = facts & o.FIELD_BITS
        columns.lengths[to] = facts >> o.SIZE_SHIFT | (facts & o.ALONE) << o.TO_ALONE


@part()
def _move(
    rows: NDArray[np.int32], start: Int, count: Int, column: NDArray[np.int32], at: Int
) -> None:
    for k in range(uint64(count)):
        column[uint64(at) + k] = rows[uint64(start) + k]
