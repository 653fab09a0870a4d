"""What was to be found on the demo's local web, beside what was found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from reusewatch.crawler.demo.local_web import Finding, LocalWeb, name_of
from reusewatch.streams.records import Alert

# Of a page in another frame it is told which part it has of the other, or that both are near.
_COPIED = {"partial-copy": "near-duplicate"}
# Which of two hosts with the same pages came later is chance.
_ON_EITHER = frozenset({"duplicate", "labeled-content"})


def findings(alerts: Iterable[Alert]) -> frozenset[Finding]:
    """Alerts as the web says them."""
    found = {_finding(alert) for alert in alerts if alert.state == "open"}
    hoods = {subject for kind, subject in found if kind == "bad-neighborhood"}
    # What is above a bad place is bad by it.
    above = {one for one in hoods for other in hoods if other != one and other.startswith(one)}
    return frozenset(found - {("bad-neighborhood", one) for one in above})


def _finding(alert: Alert) -> Finding:
    kind = _COPIED.get(alert.kind, alert.kind)
    if kind == "mirror-host":
        return kind, ""
    if alert.url is None:
        return kind, alert.prefix or ""
    path = urlsplit(alert.url).path
    return kind, path if kind in _ON_EITHER else name_of(path)


def compared(web: LocalWeb, alerts: Iterable[Alert]) -> list[dict[str, Any]]:
    """For each kind how much was to be found, how much of it was, and what else."""
    wanted, found = web.wanted(), findings(alerts)
    return [
        {
            "kind": kind,
            "there": sum(one[0] == kind for one in wanted),
            "found": sum(one[0] == kind for one in wanted & found),
            "else": sum(one[0] == kind for one in found - wanted),
        }
        for kind in sorted({one[0] for one in wanted | found})
    ]
