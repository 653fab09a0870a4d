"""The links of a page that lead to other sites, as a reader could follow them.

A page that copies and links to what it copies hides nothing: attribution is what tells a digest
from spam (Najork 2012, §4). So a link counts only where a reader sees words or a picture in it, and
where the page does not say that it vouches for nothing (`nofollow`, `ugc`, `sponsored`): those are
put on pages by others, in comments. Never resolves names, and never looks behind an address.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reusewatch.detector.scanning.output import LEADS
from reusewatch.detector.scanning.readable import address_text
from reusewatch.detector.scanning.scan import Batch

MOST_OUTLINKS = 64
"""Links of a page that count: the first ones, each address once."""
MOST_ADDRESS = 2048
"""Bytes of an address; what is longer leads nowhere that is known."""
_ABROAD = (b"http://", b"https://", b"//")


class Outlink(NamedTuple):
    """An address, and where in the text its words begin."""

    address: str
    start: int


def outlinks_of(batch: Batch) -> list[list[Outlink]]:
    """The links of each page."""
    links = batch.links
    rows = np.flatnonzero(
        ((links[:, 4] & LEADS) != 0) & (links[:, 1] - links[:, 0] <= MOST_ADDRESS)
    )
    found: list[list[Outlink]] = [[] for _ in range(len(batch))]
    pages = batch.link_at.searchsorted(rows, side="right") - 1
    # Pages of a site lead to the same places.
    absolute: dict[tuple[bytes, bool], str] = {}
    last = -1
    for page, (start, end, anchor) in zip(pages.tolist(), links[rows, :3].tolist(), strict=True):
        if page != last:
            source, mine, last = batch.sources[page], found[page], page
            utf8, secure = source.utf8, source.url[:6].lower() == "https:"
            known: set[bytes] = set()
        address = utf8[start:end]
        if len(mine) == MOST_OUTLINKS or address in known:
            continue
        text = absolute.get((address, secure))
        if text is None:
            text = absolute[address, secure] = _absolute(address, secure=secure)
        if text:
            known.add(address)
            mine.append(Outlink(text, anchor))
    return found


def _absolute(address: bytes, *, secure: bool) -> str:
    """What leads abroad is absolute, but for the scheme of its page; the rest is empty."""
    if not address.lstrip().lower().startswith(_ABROAD):
        return ""
    text = address.decode("utf-8", "replace")
    # What a browser takes out of addresses cannot be printed; or is a blank, or a reference.
    if not text.isprintable() or "&" in text or " " in text:
        text = address_text(text)
    return f"http{'s' * secure}:{text}" if text.startswith("/") else text
