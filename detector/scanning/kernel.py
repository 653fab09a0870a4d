"""The kernel that Python calls: a batch of pages, one after the other, without the GIL.

Each page is read from where its bytes stand into room that stays in the first cache, is scanned
there, and what was written of it goes to the columns of the batch before the next page comes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import Int, kernel, part, uint64
from reusewatch.detector.scanning import dodges
from reusewatch.detector.scanning import output as o
from reusewatch.detector.scanning import state as s
from reusewatch.detector.scanning.batch_columns import Columns, fits, put
from reusewatch.detector.scanning.output import Output
from reusewatch.detector.scanning.page import scan_page
from reusewatch.detector.scanning.page_bytes import copy_from
from reusewatch.detector.scanning.scratch_memory import Work
from reusewatch.detector.scanning.tables import Tables

# A row of a batch: the body's bytes, where its URL stands among the names and where that ends,
# host, site, end of site, whether it is HTML.
ROW = 7


def needed(length: int, url: int, most: int) -> tuple[int, int, int, int]:
    """The tokens, blocks, links and pictures of a page so long, at most.

    Two bytes are the shortest token and what ends it; `<a href=x>` and `<img src=x>` are the
    shortest of theirs.
    """
    tokens, links = min(most, (length + url) // 2 + 3), length // 8 + 1
    return tokens, tokens, links, links


@kernel(allocates=False)
def scan_pages(
    bodies: NDArray[np.int64],
    names: NDArray[np.uint8],
    pages: NDArray[np.int64],
    tables: NDArray[np.void],
    works: NDArray[np.void],
    limits: NDArray[np.int64],
    rooms: NDArray[np.int64],
    buf: NDArray[np.uint8],
    out: Output,
    scratch: NDArray[np.uint8],
    facts: NDArray[np.int64],
    columns: Columns,
    at: NDArray[np.int64],
    first: Int,
    is_scanned: Int,
) -> Int:
    """Scan pages from `first` on, up to one whose columns have no room for it; which one that is.
    What was written of it stays: with longer columns it is not scanned again (`is_scanned`).

    `bodies` are addresses; URLs, hosts and sites stand in `names`. `limits`: tokens, blocks, links
    of one page, and tokens sampled behind the first limit. `rooms`: of tokens, blocks, links,
    pictures and segments in `out`, which is room for one page, as `buf` is for its bytes. `at`: how
    many of these stand in `columns`.
    """
    look: Tables = tables[0]
    work: Work = works[0]
    st = work.st
    own = work.facts
    for page in range(first, pages.shape[0]):
        if page > first or not is_scanned:
            _load(bodies, names, pages, page, buf, work)
            _begin(st, limits, rooms)
            work.dodges[dodges.SHOWN] = 0
            while True:
                scan_page(buf, look, work, out, scratch)
                if work.dodges[dodges.UNREAD] <= st[o.TOKEN] + st[o.TOKENS_LOST]:
                    break
                # It hides more than it shows: a script will show it, or there would be no page.
                work.dodges[dodges.SHOWN] = 1
                _begin(st, limits, rooms)
            _count(st, own)
            for k in range(facts.shape[1]):
                facts[page, k] = own[k]
        if not fits(own, columns, at):
            return page
        put(st, own, out, columns, at)
    return pages.shape[0]


@part()
def _count(st: NDArray[np.int64], own: NDArray[np.int64]) -> None:
    """How much was written of a page, and how much there was no room for."""
    own[s.TOKENS] = st[o.TOKEN]
    own[s.BLOCKS] = st[o.BLOCK] + 1
    own[s.LINKS] = st[o.LINK]
    own[s.PICTURES] = st[o.PICTURE]
    own[s.SEGMENTS] = st[o.SEGMENT]
    own[s.SAMPLED] = max(0, st[o.TOKEN] - st[o.TOKEN_END])
    own[s.TOKENS_LOST] = st[o.TOKENS_LOST]
    own[s.BLOCKS_LOST] = st[o.BLOCKS_LOST]
    own[s.LINKS_LOST] = st[o.LINKS_LOST]


@part()
def _load(
    bodies: NDArray[np.int64], names: NDArray[np.uint8], pages: NDArray[np.int64], page: Int,
    buf: NDArray[np.uint8], work: Work,
) -> None:  # fmt: skip
    """Bring a page's bytes into `buf`, behind them its URL, host and site; and say where they are.

    Of a body the row may say fewer bytes than there are, and never more.
    """
    bound, size, url = work.bound, pages[page, 0], pages[page, 1]
    copy_from(bodies[page], buf, uint64(size))
    bound[0], bound[1] = 0, size
    bound[2] = _append(buf, size, names, url, pages[page, 2])
    bound[3] = bound[2]
    bound[5] = _append(buf, bound[2], names, pages[page, 3], pages[page, 5])
    bound[4] = bound[3] + pages[page, 4] - pages[page, 3]
    bound[6] = pages[page, 6]


@part()
def _append(buf: NDArray[np.uint8], to: Int, names: NDArray[np.uint8], at: Int, end: Int) -> Int:
    for k in range(end - at):
        buf[to + k] = names[at + k]
    return to + end - at


@part()
def _begin(st: NDArray[np.int64], limits: NDArray[np.int64], rooms: NDArray[np.int64]) -> None:
    """Nothing is written yet; where it is written to, and how far."""
    for k in range(len(st)):
        st[k] = 0
    tokens, blocks = rooms[0], rooms[1]
    st[o.BLOCK_STARTS] = o.TOKEN_WIDTH * tokens
    st[o.BLOCK_ENDS] = st[o.BLOCK_STARTS] + blocks
    st[o.LINKS] = st[o.BLOCK_ENDS] + blocks
    st[o.PICTURES] = st[o.LINKS] + o.LINK_WIDTH * rooms[2]
    st[o.SEGMENTS] = st[o.PICTURES] + rooms[3]
    st[o.SEGMENT_END] = rooms[4]
    st[o.BLOCK] = -1
    st[o.TOKEN_END] = min(limits[0], tokens)
    st[o.SAMPLE_END] = min(st[o.TOKEN_END] + limits[3], tokens)
    st[o.BLOCK_END] = min(limits[1], blocks)
    st[o.LINK_END] = min(limits[2], rooms[2])
