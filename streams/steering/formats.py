r"""Prefixes as the filters of other crawlers read them.

Each format is a fact about its reader:

- `surt`: Heritrix 3, `commons/…/util/SurtPrefixSet.java` and `modules/…/deciderules/surt/
  SurtPrefixedDecideRule.java`. A rule that REJECTs takes `-` lines of a seeds file as prefixes. One
  with a `(` is taken as it is, in lower case; https candidates are compared as http, so it must
  say http. `SURT.java` reverses the host, with a comma behind each part, but no IP address.
- `nutch`: `src/plugin/urlfilter-fast/…/FastURLFilter.java`. `Host` blocks; the expression behind
  `DenyPath` is searched in the path. A line ends at `#`, the expression at white space.
- `stormcrawler`: `core/…/filtering/regex/FastURLFilter.java`. The same as JSON; a later scope of
  the same host replaces the earlier, so that there is one for each.
- `browsertrix`: browsertrix-crawler, `src/util/state.ts` (`processMessage`) and `seeds.ts`
  (`addExclusion`): an object for a crawler's Redis list `UID:msg`, whose regex is JavaScript's.
- `robots`: RFC 9309, §2.2.2 and §2.2.3; a group for each host, since each host has a file.

A prefix is a stranger's text: what a format cannot say unchanged is percent-encoded, what it
cannot say at all is refused. Knows no bus and writes no file.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import quote

import msgspec

Format = Literal["prefixes", "surt", "nutch", "stormcrawler", "browsertrix", "robots"]
FORMATS: tuple[str, ...] = get_args(Format)

_PLACE = re.compile(
    r"(https?)://((?:[a-z0-9_-]+\.)*[a-z0-9_-]+\.?|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?(/.*)?",
    re.IGNORECASE | re.DOTALL,
)
_QUAD = re.compile(r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}")
# What URLs have in their paths as it is. All else (white space, `#`, quotes, `\`, letters of other
# scripts) would end a line, begin a comment, or be compared with its percent-encoded self.
_PLAIN = "/:@!$&'()*+,;=~%[]|^"
_META = re.compile(r"([.^$*+?()\[\]{}|\\])")
_DEFAULT_PORTS = {"http": "80", "https": "443"}


class Refused(ValueError):
    """A prefix that a format cannot say."""


@dataclass(frozen=True, slots=True)
class Place:
    """The parts of a prefix. `port` is empty where it is the scheme's own."""

    scheme: str
    host: str
    port: str
    path: str

    @classmethod
    def of(cls, prefix: str) -> Place:
        """The place of a URL prefix. Raises Refused.

        >>> Place.of("http://H.example:80/a b/")
        Place(scheme='http', host='h.example', port='', path='/a%20b/')
        """
        found = _PLACE.fullmatch(prefix)
        if found is None:
            raise Refused("not a URL of a host")
        scheme, host, port, path = found[1].lower(), found[2].lower(), found[3] or "", found[4]
        if port == _DEFAULT_PORTS[scheme]:
            port = ""
        # A page's URL may hold half of a surrogate pair: replaced, it matches nothing.
        return cls(scheme, host, port, quote(path or "/", safe=_PLAIN, errors="replace"))

    @property
    def authority(self) -> str:
        """Host and port, as in a URL."""
        return f"{self.host}:{self.port}" if self.port else self.host

    @property
    def url(self) -> str:
        """The prefix."""
        return f"{self.scheme}://{self.authority}{self.path}"


@dataclass(frozen=True, slots=True)
class Written:
    """The text for a format, how many prefixes it says, and how many it cannot say."""

    text: str
    said: int
    refused: int


def written(prefixes: Iterable[str], form: Format) -> Written:
    """The prefixes in a format, without those below others."""
    places, refused = _places(prefixes, _ALLOWED.get(form, _any))
    text = "".join(f"{line}\n" for line in _LINES[form](places))
    return Written(text, len(places), refused)


def _places(prefixes: Iterable[str], allowed: Callable[[Place], None]) -> tuple[list[Place], int]:
    found, refused = {}, 0
    for prefix in prefixes:
        try:
            place = Place.of(prefix)
            allowed(place)
        except Refused:
            refused += 1
        else:
            found[place.url] = place
    least: list[Place] = []
    for url in sorted(found):  # a prefix comes before what begins with it
        if not (least and url.startswith(least[-1].url)):
            least.append(found[url])
    return least, refused


def _any(place: Place) -> None:
    """Every place can be said."""


def _no_port(place: Place) -> None:
    # The filter does not look at ports: the rule would hold for another server of the host.
    if place.port:
        raise Refused("the filter knows no ports")


def surt(place: Place) -> str:
    """The SURT prefix of a place.

    >>> surt(Place.of("https://www.Example.org:8443/A/"))
    'http://(org,example,www,:8443)/a/'
    >>> surt(Place.of("http://10.0.0.1/"))
    'http://(10.0.0.1)/'
    """
    host = place.host
    if not _QUAD.fullmatch(host):
        host = "".join(f"{part}," for part in reversed(host.rstrip(".").split(".")))
    port = f":{place.port}" if place.port else ""
    return f"http://({host}{port}){place.path}".lower()


def _beginning(path: str) -> str:
    """The expression that finds paths that begin so, in Java's and JavaScript's language."""
    return "^" + _META.sub(r"\\\1", path)


def _denied(place: Place) -> str:
    # A URL may have no path at all, which has no slash at its beginning.
    return "DenyPath " + (".*" if place.path == "/" else _beginning(place.path))


def _by_host(places: Iterable[Place]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for place in places:
        rule = _denied(place)
        if rule not in found[place.host]:  # http and https are one host here
            found[place.host].append(rule)
    return found


def _plain_lines(places: list[Place]) -> Iterator[str]:
    return (place.url for place in places)


def _surt_lines(places: list[Place]) -> Iterable[str]:
    return dict.fromkeys(f"-{surt(place)}" for place in places)


def _nutch_lines(places: list[Place]) -> Iterator[str]:
    for host, rules in _by_host(places).items():
        yield f"Host {host}"
        yield from (f"  {rule}" for rule in rules)


def _stormcrawler_lines(places: list[Place]) -> Iterator[str]:
    rules = [
        {"scope": f"host:{host}", "patterns": patterns}
        for host, patterns in _by_host(places).items()
    ]
    yield _json({"rules": rules})


def _browsertrix_lines(places: list[Place]) -> Iterator[str]:
    for place in places:
        origin = _META.sub(r"\\\1", f"{place.scheme}://{place.authority}")
        path = _beginning(place.path).removeprefix("^")
        yield _json({"type": "addExclusion", "regex": f"^{origin}{path}"})


def _robots_lines(places: list[Place]) -> Iterator[str]:
    by_origin: dict[str, list[str]] = defaultdict(list)
    for place in places:
        # Both mean something in a rule; percent-encoded they are themselves (§2.2.3).
        path = place.path.replace("*", "%2A").replace("$", "%24")
        by_origin[f"{place.scheme}://{place.authority}"].append(path)
    for origin, paths in by_origin.items():
        yield f"# {origin}/robots.txt"
        yield "User-agent: *"
        yield from (f"Disallow: {path}" for path in paths)
        yield ""


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


_ALLOWED = {"nutch": _no_port, "stormcrawler": _no_port}
_LINES: dict[str, Callable[[list[Place]], Iterable[str]]] = {
    "prefixes": _plain_lines,
    "surt": _surt_lines,
    "nutch": _nutch_lines,
    "stormcrawler": _stormcrawler_lines,
    "browsertrix": _browsertrix_lines,
    "robots": _robots_lines,
}
