"""Specimens: archives, each with what reading it has to yield."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from reusewatch.crawler.archives.reading import Found, Limits, read_archive
from reusewatch.detector.hashing import HashScheme
from tests.crawler.archives.containers import member_each
from tests.crawler.archives.records import html, http, record, response, url

SCHEME = HashScheme()
NOW = datetime(2026, 11, 18, tzinfo=UTC)
FETCHED = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)


def read_all(
    path: object, start: int = 0, limits: Limits | None = None, doubt: int = 0
) -> list[Found]:
    """Every event of an archive."""
    return list(
        read_archive(
            str(path), scheme=SCHEME, limits=limits or Limits(), start=start, doubt=doubt,
            clock=lambda: NOW,
        )
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Specimen:
    """An archive and what is in it: pages by URL, skips by kind, damages by reason."""

    data: bytes
    pages: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    damages: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


def seen(events: Iterable[Found]) -> tuple[tuple[str, ...], dict[str, int], tuple[str, ...]]:
    """Events as a specimen says them."""
    events = list(events)
    return (
        tuple(event.page.url for event in events if event.page),
        dict(Counter(event.skipped for event in events if event.skipped)),
        tuple(event.damage.reason for event in events if event.damage),
    )


A, B, C = url(0), url(1), url(2)


def around(bad: bytes, pack: Callable[[Iterable[bytes]], bytes] = member_each) -> bytes:
    """A sound record, a bad one, a sound one."""
    return pack([response(A), bad, response(C)])


def encoded(body: bytes, encoding: str) -> bytes:
    return record("response", B, http(body, "text/html", f"Content-Encoding: {encoding}"))


def chunked(body: bytes) -> bytes:
    return record("response", B, http(body, "text/html", "Transfer-Encoding: chunked"))


def bad(data: bytes, reason: str, limits: Limits | None = None) -> Specimen:
    """What is between two pages is damaged."""
    return Specimen(data, (A, C), {}, (reason,), limits or Limits())


def fine(data: bytes) -> Specimen:
    """What is between two pages is a page."""
    return Specimen(around(data), (A, B, C))


def skipped(data: bytes, kind: str) -> Specimen:
    """What is between two pages is none."""
    return Specimen(around(data), (A, C), {kind: 1})


PAGE = html("copied words " * 20)
