"""Crawl traps, told by the URLs that a crawl is about to ask for: ways in which few pages get very
many URLs. Five kinds, each by what it does and not by the name of a program:

- `loop`: path components that repeat, or more than 96 of them (Ardi, Heidemann 2014, §3.4.1,
  appendix A), as in what pages are counted by;
- `growing`: link after link leads below itself, deeper than sites are laid out;
- `permuted`: the same path with the same parameters in another order, again and again;
- `session`: a page that was asked for already under other session ids;
- `calendar`: a day, a month or a year that lies more than a year ahead, or more dates of one page
  than twenty years have months.

Each URL is judged by itself and by what came before it: a trap never stands for its host. Memory is
bounded: what was not seen for long is forgotten, and then a trap is found anew. Reads no clock.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple, get_args
from urllib.parse import urlsplit

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.prefixes import crawl_trap, prefixes
from reusewatch.streams.steering.reports import TrapFound, recursion
from reusewatch.streams.urls import canonical

Kind = Literal["loop", "growing", "permuted", "session", "calendar"]
KINDS: tuple[str, ...] = get_args(Kind)

# Links in a row of which each leads below itself, and the depth from which that counts.
GROWING_LINKS, GROWING_DEPTH = 10, 12
# Orders of the same parameters that a site may use: its menu's and its form's.
ORDERS = 3
# Session ids under which the same page may be asked for: the crawl's own, and one that was linked.
SESSIONS = 3
# Dates that one page may show.
DATES = 240
_AHEAD_DAYS = 400
_REMEMBERED = 50_000
# Values of all keys together: of dates each page may have hundreds.
_VALUES = 200_000

_SESSION = re.compile(
    r"(?:(?:php|j|asp)?sess(?:ion)?_?id|phpsessid|jsessionid|aspsessionid\w*|sid|zenid|oscsid"
    r"|cfid|cftoken)",
    re.IGNORECASE,
)
_IN_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?;]*", re.IGNORECASE)
_DATED = re.compile(r"(?:date|day|month|year|week|cal(?:endar)?|from|to|start|end)", re.IGNORECASE)
_DAY = re.compile(r"((?:1\d|2\d|9\d)\d{2})-?(?:(0?[1-9]|1[0-2])(?:-?(0?[1-9]|[12]\d|3[01]))?)?")
# A year alone may be any number.
_DAY_PATH = re.compile(r"/((?:1|2|9)\d{3})[/-](0?[1-9]|1[0-2])(?:[/-](0?[1-9]|[12]\d|3[01]))?/?$")

Parameters = list[tuple[str, str]]


class Growing(NamedTuple):
    """How many links in a row led below themselves, and the directory where that began."""

    links: int = 0
    since: str = ""


_NOT = Growing()


class UrlTrap(NamedTuple):
    """A trap by the kind that it is counted under, and what is told of it."""

    kind: Kind
    found: TrapFound


class UrlTraps:
    """Knows a trap when the next of its URLs comes."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._scheme = HashScheme()
        self._orders = _Seen(remembered)
        self._sessions = _Seen(remembered)
        self._dates = _Seen(remembered)

    def find(
        self, url: str, now: datetime, *, growing: Growing = _NOT, own: bool = True
    ) -> UrlTrap | None:
        """The trap that this URL is part of. `growing`: the links below themselves that lead to
        it; `own`: the link stands on the same site. Links of others count for nothing, or a
        stranger's would use up what a page may have before its own site's links come."""
        try:
            page = canonical(url)
        except BadPage:
            return None
        if (trap := crawl_trap(page)) is not None:
            return UrlTrap("loop", recursion(trap, page))
        if growing.links >= GROWING_LINKS and _depth(page) >= GROWING_DEPTH:
            return _trap("growing", _since(growing, page), growing.links, GROWING_LINKS)
        return self._by_what_came(page, now) if own else None

    def _by_what_came(self, page: str, now: datetime) -> UrlTrap | None:
        """The traps that show by the URLs of the same page that came before."""
        parts = urlsplit(page)
        where, given = f"{parts.netloc}{parts.path}", _parameters(parts.query)
        if (orders := self._orders_of(where, given)) > ORDERS:
            return _trap("permuted", page, orders, ORDERS)
        if (sessions := self._sessions_of(where, given)) > SESSIONS:
            return _trap("session", page, sessions, SESSIONS)
        dates = _dates_of(parts.path, given)
        ahead = max((_days_ahead(date, now) for date in dates), default=0)
        if ahead > _AHEAD_DAYS:
            return _trap("calendar", page, ahead, _AHEAD_DAYS)
        if (shown := self._dates_of_page(where, given)) > DATES:
            return _trap("calendar", page, shown, DATES)
        return None

    def _orders_of(self, where: str, given: Parameters) -> int:
        if len(given) < 2:
            return 0
        same = self._hash(where, sorted(given))
        return self._orders.add(same, self._hash(where, given), ORDERS)

    def _sessions_of(self, where: str, given: Parameters) -> int:
        """Which page it is, what names no session says; which session, all else."""
        plain = _IN_PATH.sub("", where)
        rest = [pair for pair in given if not _SESSION.fullmatch(pair[0])]
        if plain == where and len(rest) == len(given):
            return 0
        page = self._hash(plain, rest)
        return self._sessions.add(page, self._hash(where, given), SESSIONS)

    def _dates_of_page(self, where: str, given: Parameters) -> int:
        undated = [(name, "" if _date_in(name, value) else value) for name, value in given]
        if undated == given:
            return 0  # an archive by days has its days in its paths, and as many as it likes
        return self._dates.add(self._hash(where, undated), self._hash(where, given), DATES)

    def _hash(self, where: str, given: Parameters) -> int:
        return self._scheme.of_text("\n".join([where, *(f"{k}={v}" for k, v in given)]))


