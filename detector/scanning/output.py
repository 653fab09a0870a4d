"""What the pass over a page writes, and the counters that it goes by.

The arrays hold a batch of pages one after the other. Each write is behind its limit: what does
not fit is counted and dropped, and the pass goes on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector import fields
from reusewatch.detector.compiling.kernels import Bool, Int, apart, part, uint64
from reusewatch.detector.scanning import dodges
from reusewatch.detector.scanning.scratch_memory import Work

# Places in the counters. Of a kind of rows: the next, the end of the page's room, those lost.
(
    TOKEN, TOKEN_END, TOKENS_LOST, BLOCK, BLOCK_END, BLOCKS_LOST, OPEN, GAP, LINES,
    NUMBERED, LINK, LINK_END, LINKS_LOST, OPEN_LINK, PICTURE, PICTURE_END, SEGMENT, SEGMENT_END,
    GAP_LEVEL, ORIGIN, BLOCK_STARTS, BLOCK_ENDS, LINKS, PICTURES,
    SEGMENTS, SAMPLE_END, SAMPLE_FROM, SAMPLE_GAP, SAMPLE_RUN, SAMPLING,
) = range(30)  # fmt: skip

# Behind the limit of tokens: words after which it is asked anew whether words are taken. A block
# of a page's text has fewer, and is taken whole or not at all. Of a small sample, a 16th: else one
# block without an end would take all of it.
RUN, _RUNS = 4096, 16
# How much apart the text of two segments is.
JOINED, SPACE, LINE, PARAGRAPH = range(4)
# A segment's other bits.
REFERENCES, KEEP_SPACE, OF_TITLE = 4, 8, 16

TOKEN_WIDTH = 4  # start, end, block, facts
# A token's facts: its field; whether it is a character of a script without spaces; its characters.
FIELD_BITS, ALONE, SIZE_SHIFT = 7, 8, 4
OWN = FIELD_BITS | ALONE
_LARGEST = (1 << 27) - 1
TO_ALONE = (fields.ALONE // ALONE).bit_length() - 1
LINK_WIDTH = 5  # href start, href end, anchor start, anchor end, what the link is
# What a link is, as bits: it stays on its site; or it leads away, a reader sees words or a picture
# in it, and the page does not say that it vouches for nothing.
SAME_SITE, LEADS = 1, 2
SEGMENT_WIDTH = 3  # start, end, bits


class Output(NamedTuple):
    """The arrays of a batch. In `columns` tokens are first; the counters say where the rest is."""

    hashes: NDArray[np.uint64]
    columns: NDArray[np.int32]


@part()
def facts_of(field: Int, size: Int) -> Int:
    """A token's facts as one number."""
    return field | min(size, _LARGEST) << SIZE_SHIFT


@part()
def emit(work: Work, out: Output, value: Int, start: Int, end: Int, facts: Int) -> None:
    """Write a token; the first after a break opens a block."""
    st = work.st
    t = st[TOKEN]
    st[LINES] = 0
    if t >= st[TOKEN_END] and not _sampled(work, start):
        st[TOKENS_LOST] += 1
        return
    st[TOKEN] = t + 1
    out.hashes[uint64(t)] = value
    at = TOKEN_WIDTH * t
    out.columns[uint64(at)] = start - st[ORIGIN]
    out.columns[uint64(at + 1)] = end - st[ORIGIN]
    out.columns[uint64(at + 3)] = facts
    if st[NUMBERED] == 0:
        out.columns[uint64(at + 2)] = -1
        return
    if st[OPEN] == 0:
        st[OPEN] = 1
        work.dodges[dodges.FIRST] = t
        if st[BLOCK] + 1 < st[BLOCK_END]:
            st[BLOCK] += 1
            out.columns[st[BLOCK_STARTS] + st[BLOCK]] = st[GAP] - st[ORIGIN]
        else:
            # The last block takes all that follows.
            st[BLOCKS_LOST] += 1
    out.columns[uint64(at + 2)] = st[BLOCK]


