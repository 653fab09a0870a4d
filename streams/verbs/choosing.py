"""Which alerts are shown, and in which order: plain values, made of options.

Knows no bus and prints nothing.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Literal

from reusewatch.streams.records import Alert, Withdrawn
from reusewatch.streams.urls import host_of_url, site_of

Order = Literal["time", "figure"]


@dataclass(frozen=True, slots=True)
class AlertChoice:
    """Which alerts: all of what is given must fit. Times are those of detection."""

    kind: str | None = None
    site: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    severity: str | None = None
    donor: str | None = None
    state: str | None = None

    def may_fit(self, withdrawn: Withdrawn) -> bool:
        """Whether an alert that was withdrawn may have been one of them."""
        return (self.kind is None or withdrawn.kind in (None, self.kind)) and (
            self.since is None or withdrawn.withdrawn_at >= self.since
        )

    def fits(self, alert: Alert) -> bool:
        """Whether the alert is one of them."""
        return (
            (self.kind is None or alert.kind == self.kind)
            and (self.site is None or alert.site == self.site)
            and (self.since is None or alert.detected_at >= self.since)
            and (self.until is None or alert.detected_at <= self.until)
            and (self.severity is None or alert.severity == self.severity)
            and (self.state is None or alert.state == self.state)
            and (self.donor is None or any(is_of(x.url, self.donor) for x in alert.donors))
        )


def is_of(url: str, wanted: str) -> bool:
    """Whether a URL is the one that is wanted, below it, or on that host or site.

    >>> url = "https://www.example.org/a/b"
    >>> [is_of(url, x) for x in ("example.org", "www.example.org", "https://www.example.org/a/")]
    [True, True, True]
    >>> is_of(url, "https://www.example.org/a"), is_of(url, "ample.org")
    (False, False)
    """
    if "://" in wanted:
        return url == wanted or (wanted.endswith("/") and url.startswith(wanted))
    host = host_of_url(url)
    return wanted.lower() in (host, site_of(host))


def in_order(
    alerts: Iterable[Alert], order: Order | None, *, reverse: bool = False, limit: int | None = None
) -> Iterator[Alert]:
    """The first alerts in an order: by `time` the oldest first, by `figure` the highest first.

    Without an order they stay as they come, and with a limit no more than that many are held.
    """
    if order is None and not reverse:
        yield from islice(alerts, limit)
        return
    by_figure = order == "figure"
    sign = -1 if by_figure != reverse else 1

    def key(alert: Alert) -> tuple[float, str]:
        found = alert.figure if by_figure else alert.detected_at.timestamp()
        return sign * found, alert.id

    yield from sorted(alerts, key=key) if limit is None else heapq.nsmallest(limit, alerts, key)
