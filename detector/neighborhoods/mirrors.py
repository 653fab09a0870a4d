"""Hosts that are copies of another site: most of their pages have a twin there.

Pages that are copies of each other are a group, and a page counts for every site that has a page in
its group: of three hosts with the same pages each page's donor is another's, and yet all of a
mirror's pages stand on its original (transitive closure, as the clusters of Fetterly et al. 2003,
§3). A page that has only a part of another joins the group of that one and joins no groups.

Which page was seen first does not matter for what is counted: in one crawl some pages of a mirror
come before those of its original. Which of two is the mirror is said apart, and never is a host of
which most pages are known to be originals. A host is looked at when it has enough twins on a site,
and then whenever half as many have come again. Holds the twins that were found last; never pages
nor their words.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, NamedTuple

MOST_TWINS = 200_000
# Of a group so many sites count, those that came first: what more sites have is widespread.
MOST_SITES = 16
# Two groups become one up to so many pages: by chains of what is nearly alike all would be one.
MOST_JOINED = 256
# How a page is known to be a copy, the best reason first.
Known = Literal["owned", "declared", "first-seen"]
_RANK: dict[Known | None, int] = {"owned": 3, "declared": 2, "first-seen": 1, None: 0}
# So many sites a host is held against at a time, the likeliest originals; and so many pages of a
# group are looked at for the one that stands on a site.
MOST_HELD, MOST_LOOKED_AT = 3, 64


class Place(NamedTuple):
    """A page, its words, where it stands, and when it was first seen."""

    page: int
    text: int
    host: str
    site: int
    first: int


Pair = tuple[str, int]
"""A host, and the site that it is held against."""


class Begun(NamedTuple):
    """When the first page of a site was seen, of those that have twins, and on which host; and when
    the last of them was first seen."""

    first: int
    host: str
    last: int


@dataclass(slots=True, eq=False)
class _Group:
    """Pages that are copies of each other. `sites`: how many of those that count stand on each;
    `admitted`: how many sites were ever made to count, since that costs a look at every page."""

    pages: dict[int, None] = field(default_factory=dict)
    sites: dict[int, int] = field(default_factory=dict)
    admitted: int = 0


@dataclass(slots=True, eq=False)
class _Twin:
    """What is known of a page. `copy_of`: the site of which it is known to be a copy; `by`: how;
    `is_original`: another is known to be a copy of it."""

    text: int
    host: str
    site: int
    group: _Group
    copy_of: int | None = None
    is_original: bool = False
    by: Known | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A host held against a site: pages of both that are twins, and how the host's is known to be
    a copy of that site, if it is. `texts`: of how many groups they are. `begun` and `its_begun`:
    of the host's site and of that one. `is_later`: of the two this one is the mirror, as far as is
    known."""

    site: int
    twins: tuple[tuple[int, int, Known | None], ...]
    texts: int
    begun: Begun
    its_begun: Begun
    is_later: bool


