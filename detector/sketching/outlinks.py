"""The links of a page that lead to other sites, as a reader could follow them.

A page that copies and links to what it copies hides nothing: attribution is what tells a digest
from spam (Najork 2012, §4). So a link counts only where a reader sees words or a picture in it, and
where the page does not say that it vouches for nothing (`nofollow`, `ugc`, `sponsored`): those are
put on pages by others, in comments. Never resolves names, and never looks behind an address.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.scanning.output import LEADS
from reusewatch.detector.scanning.readable import address_text
from reusewatch.detector.scanning.scan import Batch

MOST_OUTLINKS = 64
"""Links of a page that count: the first ones, each address once."""
MOST_ADDRESS = 2048
"""Bytes of an address; what is longer leads nowhere that is known."""
_ABROAD = (b"http://", b"https://", b"//")


class Outlinks(NamedTuple):
    """The links of the pages of a batch. Page p has rows `at[p]` to `at[p + 1]`: which of the
    addresses each leads to, and where in the page's text its words begin."""

    addresses: Sequence[str]
    at: NDArray[np.int64]
    which: NDArray[np.int64]
    starts: NDArray[np.int64]

    def of(self, page: int) -> list[tuple[str, int]]:
        """One page's: addresses, and where their words begin."""
        rows = slice(self.at[page], self.at[page + 1])
        return [
            (self.addresses[which], start)
            for which, start in zip(
                self.which[rows].tolist(), self.starts[rows].tolist(), strict=True
            )
        ]


def outlinks_of(batch: Batch) -> Outlinks:
    """The links of each page."""
    links = batch.links
    rows = np.flatnonzero(
        ((links[:, 4] & LEADS) != 0) & (links[:, 1] - links[:, 0] <= MOST_ADDRESS)
    )
    pages = batch.link_at.searchsorted(rows, side="right") - 1
    addresses, taken, which = list[str](), list[int](), list[int]()
    # Pages of a site lead to the same places: each is looked at once, by the scheme of its page.
    numbers = dict[bytes, int](), dict[bytes, int]()
    seen, last, left = list[int](), -1, 0
    spans = zip(pages.tolist(), *links[rows, :2].T.tolist(), strict=True)
    for row, (page, start, end) in enumerate(spans):
        if page != last:
            source, last, left = batch.sources[page], page, MOST_OUTLINKS
            utf8, secure = source.utf8, source.url[:6].lower() == "https:"
            known = numbers[secure]
        if left == 0:
            continue
        address = utf8[start:end]
        number = known.get(address)
        if number is None:
            number = known[address] = len(addresses)
            addresses.append(_absolute(address, secure=secure))
            seen.append(-1)
        if addresses[number] and seen[number] != page:
            seen[number] = page
            left -= 1
            taken.append(row)
            which.append(number)
    chosen = np.array(taken, np.int64)
    at = pages[chosen].searchsorted(np.arange(len(batch) + 1))
    starts = links[rows[chosen], 2].astype(np.int64)
    return Outlinks(addresses, at, np.array(which, np.int64), starts)


# Pages of a site come in many batches, and lead to the same places in all of them.
@lru_cache(1 << 10)
def _absolute(address: bytes, *, secure: bool) -> str:
    """What leads abroad is absolute, but for the scheme of its page; the rest is empty."""
    if not address.lstrip().lower().startswith(_ABROAD):
        return ""
    text = address.decode("utf-8", "replace")
    # What a browser takes out of addresses cannot be printed; or is a blank, or a reference.
    if not text.isprintable() or "&" in text or " " in text:
        text = address_text(text)
    return f"http{'s' * secure}:{text}" if text.startswith("/") else text
