"""Findings as users read them: verdicts and alerts, with the evidence.

An alert's id is made of kind, subject and the subject's content, never of donors, figures or
times: found again, by whomever and in whatever order, it is the same alert.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version

import xxhash

from detector.duplicates import Match, Seen
from detector.hashing import HashScheme, hex_of
from streams.records import Alert, Donor, Evidence, Exact, Kind, Verdict

DETECTOR = f"reusewatch/{version('reusewatch')}"
_EPOCH = datetime.fromtimestamp(0, UTC)
# Two pages make a duplicate.
DUPLICATE_THRESHOLD = 2


@dataclass(frozen=True, slots=True)
class Subject:
    """The page that is reported on."""

    page: int
    url: str
    site: str
    fetched_us: int
    text: int
    start: int
    end: int
    excerpt: str | None = None
    truncated: bool = False
    ip: str | None = None


def alert_id(kind: Kind, page: int, content: int, scheme: HashScheme) -> str:
    """The id under which a finding is known."""
    made_of = f"{kind}\n{hex_of(page)}\n{hex_of(content)}"
    return xxhash.xxh3_128_hexdigest(made_of.encode(), scheme.key)


def at_us(moment: datetime) -> int:
    """Microseconds since the epoch, exactly."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(us: int) -> datetime:
    """The other way."""
    return _EPOCH + timedelta(microseconds=us)


def verdict(subject: Subject, match: Match, scheme: HashScheme) -> Verdict:
    """What is known of a page."""
    return Verdict(
        id=hex_of(subject.page),
        url=subject.url,
        site=subject.site,
        fetched_at=moment(subject.fetched_us),
        exact=Exact(file=_url(match.file), text=_url(match.text)),
        truncated=subject.truncated,
        detector=DETECTOR,
        scheme=scheme.name,
    )


def duplicate_alert(
    subject: Subject, match: Match, scheme: HashScheme, *, same_site: bool, now: datetime
) -> Alert:
    """The alert of a copy: the whole page is the span, the earliest donors the evidence."""
    donor = match.donors[0]
    return Alert(
        id=alert_id("duplicate", subject.page, subject.text, scheme),
        kind="duplicate",
        severity="info" if same_site else "warning",
        url=subject.url,
        site=subject.site,
        figure=float(max(match.copies, DUPLICATE_THRESHOLD)),
        threshold=float(DUPLICATE_THRESHOLD),
        donors=tuple(Donor(url=d.url, share=1.0, fetched_at=moment(d.first)) for d in match.donors),
        evidence=(
            Evidence(
                start=subject.start,
                end=subject.end,
                text=subject.excerpt,
                donor=donor.url,
                donor_start=donor.start,
                donor_end=donor.end,
            ),
        ),
        fetched_at=moment(subject.fetched_us),
        detected_at=now,
        detector=DETECTOR,
        scheme=scheme.name,
        page_id=hex_of(subject.page),
        ip=subject.ip,
    )


def _url(seen: Seen | None) -> str | None:
    return None if seen is None else seen.url