class _Seen:
    """How many values were seen of each key, and which; of the keys seen last."""

    def __init__(self, most: int, most_values: int = _VALUES) -> None:
        self._most, self._most_values = most, most_values
        self._values: OrderedDict[int, set[int]] = OrderedDict()
        self._count = 0

    def add(self, key: int, value: int, limit: int) -> int:
        """See a value; as which of its key's values it counts. Past the limit none is kept, so
        that a value kept before passes still."""
        values = self._values.setdefault(key, set())
        self._values.move_to_end(key)
        if value in values:
            return 1
        if len(values) < limit:
            values.add(value)
            self._count += 1
            while len(self._values) > self._most or self._count > self._most_values:
                _, forgotten = self._values.popitem(last=False)
                self._count -= len(forgotten)
            return len(values)
        return limit + 1


def grown(before: Growing, parent: str, child: str) -> Growing:
    """What the link from a page to another makes of what led to the page."""
    try:
        # Scrapy keeps URLs without a path, of which everything would seem to lie below.
        above, below = _directory(canonical(parent)), _directory(canonical(child))
    except BadPage:
        return _NOT
    if below == above or not below.startswith(above):
        return _NOT
    if not above.startswith(before.since):
        before = _NOT  # a redirect led elsewhere: what began there says nothing of this place
    return Growing(before.links + 1, before.since or above)


def _since(growing: Growing, page: str) -> str:
    """Where it began; what was noted may be a stranger's, and hides no trap."""
    try:
        return canonical(growing.since)
    except BadPage:
        return page


def _directory(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[0] + "/"


def _depth(url: str) -> int:
    return urlsplit(url).path.count("/")


def _parameters(query: str) -> Parameters:
    return list(_pairs(query))[:64]


def _pairs(query: str) -> Iterator[tuple[str, str]]:
    for part in re.split("[&;]", query):
        if part:
            name, _, value = part.partition("=")
            yield name, value


def _date_in(name: str, value: str) -> re.Match[str] | None:
    return _DAY.fullmatch(value) if _DATED.search(name) else None


def _dates_of(path: str, given: Parameters) -> list[re.Match[str]]:
    dates = [found for name, value in given if (found := _date_in(name, value))]
    shown = _DAY_PATH.search(path)
    return dates if shown is None else [*dates, shown]


def _days_ahead(date: re.Match[str], now: datetime) -> int:
    year, month = int(date[1]), int(date[2] or 1)
    return (year - now.year) * 365 + (month - now.month) * 30


def _trap(kind: Literal["growing", "permuted", "session", "calendar"], url: str, figure: int,
          threshold: int) -> UrlTrap:  # fmt: skip
    """A trap that stands in the directory of a URL."""
    return UrlTrap(kind, TrapFound(prefixes(url)[-1], kind, float(figure), float(threshold)))
