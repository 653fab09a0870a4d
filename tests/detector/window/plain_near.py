"""Near-duplicates by definition: over all pairs, in plain Python, and since when each page counts.

A version of a page counts as seen since the earliest version of its page that is near to it; of
two near pages the later one is the copy, ties go by page id. An owned page is before all others,
and no copy.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reusewatch.detector.sketching.simhash import pieces
from reusewatch.detector.window.near_rules import Policy
from tests.detector.window.window_pages import Page, Text

Version = tuple[int, int]


def agreeing(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(a == b != 0 for a, b in zip(one, other, strict=True))


def c_of(one: Text, other: Text) -> int:
    if not (any(one.simhash) and any(other.simhash)):
        return 0
    return 384 - sum((a ^ b).bit_count() for a, b in zip(one.simhash, other.simhash, strict=True))


def candidates(one: Text, other: Text) -> bool:
    """Share a supershingle or a piece."""
    if agreeing(one.super8, other.super8):
        return True
    rows = [pieces(np.array([text.simhash], np.uint64))[0] for text in (one, other)]
    return bool(c_of(one, other) and (rows[0] == rows[1]).any())


def near(one: Page, other: Page, policy: Policy) -> bool:
    a, b = one.text, other.text
    if a.text == b.text or one.page == other.page or not (a.text and b.text):
        return False
    shared = sum(x == y for x, y in zip(a.sample, b.sample, strict=True))
    figures = agreeing(a.super8, b.super8), c_of(a, b), shared
    return candidates(a, b) and policy.near(*figures, same_site=one.site == other.site)


def versions(seen: list[Page]) -> dict[Version, Page]:
    """Each content of each page as it was first seen."""
    first: dict[Version, Page] = {}
    for page in seen:
        key = page.page, page.text.text or page.file
        first[key] = min(first.get(key, page), page, key=lambda p: p.at)
    return first


def either(one: Text, other: Text, policy: Policy) -> bool:
    """Whether two token sequences are near, on one site or on two."""
    if not (one.text and other.text):
        return False
    shared = sum(x == y for x, y in zip(one.sample, other.sample, strict=True))
    figures = agreeing(one.super8, other.super8), c_of(one, other), shared
    return any(policy.near(*figures, same_site=same) for same in (False, True))


def dated(first: dict[Version, Page], policy: Policy) -> dict[Version, Page]:
    """Each version with the time since when it counts as seen: that of the earliest version of
    its own page that is near to it."""
    return {
        key: replace(page, at=min(
            [page.at]
            + [p.at for p in first.values()
               if p.page == page.page and either(p.text, page.text, policy)]
        ))
        for key, page in first.items()
    }  # fmt: skip


def order(page: Page) -> tuple[bool, int, int]:
    """Of two pages the copy is the one that comes later by this."""
    return not page.owned, page.at, page.page


def copies(seen: list[Page], policy: Policy) -> set[Version]:
    """By definition: another page, of another site, has the very words and is before it."""
    first = dated(versions(seen), policy)
    return {
        key
        for key, page in first.items()
        if not page.owned
        and any(
            order(other) < order(page)
            and other.text.text == page.text.text != 0 and other.site != page.site
            for other in first.values()
        )
    }  # fmt: skip


def near_copies(
    seen: list[Page], policy: Policy, *, same_site: bool = True, other_site: bool = True
) -> set[Version]:
    """By definition: an earlier page is near, in a relation that alerts, and none of another site
    has the very words; ties go by page id."""
    first = dated(versions(seen), policy)
    before = {
        key: [other for other in first.values() if order(other) < order(page)]
        for key, page in first.items()
    }
    return {
        key
        for key, page in first.items()
        if not page.owned
        and any(
            near(page, other, policy) and (same_site if page.site == other.site else other_site)
            for other in before[key]
        )
        and not any(
            page.text.text == other.text.text != 0 and page.site != other.site
            for other in before[key]
        )
    }
