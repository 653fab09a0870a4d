"""What neighborhoods come to, as users read it: alerts on URL prefixes.

A neighborhood that closes and opens again is one alert: its id is made of kind and prefix alone.

A label without a home does not say where its content comes from: it may have been built from a
thief's copy. So it accuses no host: only where labels with a home are enough by themselves is the
neighborhood more than information.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.neighborhoods.figures import Neighborhood
from reusewatch.streams.alert_kinds import KINDS, SEVERITIES, Severity
from reusewatch.streams.records import DETECTOR, Alert, Direction, Evidence
from reusewatch.streams.stages.direction import AT_HOME
from reusewatch.streams.steering.reports import prefix_alert_id
from reusewatch.streams.urls import place

# A neighborhood is as severe as the labels of its worst files; 0 is what has none.
BY_RANK: tuple[Severity | None, ...] = (None, *SEVERITIES)
RANKS: dict[str | None, int] = {severity: rank for rank, severity in enumerate(BY_RANK)}


@dataclass(frozen=True, slots=True)
class Cause:
    """The page by which something changed, and when that was found."""

    url: str
    fetched_at: datetime
    labels_version: str | None
    now: datetime


def neighborhood_alert(
    found: Neighborhood,
    state: Literal["open", "closed"],
    threshold: float,
    cause: Cause,
    scheme: HashScheme,
) -> Alert:
    """A neighborhood that is bad, or no longer; the evidence are its worst files."""
    severity = max((file.severity for file in found.worst), default=0) if found.sure else 1
    return Alert(
        id=prefix_alert_id("bad-neighborhood", found.prefix, scheme),
        kind="bad-neighborhood",
        state=state,
        severity=BY_RANK[severity] or KINDS["bad-neighborhood"].severity,
        url=None,
        prefix=found.prefix,
        site=place(found.prefix, scheme).site,
        figure=found.homed if found.sure else found.badness,
        direction=AT_HOME if found.sure else Direction(original="unknown"),
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
