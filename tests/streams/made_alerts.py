"""Alerts as the tests of what reads alerts make them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from reusewatch.streams.records import Alert, Donor

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
BAD = "https://bad.example/copies/"


def made(number: int, **given: Any) -> Alert:
    """An alert, number hours after the first."""
    at = BEGAN + timedelta(hours=number)
    whole = {
        "kind": "duplicate", "severity": "warning", "url": f"https://www.a.example/{number}",
        "site": "a.example", "figure": 2.0, "threshold": 2.0,
    }  # fmt: skip
    return Alert(
        id=f"{number:032x}", fetched_at=at, detected_at=at, detector="t", scheme="t",
        **(whole | given),
    )  # fmt: skip


def donors(*urls: str) -> tuple[Donor, ...]:
    return tuple(Donor(url=url, share=1.0, fetched_at=BEGAN) for url in urls)


def bad(number: int = 1, **given: Any) -> Alert:
    """A bad neighborhood, detected number hours after the first."""
    whole = {"url": None, "prefix": BAD, "kind": "bad-neighborhood"}
    return made(number, **(whole | given))