@part()
def _sampled(work: Work, start: Int) -> Bool:
    """Whether a token behind the limit is taken.

    A block is taken when fewer were taken than is the due of the bytes passed since the limit, so
    that what is taken is spread over all that is left: of little all. What stands in no block, and
    a title, is taken while there is room.
    """
    apart()
    st = work.st
    if st[TOKEN] >= st[SAMPLE_END]:
        return False
    if st[NUMBERED] == 0:
        return True
    if st[SAMPLE_FROM] < 0:
        st[SAMPLE_FROM] = start
    room = st[SAMPLE_END] - st[TOKEN_END]
    if st[GAP] != st[SAMPLE_GAP] or st[SAMPLE_RUN] > min(RUN, room // _RUNS):
        passed, left = start - st[SAMPLE_FROM], work.bound[1] - st[SAMPLE_FROM]
        due = room * passed
        st[SAMPLING] = passed <= 0 or (st[TOKEN] - st[TOKEN_END]) * left <= due
        st[SAMPLE_GAP], st[SAMPLE_RUN] = st[GAP], 0
    st[SAMPLE_RUN] += 1
    return st[SAMPLING] != 0


@part(inline=True)
def end_block(work: Work, out: Output, start: Int, end: Int) -> None:
    """A break from `start` to `end`."""
    st = work.st
    if st[OPEN] != 0:
        out.columns[st[BLOCK_ENDS] + st[BLOCK]] = start - st[ORIGIN]
        st[OPEN] = 0
        doubts = work.dodges
        if (
            doubts[dodges.ALIKE_WORDS] | doubts[dodges.WIDE_WORDS] | doubts[dodges.OTHER_WORDS]
        ) != 0:
            dodges.settle(work, out.columns, TOKEN_WIDTH, ALONE, st[TOKEN])
    st[GAP] = end
    st[LINES] = 0


@part()
def end_link(work: Work, out: Output, at: Int, last: Int) -> None:
    """The open link's anchor text ends here; `last` is where the last word or picture began."""
    st = work.st
    if st[OPEN_LINK] >= 0:
        row = st[LINKS] + LINK_WIDTH * st[OPEN_LINK]
        out.columns[row + 3] = at - st[ORIGIN]
        if last - st[ORIGIN] < out.columns[row + 2]:
            out.columns[row + 4] &= ~LEADS
        st[OPEN_LINK] = -1


@part()
def add_link(work: Work, out: Output, start: Int, end: Int, anchor: Int, bits: Int) -> None:
    """Write a link, whose anchor text starts at `anchor` and is open."""
    st = work.st
    if st[LINK] >= st[LINK_END]:
        st[LINKS_LOST] += 1
        return
    at = st[LINKS] + LINK_WIDTH * st[LINK]
    out.columns[at] = start - st[ORIGIN]
    out.columns[at + 1] = end - st[ORIGIN]
    out.columns[at + 2] = anchor - st[ORIGIN]
    out.columns[at + 3] = anchor - st[ORIGIN]
    out.columns[at + 4] = bits
    st[OPEN_LINK] = st[LINK]
    st[LINK] += 1


@part()
def add_picture(work: Work, out: Output, token: Int) -> None:
    """Note that the page's token is an IMG term."""
    st = work.st
    out.columns[st[PICTURES] + st[PICTURE]] = token
    st[PICTURE] += 1


@part()
def add_segment(work: Work, out: Output, start: Int, end: Int, bits: Int) -> None:
    """Write a run of text without markup, if segments are wanted."""
    st = work.st
    if end <= start or st[SEGMENT] >= st[SEGMENT_END]:
        return
    at = st[SEGMENTS] + SEGMENT_WIDTH * st[SEGMENT]
    out.columns[at] = start - st[ORIGIN]
    out.columns[at + 1] = end - st[ORIGIN]
    out.columns[at + 2] = bits | st[GAP_LEVEL]
    st[SEGMENT] += 1
    st[GAP_LEVEL] = JOINED


@part()
def title_first(work: Work, out: Output, tokens: Int) -> None:
    """Bring a title that stood behind text to the front: its tokens start at `tokens`, and the last
    block is its own."""
    st = work.st
    end = st[TOKEN]
    many = end - tokens
    if many == 0 or tokens == 0:
        return
    columns = out.columns
    _rotate(out.hashes, 0, tokens, end)
    _rotate(columns, 0, TOKEN_WIDTH * tokens, TOKEN_WIDTH * end)
    own = columns[2]
    # At the limit of blocks the title shares the last block of the text.
    if columns[TOKEN_WIDTH * (end - 1) + 2] != own:
        last = st[BLOCK]
        for column in (BLOCK_STARTS, BLOCK_ENDS):
            _rotate(columns, st[column], st[column] + last, st[column] + last + 1)
        for t in range(end):
            at = TOKEN_WIDTH * t + 2
            columns[at] = 0 if t < many else columns[at] + 1
    for k in range(st[PICTURE]):
        columns[st[PICTURES] + k] += many


@part()
def _rotate(values: NDArray[Any], start: Int, middle: Int, end: Int) -> None:
    _reverse(values, start, middle)
    _reverse(values, middle, end)
    _reverse(values, start, end)


@part()
def _reverse(values: NDArray[Any], start: Int, end: Int) -> None:
    for k in range((end - start) // 2):
        kept = values[start + k]
        values[start + k] = values[end - 1 - k]
        values[end - 1 - k] = kept
