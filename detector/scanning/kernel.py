"""The kernel that Python calls: a batch of pages, one after the other, without the GIL."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Bool, Int, kernel, part
from reusewatch.detector.scanning import dodges
from reusewatch.detector.scanning import output as o
from reusewatch.detector.scanning import state as s
from reusewatch.detector.scanning.output import Output
from reusewatch.detector.scanning.page import scan_page
from reusewatch.detector.scanning.scratch_memory import Work
from reusewatch.detector.scanning.tables import Tables

# A row of a batch: body start, body end, URL end, host, site, end of site, whether it is HTML.
ROW = 7


def needed(length: int, url: int, most: int) -> tuple[int, int, int, int]:
    """The tokens, blocks, links and pictures of a page so long, at most.

    Two bytes are the shortest token and what ends it; `<a href=x>` and `<img src=x>` are the
    shortest of theirs.
    """
    tokens, links = min(most, (length + url) // 2 + 3), length // 8 + 1
    return tokens, tokens, links, links


_needed: Any = part(inline=True)(needed)


@kernel(allocates=False)
def scan_pages(
    buf: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    tables: NDArray[np.void],
    works: NDArray[np.void],
    limits: NDArray[np.int64],
    rooms: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    columns: NDArray[np.int32],
    scratch: NDArray[np.uint8],
    pages: NDArray[np.int64],
    first: Int,
) -> Int:
    """Scan the pages of `bounds`, whose bodies, URLs, hosts and sites are in `buf`, from `first` on
    up to one that might not fit behind them; which one that is.

    `limits`: tokens, blocks, links of one page, and tokens sampled behind the first limit.
    `rooms`: of tokens, blocks, links, pictures and segments of all; their columns follow each
    other in `columns`. There is room for any page that comes first.
    """
    look: Tables = tables[0]
    work: Work = works[0]
    out = Output(hashes, columns)
    st, before = work.st, work.before
    tokens, blocks = rooms[0], rooms[1]
    st[o.BLOCK_STARTS] = o.TOKEN_WIDTH * tokens
    st[o.BLOCK_ENDS] = st[o.BLOCK_STARTS] + blocks
    st[o.LINKS] = st[o.BLOCK_ENDS] + blocks
    st[o.PICTURES] = st[o.LINKS] + o.LINK_WIDTH * rooms[2]
    st[o.SEGMENTS] = st[o.PICTURES] + rooms[3]
    st[o.SEGMENT_END] = rooms[4]
    st[o.BLOCK] = -1
    for page in range(first, bounds.shape[0]):
        if page > first and not _fits(st, bounds, page, limits, rooms):
            return page
        for k in range(len(st)):
            before[k] = st[k]
        for k in range(ROW):
            work.bound[k] = bounds[page, k]
        _limit(st, limits, tokens, blocks, rooms)
        work.dodges[dodges.SHOWN] = 0
        while True:
            scan_page(buf, look, work, out, scratch)
            words = st[o.TOKEN] - before[o.TOKEN] + st[o.TOKENS_LOST] - before[o.TOKENS_LOST]
            if work.dodges[dodges.UNREAD] <= words:
                break
            # It hides more than it shows: a script will show it, or there would be no page.
            work.dodges[dodges.SHOWN] = 1
            for k in range(len(st)):
                st[k] = before[k]
            _limit(st, limits, tokens, blocks, rooms)
        facts = work.facts
        facts[s.TOKENS] = st[o.TOKEN] - before[o.TOKEN]
        facts[s.BLOCKS] = st[o.BLOCK] - before[o.BLOCK]
        facts[s.LINKS] = st[o.LINK] - before[o.LINK]
        facts[s.PICTURES] = st[o.PICTURE] - before[o.PICTURE]
        facts[s.SEGMENTS] = st[o.SEGMENT] - before[o.SEGMENT]
        facts[s.SAMPLED] = max(0, st[o.TOKEN] - st[o.TOKEN_END])
        facts[s.TOKENS_LOST] = st[o.TOKENS_LOST] - before[o.TOKENS_LOST]
        facts[s.BLOCKS_LOST] = st[o.BLOCKS_LOST] - before[o.BLOCKS_LOST]
        facts[s.LINKS_LOST] = st[o.LINKS_LOST] - before[o.LINKS_LOST]
        for k in range(pages.shape[1]):
            pages[page, k] = facts[k]
    return bounds.shape[0]


@part()
def _fits(
    st: NDArray[np.int64], bounds: NDArray[np.int64], page: Int, limits: NDArray[np.int64],
    rooms: NDArray[np.int64],
) -> Bool:  # fmt: skip
    """Whether there is room for all that a page may have."""
    length, url = bounds[page, 1] - bounds[page, 0], bounds[page, 2] - bounds[page, 1]
    tokens, blocks, links, pictures = _needed(length, url, limits[0] + limits[3])
    return (
        st[o.TOKEN] + tokens <= rooms[0]
        and st[o.BLOCK] + 1 + blocks <= rooms[1]
        and st[o.LINK] + links <= rooms[2]
        and st[o.PICTURE] + pictures <= rooms[3]
    )


@part()
def _limit(
    st: NDArray[np.int64], limits: NDArray[np.int64], tokens: Int, blocks: Int,
    rooms: NDArray[np.int64],
) -> None:  # fmt: skip
    """How far the next page may write."""
    st[o.TOKEN_END] = min(st[o.TOKEN] + limits[0], tokens)
    st[o.SAMPLE_END] = min(st[o.TOKEN_END] + limits[3], tokens)
    st[o.BLOCK_FIRST] = st[o.BLOCK] + 1
    st[o.BLOCK_END] = min(st[o.BLOCK_FIRST] + limits[1], blocks)
    st[o.LINK_END] = min(st[o.LINK] + limits[2], rooms[2])