class Twins:
    """The pages that have a twin on another site, by page."""

    def __init__(
        self, *, least: int, sure: int = 0, share: float = 0.0, most: int = MOST_TWINS
    ) -> None:
        self.least = least
        self._share = share
        self._most = most
        # Up to `sure` twins a host may have too few pages yet: with each that comes, look again.
        self._looks_at = frozenset(_looks_at(least, sure, most))
        self.known: OrderedDict[int, _Twin] = OrderedDict()
        self._of_host: dict[str, dict[int, None]] = {}
        self._counts: dict[str, Counter[int]] = {}
        self._copies: Counter[Pair] = Counter()
        self._originals: Counter[str] = Counter()
        self._begun: dict[int, Begun] = {}
        self._due: set[str] = set()

    def note(
        self, one: Place, other: Place, *, by: Known | None = None, is_part: bool = False
    ) -> None:
        """Two pages are copies of each other, or the one has a part of the other; `by`: how the one
        is known to be the copy, if it is."""
        if one.site == other.site:
            return
        for place in (one, other):
            self._saw(place)
        mine, theirs = self.known.get(one.page), self.known.get(other.page)
        if theirs is None and (mine is None or not is_part):
            theirs = self._enter(other, _Group() if mine is None else mine.group)
        if mine is None:
            assert theirs is not None  # noqa: S101 - it was entered
            mine = self._enter(one, theirs.group)
        elif theirs is not None and not is_part:
            self._join(mine.group, theirs.group)
        if by is not None and theirs is not None:
            self._is_copy(mine, theirs, by)
        while len(self.known) > self._most:
            self.forget(next(iter(self.known)))

    def forget(self, page: int) -> None:
        """A page is no copy any more; its twins stay, as others may have them."""
        if (twin := self.known.pop(page, None)) is None:
            return
        self._take_out(page, twin)
        if twin.copy_of is not None:
            self._copies[twin.host, twin.copy_of] -= 1
        self._originals[twin.host] -= twin.is_original
        mine = self._of_host[twin.host]
        del mine[page]
        if not mine:
            del self._of_host[twin.host]
            self._counts.pop(twin.host, None)

    @property
    def has_due(self) -> bool:
        """Whether a host has got enough twins since it was last asked."""
        return bool(self._due)

    def due(self) -> list[str]:
        """The hosts to look at now."""
        found = sorted(self._due)
        self._due.clear()
        return found

    def hosts(self) -> list[str]:
        """All that have enough twins on one site."""
        return sorted(
            host for host, counts in self._counts.items()
            if any(count >= self.least for count in counts.values())
        )  # fmt: skip

    def site_of(self, host: str) -> int | None:
        """The site of a host of which pages are known."""
        mine = self._of_host.get(host)
        return None if mine is None else self.known[next(iter(mine))].site

    def most_on_a_site(self, host: str) -> int:
        """How many pages of a host have a twin on the site where most have."""
        return max(self._counts.get(host, Counter()).values(), default=0)

    def held(self, host: str) -> list[Held]:
        """A host against the sites on which it has enough twins, the likeliest original first."""
        site, counts = self.site_of(host), self._counts.get(host, Counter())
        if site is None:
            return []
        # A host has at least as many pages as twins on one site: of what is too small a share of
        # those it cannot be the mirror, and a few old texts on many sites hide no original.
        least = max(self.least, self._share * max(counts.values(), default=0))
        sites = [other for other, count in counts.items() if count >= least]
        sites.sort(key=lambda other: (not self._is_known(host, other), self._begun[other], other))
        return [self._held(host, site, other) for other in sites[:MOST_HELD]]

    def _held(self, host: str, site: int, other: int) -> Held:
        known = self._is_known(host, other)
        may_be = 2 * self._originals[host] <= self._counts[host][other]
        found: dict[int, int | None] = {}
        twins = []
        for page in self._of_host[host]:
            twin = self.known[page]
            group = twin.group
            if other not in group.sites:
                continue
            if id(group) not in found:
                found[id(group)] = self._one_of(group, other)
            there = found[id(group)]
            if there is not None:
                twins.append((page, there, twin.by if twin.copy_of == other else None))
        later = known or (may_be and self._begun[site] > self._begun[other])
        texts = sum(1 for there in found.values() if there is not None)
        return Held(other, tuple(twins), texts, self._begun[site], self._begun[other], later)

    def _is_known(self, host: str, other: int) -> bool:
        """Whether most of a host's twins are known to be copies of that site."""
        return 2 * self._copies[host, other] > self._counts[host][other]

    def _one_of(self, group: _Group, site: int) -> int | None:
        """A page of a group that stands on a site; of a very large group there may be none."""
        some = islice(group.pages, MOST_LOOKED_AT)
        return next((page for page in some if self.known[page].site == site), None)

    def _saw(self, place: Place) -> None:
        begun = Begun(place.first, place.host, place.first)
        before = self._begun.get(place.site, begun)
        last = max(before.last, begun.last)
        self._begun[place.site] = min(before, begun)._replace(last=last)
        known = self.known.get(place.page)
        if known is not None and known.text != place.text:
            self.forget(place.page)  # another version: of whatever that one was a copy

    def _enter(self, place: Place, group: _Group) -> _Twin:
        twin = _Twin(place.text, place.host, place.site, group)
        self.known[place.page] = twin
        self._of_host.setdefault(place.host, {})[place.page] = None
        self._put_in(place.page, twin, group)
        return twin

    def _put_in(self, page: int, twin: _Twin, group: _Group) -> None:
        twin.group = group
        for site in group.sites:
            if site != twin.site:
                self._raise(twin.host, site)
        group.pages[page] = None
        if twin.site in group.sites:
            group.sites[twin.site] += 1
        elif group.admitted < MOST_SITES:
            group.admitted += 1
            group.sites[twin.site] = 1
            for each in group.pages:
                if (other := self.known[each]).site != twin.site:
                    self._raise(other.host, twin.site)

    def _take_out(self, page: int, twin: _Twin) -> None:
        group = twin.group
        del group.pages[page]
        for site in group.sites:
            if site != twin.site:
                self._counts[twin.host][site] -= 1
        if twin.site not in group.sites:
            return
        group.sites[twin.site] -= 1
        if not group.sites[twin.site]:
            del group.sites[twin.site]
            # Of a small group a look costs little: pages that change do not use them up.
            group.admitted -= len(group.pages) <= MOST_JOINED
            for each in group.pages:
                if (other := self.known[each]).site != twin.site:
                    self._counts[other.host][twin.site] -= 1

    def _join(self, one: _Group, other: _Group) -> None:
        if one is other or len(one.pages) + len(other.pages) > MOST_JOINED:
            return
        small, large = sorted((one, other), key=lambda group: len(group.pages))
        for page in list(small.pages):
            twin = self.known[page]
            self._take_out(page, twin)
            self._put_in(page, twin, large)

    def _raise(self, host: str, site: int) -> None:
        if (counts := self._counts.get(host)) is None:
            counts = self._counts[host] = Counter()
        now = counts[site] = counts.get(site, 0) + 1
        if now in self._looks_at:
            self._due.add(host)

    def _is_copy(self, mine: _Twin, theirs: _Twin, by: Known) -> None:
        if _RANK[by] > _RANK[mine.by] and mine.group is theirs.group:
            if mine.copy_of is not None:
                self._copies[mine.host, mine.copy_of] -= 1
            mine.copy_of, mine.by = theirs.site, by
            self._copies[mine.host, theirs.site] += 1
        if not theirs.is_original:
            theirs.is_original = True
            self._originals[theirs.host] += 1

    def drop_what_is_gone(self) -> None:
        """What is known of hosts and sites without twins is given up."""
        self._counts = {host: +counts for host, counts in self._counts.items()}
        self._copies, self._originals = +self._copies, +self._originals
        sites = {twin.site for twin in self.known.values()}
        self._begun = {site: begun for site, begun in self._begun.items() if site in sites}

    def save(self) -> dict[str, object]:
        """What is known, as plain values."""
        groups = {id(twin.group): twin.group for twin in self.known.values()}
        number = {key: at for at, key in enumerate(groups)}
        twins = [
            [page, t.text, t.host, t.site, number[id(t.group)], t.copy_of, t.is_original, t.by]
            for page, t in self.known.items()
        ]
        # Sites that count, and the order of pages, hang on who came first.
        kept = [[list(g.pages), list(g.sites), g.admitted] for g in groups.values()]
        begun = [[site, *begun] for site, begun in self._begun.items()]
        return {"twins": twins, "groups": kept, "begun": begun, "due": sorted(self._due)}

    def restore(self, facts: Any) -> None:
        """Take up what was saved."""
        groups = [
            _Group(dict.fromkeys(pages), dict.fromkeys(sites, 0), admitted)
            for pages, sites, admitted in facts.get("groups", ())
        ]
        for page, text, host, site, at, copy_of, is_original, by in facts.get("twins", ()):
            self.known[page] = _Twin(text, host, site, groups[at], copy_of, is_original, by)
            self._of_host.setdefault(host, {})[page] = None
            if site in groups[at].sites:
                groups[at].sites[site] += 1
            if copy_of is not None:
                self._copies[host, copy_of] += 1
            self._originals[host] += is_original
        for twin in self.known.values():
            counts = self._counts.setdefault(twin.host, Counter())
            counts.update(site for site in twin.group.sites if site != twin.site)
        self._begun = {site: Begun(*begun) for site, *begun in facts.get("begun", ())}
        self._due = set(facts.get("due", ()))


def _looks_at(least: int, sure: int, most: int) -> Iterator[int]:
    """With how many twins a host is looked at: no others, so that it hangs on no look before.

    >>> list(_looks_at(16, 20, 70))
    [16, 17, 18, 19, 20, 30, 45, 68]
    """
    at = least
    while at <= most:
        yield at
        at = at + 1 if at < sure else -(-at * 3 // 2)


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
