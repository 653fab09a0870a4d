"""What is said of a place: the id of its finding, and the alert of a crawl trap.

A trap of repeated path components is told by pages that were fetched, and by requests that were not
sent: as the id is made of kind and prefix alone, both tell the same alert. What requests alone tell
has an id for each kind of trap: of one place each may be true, and one would replace the other.
Needs no stage, so that a crawl host can tell it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

import xxhash

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.prefixes import MOST_COMPONENTS, Trap
from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.records import DETECTOR, Alert, Evidence, Kind, TrapKind
from reusewatch.streams.urls import place

_TIMES = {"loop": 3, "repeated": 5}
_SHOWN = 300
# Told by pages too, which know them by their prefix.
_OF_PAGES = frozenset({"deep", "loop", "repeated"})


@dataclass(frozen=True, slots=True)
class TrapFound:
    """A trap: where it begins, how it is known, and how far over which line it is."""

    prefix: str
    trap: TrapKind
    figure: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Seen:
    """The URL by which something was found, when its page, or the page that links to it, was
    fetched, and when that was found."""

    url: str
    fetched_at: datetime
    now: datetime


def prefix_alert_id(kind: Kind, prefix: str, scheme: HashScheme) -> str:
    """The id under which a finding on a prefix is known."""
    return xxhash.xxh3_128_hexdigest(f"{kind}\n{prefix}".encode(), scheme.key)


def recursion(trap: Trap, url: str) -> TrapFound:
    """A recursion error: how many components the URL has, or how often one is repeated.

    >>> recursion(Trap("http://a.org/", "loop"), "http://a.org/a/b/a/b/a/b/").figure
    3.0
    """
    components = [part for part in urlsplit(url).path.split("/") if part]
    deep = trap.reason == "deep"
    times = len(components) if deep else max(Counter(components).values(), default=0)
    threshold = MOST_COMPONENTS if deep else _TIMES[trap.reason]
    return TrapFound(trap.prefix, trap.reason, float(times), float(threshold))


def trap_alert(found: TrapFound, seen: Seen, scheme: HashScheme) -> Alert:
    """The alert of a trap; the evidence is one of its URLs."""
    what = found.prefix if found.trap in _OF_PAGES else f"{found.prefix}\n{found.trap}"
    return Alert(
        id=prefix_alert_id("crawl-trap", what, scheme),
        kind="crawl-trap",
        severity=KINDS["crawl-trap"].severity,
        url=None,
        prefix=found.prefix,
        site=place(found.prefix, scheme).site,
        figure=found.figure,
        threshold=found.threshold,
        trap=found.trap,
        evidence=(Evidence(url=seen.url[:_SHOWN]),),
        fetched_at=seen.fetched_at,
        detected_at=seen.now,
        detector=DETECTOR,
        scheme=scheme.name,
    )
