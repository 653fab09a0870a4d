"""What the pass over a page writes, and the counters that it goes by.

The arrays hold a batch of pages one after the other. Each write is behind its limit: what does
not fit is counted and dropped, and the pass goes on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from detector.scanning.jit import part

# Places in the counters.
(
    TOKEN, TOKEN_END, TOKENS_LOST, BLOCK, BLOCK_FIRST, BLOCK_END, BLOCKS_LOST, OPEN, GAP, LINES,
    NUMBERED, LINK, LINK_END, LINKS_LOST, OPEN_LINK, PICTURE, PICTURE_END, SEGMENT, GAP_LEVEL,
    ORIGIN,
) = range(20)  # fmt: skip
COUNTERS = 20

# How much apart the text of two segments is.
JOINED, SPACE, LINE, PARAGRAPH = range(4)
# A segment's other bits.
REFERENCES, KEEP_SPACE, OF_TITLE = 4, 8, 16


class Output(NamedTuple):
    """The arrays of a batch."""

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    blocks: NDArray[np.int32]
    fields: NDArray[np.uint8]
    block_starts: NDArray[np.int32]
    block_ends: NDArray[np.int32]
    links: NDArray[np.int32]  # href start, href end, anchor start, anchor end, same site
    pictures: NDArray[np.int32]  # which tokens are IMG terms
    segments: NDArray[np.int32]  # start, end, bits; none are kept where it has no room
    pages: NDArray[np.int64]  # a row of facts per page


@part
def emit(out: Output, st: NDArray[np.int64], value: np.uint64, start: int, end: int, field: int) -> None:
    """Write a token; the first after a break opens a block."""
    t = st[TOKEN]
    if t >= st[TOKEN_END]:
        st[TOKENS_LOST] += 1
        return
    st[TOKEN] = t + 1
    out.hashes[t] = value
    out.starts[t] = start - st[ORIGIN]
    out.ends[t] = end - st[ORIGIN]
    out.fields[t] = field
    st[LINES] = 0
    if st[NUMBERED] == 0:
        out.blocks[t] = -1
        return
    if st[OPEN] == 0:
        st[OPEN] = 1
        if st[BLOCK] + 1 < st[BLOCK_END]:
            st[BLOCK] += 1
            out.block_starts[st[BLOCK]] = st[GAP] - st[ORIGIN]
        else:
            # The last block takes all that follows.
            st[BLOCKS_LOST] += 1
    out.blocks[t] = st[BLOCK] - st[BLOCK_FIRST]


@part
def end_block(out: Output, st: NDArray[np.int64], start: int, end: int) -> None:
    """A break from `start` to `end`."""
    if st[OPEN] != 0:
        out.block_ends[st[BLOCK]] = start - st[ORIGIN]
        st[OPEN] = 0
    st[GAP] = end
    st[LINES] = 0


@part
def end_link(out: Output, st: NDArray[np.int64], at: int) -> None:
    """The open link's anchor text ends here."""
    if st[OPEN_LINK] >= 0:
        out.links[st[OPEN_LINK], 3] = at - st[ORIGIN]
        st[OPEN_LINK] = -1


@part
def add_link(
    out: Output, st: NDArray[np.int64], start: int, end: int, anchor: int, same: bool
) -> None:
    """Write a link, whose anchor text starts at `anchor` and is open."""
    at = st[LINK]
    if at >= st[LINK_END]:
        st[LINKS_LOST] += 1
        return
    out.links[at, 0] = start - st[ORIGIN]
    out.links[at, 1] = end - st[ORIGIN]
    out.links[at, 2] = anchor - st[ORIGIN]
    out.links[at, 3] = anchor - st[ORIGIN]
    out.links[at, 4] = np.int32(same)
    st[LINK] = at + 1
    st[OPEN_LINK] = at


@part
def add_segment(out: Output, st: NDArray[np.int64], start: int, end: int, bits: int) -> None:
    """Write a run of text without markup, if segments are wanted."""
    at = st[SEGMENT]
    if end <= start or at >= out.segments.shape[0]:
        return
    out.segments[at, 0] = start - st[ORIGIN]
    out.segments[at, 1] = end - st[ORIGIN]
    out.segments[at, 2] = bits | st[GAP_LEVEL]
    st[SEGMENT] = at + 1
    st[GAP_LEVEL] = JOINED


@part
def title_first(out: Output, st: NDArray[np.int64], page: int, tokens: int, pictures: int) -> None:
    """Bring a title that stood behind text to the front.

    The page's tokens start at `page`, the title's at `tokens`; if it has any, the last block is its.
    """
    end = st[TOKEN]
    many = end - tokens
    if many == 0 or tokens == page:
        return
    _rotate(out.hashes, page, tokens, end)
    _rotate(out.starts, page, tokens, end)
    _rotate(out.ends, page, tokens, end)
    _rotate(out.fields, page, tokens, end)
    _rotate(out.blocks, page, tokens, end)
    own = out.blocks[page]
    for t in range(page + many, end):
        # At the limit of blocks the title shares the last block of the text.
        if out.blocks[t] == own:
            own = -1
            break
    if own > 0:
        first, last = st[BLOCK_FIRST], st[BLOCK]
        _rotate(out.block_starts, first, last, last + 1)
        _rotate(out.block_ends, first, last, last + 1)
        out.blocks[page : page + many] = 0
        for t in range(page + many, end):
            out.blocks[t] += 1
    for k in range(pictures, st[PICTURE]):
        out.pictures[k] += many


@part
def _rotate(values: NDArray[np.generic], start: int, middle: int, end: int) -> None:
    tail = values[middle:end].copy()
    # Backwards, since source and target overlap.
    for k in range(middle - 1, start - 1, -1):
        values[k + end - middle] = values[k]
    values[start : start + end - middle] = tail
