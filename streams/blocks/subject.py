"""A page of a fingerprint block as verdicts and alerts tell of it: plain values, a tuple."""

from __future__ import annotations

from typing import NamedTuple

from reusewatch.streams.records import Origin


class Subject(NamedTuple):
    """The page that is reported on."""

    page: int
    url: str
    site: str
    host: str
    text: int
    file: int
    start: int
    end: int
    truncated: bool
    overlong: bool
    ip: str | None
    excerpt: str | None
    fetched_us: int
    origin: int = 0
    salvaged: bool = False
    obfuscated: float = 0.0
    # The page that it names as its source, by `rel=canonical`.
    canonical: int | None = None
    came_from: Origin | None = None
