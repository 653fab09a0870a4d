"""What neighborhoods come to, as users read it: alerts on URL prefixes.

A neighborhood that closes and opens again is one alert: its id is made of kind and prefix alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

import xxhash

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.neighborhoods import Neighborhood
from reusewatch.detector.neighborhoods.prefixes import MOST_COMPONENTS, Trap
from reusewatch.streams.records import Alert, Evidence, Kind, Severity
from reusewatch.streams.stages.reports import DETECTOR
from reusewatch.streams.urls import place

# A neighborhood is as severe as the labels of its worst files; 0 is what has none.
SEVERITIES: tuple[Severity | None, ...] = (None, "info", "warning", "critical")
RANKS: dict[str | None, int] = {severity: rank for rank, severity in enumerate(SEVERITIES)}
_TIMES = {"loop": 3, "repeated": 5}
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Cause:
    """The page by which something changed, and when that was found."""

    url: str
    fetched_at: datetime
    labels_version: str | None
    now: datetime


def prefix_alert_id(kind: Kind, prefix: str, scheme: HashScheme) -> str:
    """The id under which a finding on a prefix is known."""
    return xxhash.xxh3_128_hexdigest(f"{kind}\n{prefix}".encode(), scheme.key)


def neighborhood_alert(
    found: Neighborhood,
    state: Literal["open", "closed"],
    threshold: float,
    cause: Cause,
    scheme: HashScheme,
) -> Alert:
    """A neighborhood that is bad, or no longer; the evidence are its worst files."""
    severity = max((file.severity for file in found.worst), default=0)
    return Alert(
        id=prefix_alert_id("bad-neighborhood", found.prefix, scheme),
        kind="bad-neighborhood",
        state=state,
        severity=SEVERITIES[severity] or "warning",
        url=None,
        prefix=found.prefix,
        site=place(found.prefix, scheme).site,
        figure=found.badness,
        threshold=threshold,
        labels=found.labels,
        evidence=tuple(
            Evidence(url=file.url, contains=file.contains, label=next(iter(file.labels), None))
            for file in found.worst
        ),
        fetched_at=cause.fetched_at,
        detected_at=cause.now,
        detector=DETECTOR,
        labels_version=cause.labels_version,
        scheme=scheme.name,
        files=found.files,
        chunk_ratio=found.chunk_ratio,
        reused_by="labels",
    )


def trap_alert(trap: Trap, cause: Cause, scheme: HashScheme) -> Alert:
    """A recursion error; the evidence is one of its URLs."""
    components = [part for part in urlsplit(cause.url).path.split("/") if part]
    deep = trap.reason == "deep"
    times = len(components) if deep else max(Counter(components).values(), default=0)
    return Alert(
        id=prefix_alert_id("crawl-trap", trap.prefix, scheme),
        kind="crawl-trap",
        severity="warning",
        url=None,
        prefix=trap.prefix,
        site=place(trap.prefix, scheme).site,
        figure=float(times),
        threshold=float(MOST_COMPONENTS if deep else _TIMES[trap.reason]),
        evidence=(Evidence(url=cause.url[:_SHOWN]),),
        fetched_at=cause.fetched_at,
        detected_at=cause.now,
        detector=DETECTOR,
        scheme=scheme.name,
    )
