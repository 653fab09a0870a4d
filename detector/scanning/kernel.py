"""The kernel that Python calls: a batch of pages, one after the other, without the GIL."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from detector.scanning import output as o
from detector.scanning import page as pg
from detector.scanning.addresses import BASE_WITHIN
from detector.scanning.jit import entry
from detector.scanning.output import Output
from detector.scanning.page import Work, scan_page
from detector.scanning.syntax import FOUND_SIZE
from detector.scanning.tables import Tables
from detector.scanning.text import OPEN_WORD


@entry
def scan_pages(
    buf: NDArray[np.uint8],
    bounds: NDArray[np.int64],
    hosts: NDArray[np.uint8],
    look: Tables,
    secrets: NDArray[np.uint64],
    limits: NDArray[np.int64],
    out: Output,
) -> None:
    """Scan the pages of `bounds` into `out`.

    A row of `bounds`: body start, body end, URL end in `buf`; host, site, end of site in `hosts`;
    whether it is HTML. `limits`: tokens, blocks, links of one page, and bytes of the longest body.
    """
    st = np.zeros(o.COUNTERS, np.int64)
    room = 2 * limits[3] + 16
    work = Work(
        st,
        np.zeros(pg.STATES, np.int64),
        np.zeros(FOUND_SIZE, np.int64),
        np.zeros(OPEN_WORD, np.uint64),
        np.empty(room, np.uint8),
        np.empty(room + 2 * BASE_WITHIN, np.uint8),
        np.empty(2 * BASE_WITHIN + 16, np.uint8),
    )
    before = np.zeros(o.COUNTERS, np.int64)
    st[o.BLOCK] = -1
    for page in range(bounds.shape[0]):
        before[:] = st
        st[o.TOKEN_END] = min(st[o.TOKEN] + limits[0], out.hashes.shape[0])
        st[o.BLOCK_FIRST] = st[o.BLOCK] + 1
        st[o.BLOCK_END] = min(st[o.BLOCK_FIRST] + limits[1], out.block_starts.shape[0])
        st[o.LINK_END] = min(st[o.LINK] + limits[2], out.links.shape[0])
        facts = out.pages[page]
        facts[:] = -1
        scan_page(buf, bounds[page], hosts, look, secrets, out, work, facts)
        facts[pg.TOKENS] = st[o.TOKEN] - before[o.TOKEN]
        facts[pg.BLOCKS] = st[o.BLOCK] - before[o.BLOCK]
        facts[pg.LINKS] = st[o.LINK] - before[o.LINK]
        facts[pg.PICTURES] = st[o.PICTURE] - before[o.PICTURE]
        facts[pg.SEGMENTS] = st[o.SEGMENT] - before[o.SEGMENT]
        facts[pg.TOKENS_LOST] = st[o.TOKENS_LOST] - before[o.TOKENS_LOST]
        facts[pg.BLOCKS_LOST] = st[o.BLOCKS_LOST] - before[o.BLOCKS_LOST]
        facts[pg.LINKS_LOST] = st[o.LINKS_LOST] - before[o.LINKS_LOST]
