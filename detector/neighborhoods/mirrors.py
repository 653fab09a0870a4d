"""Hosts that are copies of another site: most of their pages have a twin there.

Which page was seen first does not matter: in one crawl some pages of a mirror come before those of
its original. So a twin counts for both hosts, and which of the two is the mirror is said apart. A
pair of host and site is looked at when it has enough twins, and then whenever half as many have
come again, so that looking costs little however large a mirror is. Holds the twins that were found
last; never pages nor their words.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

MOST_TWINS = 200_000


@dataclass(frozen=True, slots=True)
class Place:
    """A page, where it stands, and when it was first seen."""

    page: int
    host: str
    site: int
    first: int


@dataclass(frozen=True, slots=True)
class Twin:
    """What is known of a page: on which site its twin is, which page that is, and whether this one
    is known to be the copy."""

    host: str
    site: int
    other_site: int
    other_page: int
    is_copy: bool


Pair = tuple[str, int]
"""A host, and the site that it is held against."""


class Twins:
    """The pages that have a twin on another site, by page."""

    def __init__(self, *, least: int, sure: int = 0, most: int = MOST_TWINS) -> None:
        self._least = least
        # Up to so many twins a host may have too few pages yet: with each that comes, look again.
        self._sure = sure
        self._most = most
        # What was known before, of pages that changed while somebody remembers; else None.
        self.before: list[tuple[int, Twin | None]] | None = None
        self.known: OrderedDict[int, Twin] = OrderedDict()
        self._counts: Counter[Pair] = Counter()
        self._looked: dict[Pair, int] = {}
        # Pairs with more twins than when it was last asked which are due: no others can be.
        self._grown: set[Pair] = set()
        self._sites: dict[str, int] = {}

    def site_of(self, host: str) -> int | None:
        """The site of a host of which pages are known."""
        return self._sites.get(host)

    def note(self, one: Place, other: Place, *, is_copy: bool) -> None:
        """Two pages are copies of each other; `is_copy`: the one is known to be the copy."""
        if one.site == other.site:
            return
        self._put(one, other, is_copy=is_copy)
        self._put(other, one, is_copy=False)

    def forget(self, page: int) -> None:
        """A page is no copy any more; its twin stays, as others may have it."""
        if (twin := self.known.pop(page, None)) is not None:
            self._counts[twin.host, twin.other_site] -= 1
            self._remember(page, twin)

    def _put(self, one: Place, other: Place, *, is_copy: bool) -> None:
        before = self.known.get(one.page)
        kept = before is not None and (before.is_copy or before.other_site != other.site)
        if kept and not is_copy:
            return  # what is known to be a copy stays one; else who was found first stands
        self.forget(one.page)
        if before is None:
            self._remember(one.page, None)
        self.known[one.page] = Twin(one.host, one.site, other.site, other.page, is_copy)
        self._counts[one.host, other.site] += 1
        self._grown.add((one.host, other.site))
        self._sites[one.host] = one.site
        if len(self.known) > self._most:
            self.forget(next(iter(self.known)))

    def _remember(self, page: int, twin: Twin | None) -> None:
        if self.before is not None:
            self.before.append((page, twin))

    def is_due(self, host: str, site: int) -> bool:
        """Whether a pair to which a twin has come is to be looked at."""
        return (host, site) in self._grown and self._is_due((host, site), at_rest=False)

    def due(self, *, at_rest: bool) -> list[Pair]:
        """The pairs to look at now; at rest, all that have enough twins."""
        asked = self._counts if at_rest else self._grown
        found = [pair for pair in asked if self._is_due(pair, at_rest)]
        self._looked.update((pair, self._counts[pair]) for pair in found)
        self._grown.clear()
        if at_rest:
            self._drop_what_is_gone()
        return sorted(found)

    def _is_due(self, pair: Pair, at_rest: bool) -> bool:
        count = self._counts[pair]
        again = count <= self._sure or 2 * count >= 3 * self._looked.get(pair, 0)
        return count >= self._least and (at_rest or again)

    def _drop_what_is_gone(self) -> None:
        self._counts = +self._counts
        self._looked = {p: n for p, n in self._looked.items() if p in self._counts}
        hosts = {host for host, _ in self._counts}
        self._sites = {host: site for host, site in self._sites.items() if host in hosts}

    def save(self) -> dict[str, object]:
        """What is known, as plain values."""
        twins = [
            [page, t.host, t.site, t.other_site, t.other_page, t.is_copy]
            for page, t in self.known.items()
        ]
        looked = [[*pair, n] for pair, n in self._looked.items()]
        return {"twins": twins, "looked": looked, "grown": sorted(self._grown)}

    def restore(
        self, twins: Iterable[Any], looked: Iterable[Any], grown: Iterable[Any] | None = None
    ) -> None:
        """Take up what was saved."""
        self.known = OrderedDict((page, Twin(*rest)) for page, *rest in twins)
        self._counts = Counter((t.host, t.other_site) for t in self.known.values())
        self._looked = {(host, site): n for host, site, n in looked}
        self._grown = set(self._counts if grown is None else map(tuple, grown))
        self._sites = {t.host: t.site for t in self.known.values()}


def mapping_of(pairs: Iterable[tuple[str, str]], least: float) -> tuple[str, str] | None:
    """Prefixes of the copies and of the originals that at least this share of pairs of URLs has in
    common: what stands behind them is the same in both.

    >>> mapping_of([(f"http://m.x/copy/{n}.html", f"http://a.y/{n}.html") for n in "abc"], 0.8)
    ('http://m.x/copy/', 'http://a.y/')
    """
    found = Counter(_mapped(copy, original) for copy, original in pairs)
    most, count = found.most_common(1)[0] if found else (None, 0)
    return most if most is not None and count >= least * found.total() else None


def _mapped(copy: str, original: str) -> tuple[str, str] | None:
    """Both without what they end in alike; None where not even the name is the same."""
    ours, theirs = copy.split("/"), original.split("/")
    same = 0
    for a, b in zip(_path(ours), _path(theirs), strict=False):
        if a != b:
            break
        same += 1
    if not same:
        return None
    return "/".join([*ours[:-same], ""]), "/".join([*theirs[:-same], ""])


def _path(parts: list[str]) -> Iterator[str]:
    return reversed(parts[3:])
