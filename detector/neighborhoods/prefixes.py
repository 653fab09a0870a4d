"""URL prefixes: the neighborhoods of a page, and the traps that no page should be counted in.

Every directory from the host down is a neighborhood (Ardi, Heidemann 2014, §3.3). A loop in the
web graph, or in a server's links, gives one file many URLs and skews every figure: recursion errors
(§3.4.1, appendix A) are told by repeated path components, and by more than 96 of them. Takes URLs
as `streams` canonicalizes them; never resolves or fetches one.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

MOST_COMPONENTS = 96
LONGEST_PREFIX = 2048
_HOST = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://[^/?#]*")
_LOOPS = 3  # times that a run of components stands in a row: once more than any site means to
_SHORT = 2  # characters: `/0/0/0/` is how storage is laid out, `/img/img/img/` is a loop
_SHORT_LOOPS = 5
_OCCURRENCES = 5
DIRECTORIES = 4096  # a crawl takes many pages of a directory, and they come near each other


@dataclass(frozen=True, slots=True)
class Trap:
    """A recursion error: where it begins, and what it looks like."""

    prefix: str
    reason: Literal["deep", "loop", "repeated"]


class Directory(NamedTuple):
    """What all pages of a directory share, its neighborhoods with the host last; `trapped`: each of
    the pages has to be looked at, else those whose name is one of the components."""

    touched: tuple[str, ...]
    components: frozenset[str]
    trapped: bool


def prefixes(url: str) -> list[str]:
    """Every neighborhood of a page, its host first. A prefix is cut at 2048 characters: what is
    deeper than that has its neighborhoods further up.

    >>> prefixes("http://arxiv.org/archive/physics/?x=/y/")
    ['http://arxiv.org/', 'http://arxiv.org/archive/', 'http://arxiv.org/archive/physics/']
    >>> prefixes("http://arxiv.org")
    ['http://arxiv.org/']
    """
    directory, _ = _cut(url)
    return list(_directory(directory).touched[::-1]) if directory else _prefixes(url)


def neighborhoods_of(url: str) -> tuple[Trap | None, tuple[str, ...]]:
    """The recursion error that a URL is part of, or else its neighborhoods, its host last: both by
    one look, since each page of a crawl is asked for. Pages of one directory that come near each
    other are given one and the same tuple.

    >>> neighborhoods_of("http://arxiv.org/archive/x?y")
    (None, ('http://arxiv.org/archive/', 'http://arxiv.org/'))
    """
    directory, name = _cut(url)
    if directory:
        known = _directory(directory)
        if not known.trapped and name not in known.components:
            return None, known.touched
    trap = _crawl_trap(url)
    return trap, () if trap is not None else tuple(prefixes(url)[::-1])


def directory_of(url: str) -> tuple[str, Directory | None]:
    """The directory of a URL, and what its pages share; nothing where each has to be looked at."""
    directory, _ = _cut(url)
    known = _directory(directory) if directory else None
    return directory, None if known is None or known.trapped else known


def _prefixes(url: str) -> list[str]:
    host, path = _split(url)
    found, end = [f"{host}/"], path.find("/", 1)
    while end >= 0 and len(host) + end < LONGEST_PREFIX:
        found.append(host + path[: end + 1])
        end = path.find("/", end + 1)
    return found


def _cut(url: str) -> tuple[str, str]:
    """Directory and file name; of a URL that is unusual, nothing."""
    path = url.partition("?")[0].partition("#")[0]
    end = path.rfind("/") + 1
    if not 0 < end <= LONGEST_PREFIX or path[end - 2 : end] == "//":
        return "", ""
    return path[:end], path[end:]


@lru_cache(DIRECTORIES)
def _directory(url: str) -> Directory:
    components = _split(url)[1].split("/")[1:-1]
    distinct = frozenset(components)
    # With a file name, there is one component more.
    trapped = len(distinct) < len(components) or len(components) >= MOST_COMPONENTS
    return Directory(tuple(_prefixes(url)[::-1]), distinct, trapped)


def crawl_trap(url: str) -> Trap | None:
    """The recursion error that a URL is part of.

    >>> crawl_trap("http://a.org/x/a/b/a/b/a/b/c.html")
    Trap(prefix='http://a.org/x/', reason='loop')
    >>> crawl_trap("http://a.org/2014/01/01/01.html")
    """
    directory, name = _cut(url)
    if directory:
        known = _directory(directory)
        if not known.trapped and name not in known.components:
            return None
    return _crawl_trap(url)


def _crawl_trap(url: str) -> Trap | None:
    host, path = _split(url)
    components = path.split("/")[1:]
    if components and not components[-1]:
        components.pop()
    if len(components) > MOST_COMPONENTS:
        return Trap(f"{host}/", "deep")
    if len(set(components)) == len(components):
        return None
    for begin, reason in ((_loop(components), "loop"), (_repeated(components), "repeated")):
        if begin is not None:
            before = "".join(f"{component}/" for component in components[:begin])
            return Trap(f"{host}/{before}"[:LONGEST_PREFIX], reason)  # type: ignore[arg-type]
    return None


def _split(url: str) -> tuple[str, str]:
    """Scheme with host, and path."""
    host = _HOST.match(url)
    end = host.end() if host else 0
    rest = re.split("[?#]", url[end:], maxsplit=1)[0]
    return url[:end], rest or "/"


def _loop(components: list[str]) -> int | None:
    """Where a run of components begins that stands several times in a row."""
    for period in range(1, len(components) // _LOOPS + 1):
        matching = 0
        for at in range(period, len(components)):
            matching = matching + 1 if components[at] == components[at - period] else 0
            begin = at - period - matching + 1
            if matching >= period * (_loops(components[begin : begin + period]) - 1):
                return begin
    return None


def _loops(run: list[str]) -> int:
    return _SHORT_LOOPS if len(set(run)) == 1 and len(run[0]) <= _SHORT else _LOOPS


def _repeated(components: list[str]) -> int | None:
    """Where a component first stands that is there again and again, though not in a row."""
    counts = Counter(component for component in components if len(component) > _SHORT)
    often = [component for component, times in counts.items() if times >= _OCCURRENCES]
    return min(map(components.index, often), default=None)
