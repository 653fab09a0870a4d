"""Evidence of an alert when somebody asks: both pages read again, aligned, and all of it drawn.

What judging left to whoever asks is shown, and never sent: the alert on the bus stays as it is.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import kernels
from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.console import say
from reusewatch.streams.documents import document_of
from reusewatch.streams.page_text import ReadOrigin
from reusewatch.streams.records import Alert, Donor, EvidenceMissing, Origin, Page
from reusewatch.streams.stages.evidencing import MOST_ROWS, places_of, read_place, told_of

if TYPE_CHECKING:
    from reusewatch.detector.evidence.pairs import Pair

# Pages that a quilt is drawn beside, at most.
_SOURCES = 8


@dataclass(frozen=True, slots=True)
class Shown:
    """An alert with all that can be had; the pages, or why they cannot be drawn."""

    alert: Alert
    pair: Pair | None
    why_not: EvidenceMissing | None
    # The page beside it: the first donor, or the labeled page that most of the evidence is from.
    other: str = ""
    # Of a quilt, the other pages that it is made of, each beside it.
    more: tuple[tuple[str, Pair], ...] = ()
    # What could not be read again: an archive, a tree's page, a topic.
    lost: str = ""


def evident(alert: Alert, read_origin: ReadOrigin, scheme: HashScheme) -> Shown:
    """The alert with the evidence of both its pages, as far as they can be read again."""
    beside = donor_of(alert)
    both = None if beside is None else places_of(replace(alert, donors=(beside,)))
    if beside is None or both is None:
        return _without(alert, "no origin")
    pages = []
    for one in both:
        page = read_place(read_origin, one, scheme)
        if not isinstance(page, Page):
            return dataclasses.replace(_without(alert, page), lost=one.source)
        pages.append(page)
    more = _sources(alert, read_origin, scheme)
    kernels.prepare(say, pages=True)
    from reusewatch.detector.evidence.pages import words_of_pages
    from reusewatch.detector.evidence.pairs import compare

    here, *theirs = words_of_pages(
        [document_of(page) for page in (*pages, *(page for _, page in more))], scheme
    )
    pair, *pairs = (compare(here, there, scheme) for there in theirs)
    if _is_late(alert):
        alert = told_of(alert, pair.told(MOST_ROWS))
    urls = (url for url, _ in more)
    return Shown(alert, pair, None, beside.url, tuple(zip(urls, pairs, strict=True)))


def _sources(alert: Alert, read_origin: ReadOrigin, scheme: HashScheme) -> list[tuple[str, Page]]:
    """What else a quilt is made of, as far as it can be read again; the first donor apart."""
    found = []
    for donor in alert.donors[1:_SOURCES] if alert.kind == "quilt" else ():
        both = places_of(replace(alert, donors=(donor,)))
        page = None if both is None else read_place(read_origin, both[1], scheme)
        if isinstance(page, Page):
            found.append((donor.url, page))
    return found


def _is_late(alert: Alert) -> bool:
    """Whether the evidence may be missing until somebody asks: one source, and runs in common."""
    return KINDS[alert.kind].runs is not None and alert.kind != "quilt"


def donor_of(alert: Alert) -> Donor | None:
    """The page that is shown beside the alert's: its first donor; of labeled content the labeled
    page that most of the evidence is from, as far as it is known where that can be read again."""
    if alert.donors:
        return alert.donors[0]
    bytes_of: dict[tuple[str, Origin, str], int] = {}
    for row in alert.evidence:
        if row.donor and row.donor_origin is not None and row.donor_hash:
            key = row.donor, row.donor_origin, row.donor_hash
            bytes_of[key] = bytes_of.get(key, 0) + (row.end or 0) - (row.start or 0)
    if not bytes_of:
        return None
    url, origin, file_hash = max(bytes_of, key=bytes_of.__getitem__)
    return Donor(url=url, share=0.0, fetched_at=alert.fetched_at, origin=origin,
                 file_hash=file_hash)  # fmt: skip


def _without(alert: Alert, reason: EvidenceMissing) -> Shown:
    # What was made while the pages were there stays.
    late = _is_late(alert) and not alert.evidence
    return Shown(replace(alert, evidence_missing=reason) if late else alert, None, reason)
