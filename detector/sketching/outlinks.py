"""The links of a page that lead to other sites, as a reader could follow them.

A page that copies and links to what it copies hides nothing: attribution is what tells a digest
from spam (Najork 2012, §4). So a link counts only where a reader sees words or a picture in it, and
where the page does not say that it vouches for nothing (`nofollow`, `ugc`, `sponsored`): those are
put on pages by others, in comments. Never resolves names, and never looks behind an address.
"""

from __future__ import annotations

from collections.abc import Iterator
from re import IGNORECASE
from re import compile as pattern
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.fields import Field
from reusewatch.detector.scanning import state
from reusewatch.detector.scanning.readable import address_text
from reusewatch.detector.scanning.scan import Batch

MOST_OUTLINKS = 64
"""Links of a page that count: the first ones, each address once."""
MOST_ADDRESS = 2048
"""Bytes of an address; what is longer leads nowhere that is known."""
_MOST_TAG = 2048
_NOT_VOUCHED = pattern(rb"nofollow|ugc|sponsored", IGNORECASE)
# References, and what a browser takes out of addresses.
_ODD = pattern(rb"[&\x00-\x20]")
_ABROAD = (b"http://", b"https://", b"//")
_SAME = 4  # the column of `Batch.links` that says whether a link stays on its site


class Outlink(NamedTuple):
    """An address, and where in the text its words begin."""

    address: str
    start: int


def outlinks_of(batch: Batch) -> list[list[Outlink]]:
    """The links of each page."""
    leaves = np.concatenate(([0], np.cumsum(batch.links[:, _SAME] == 0)))[batch.link_at]
    found: list[list[Outlink]] = [[] for _ in range(len(batch))]
    for page in np.flatnonzero(np.diff(leaves)).tolist():
        found[page] = list(_of_page(batch, page))
    return found


def _of_page(batch: Batch, page: int) -> Iterator[Outlink]:
    utf8 = batch.sources[page].utf8
    scheme = "https:" if batch.sources[page].url[:6].lower() == "https:" else "http:"
    rows = batch.links[batch.link_at[page] : batch.link_at[page + 1]]
    rows = rows[(rows[:, _SAME] == 0) & (rows[:, 1] - rows[:, 0] <= MOST_ADDRESS)]
    known: set[bytes] = set()
    for start, end, anchor in rows[_is_seen(batch, page, rows), :3].tolist():
        address = utf8[start:end]
        if address in known or not address.lstrip().lower().startswith(_ABROAD):
            continue
        if _is_vouched_for(utf8, start, end):
            known.add(address)
            yield Outlink(_absolute(address, scheme), anchor)
            if len(known) == MOST_OUTLINKS:
                return


def _absolute(address: bytes, scheme: str) -> str:
    """What leads abroad is absolute, but for the scheme of its page."""
    text = address.decode("utf-8", "replace")
    text = address_text(text) if _ODD.search(address) else text
    return scheme + text if text.startswith("/") else text


def _is_seen(batch: Batch, page: int, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether any word of the text, or a picture, stands within each link."""
    first = int(batch.token_at[page])
    words = slice(first, first + int(batch.facts[page, state.TEXT_TOKENS]))
    # The title's words come first, wherever it stands, and no link is in it: the others rise.
    titled = int((batch.fields[words] != Field.TITLE).argmax())
    starts = batch.starts[words][titled:]
    found: NDArray[np.bool_] = starts.searchsorted(rows[:, 2]) < starts.searchsorted(rows[:, 3])
    return found


def _is_vouched_for(utf8: bytes, start: int, end: int) -> bool:
    """Whether nothing in the tag around an address says that the page does not stand for it."""
    begins = utf8.rfind(b"<", max(0, start - _MOST_TAG), start)
    ends = utf8.find(b">", end, end + _MOST_TAG)
    ends = ends if ends >= 0 else end + _MOST_TAG
    before = _NOT_VOUCHED.search(utf8, max(begins, 0), start)
    return before is None and _NOT_VOUCHED.search(utf8, end, ends) is None
