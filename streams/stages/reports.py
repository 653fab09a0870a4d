"""Findings as users read them: verdicts and alerts, with the evidence.

An alert's id is made of kind, subject and the subject's content, never of donors, figures or
times: found again, by whomever and in whatever order, it is the same alert.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import xxhash
from msgspec.structs import replace

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.streams.alert_kinds import KINDS, SEVERITIES, Severity
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.records import (
    DETECTOR,
    HIDES,
    Alert,
    Direction,
    Donor,
    Evidence,
    Exact,
    Kind,
    NearDuplicate,
    Relation,
    Verdict,
)
from reusewatch.streams.stages.direction import accuses
from reusewatch.streams.stages.quilt_reports import NOTHING_SAID, Said
from reusewatch.streams.times import moment

if TYPE_CHECKING:
    from reusewatch.detector.window.near_rules import Policy
    from reusewatch.detector.window.sightings import Match, Near, Seen
    from reusewatch.streams.origins import Origins
    from reusewatch.streams.stages.labeled import Labeled

# Two pages make a duplicate.
DUPLICATE_THRESHOLD = 2
_BITS = 384


def alert_id(kind: Kind, page: int, content: int, scheme: HashScheme) -> str:
    """The id under which a finding is known."""
    made_of = f"{kind}\n{hex_of(page)}\n{hex_of(content)}"
    return xxhash.xxh3_128_hexdigest(made_of.encode(), scheme.key)


def severity_of(
    severity: Severity, *, overlong: bool, salvaged: bool, harmless: bool = False,
    obfuscated: float = 0.0,
) -> Severity:  # fmt: skip
    """How severe a finding is on such a page.

    What was salvaged may be another page's forgery. Harmless is what is allowed, and where nothing
    says that the page is the copy. A page of more words than are read may have them in front of
    what they hide: one step more. So is one whose words dodge. A download that broke off is no
    trick.

    >>> severity_of("warning", overlong=True, salvaged=False)
    'critical'
    >>> severity_of("info", overlong=False, salvaged=False, obfuscated=0.3)
    'warning'
    """
    if salvaged or harmless:
        return "info"
    step = SEVERITIES.index(severity) + overlong + (obfuscated >= HIDES)
    return SEVERITIES[min(step, len(SEVERITIES) - 1)]


_UNKNOWN = Exact()


def verdict(
    subject: Subject,
    match: Match | None,
    labeled: Labeled,
    scheme: HashScheme,
    *,
    mwo: float | None = None,
    said: Said = NOTHING_SAID,
    popular: int | None = None,
    not_judged: Literal["error-page", "revisit"] | None = None,
) -> Verdict:
    """What is known of a page; without a match, that nothing is."""
    exact, near = _UNKNOWN, None
    if match is not None:
        exact = Exact(file=_url(match.file), text=_url(match.text))
        near = None if match.near is None else _nearest(match.near, mwo, said)
    return Verdict(
        id=hex_of(subject.page),
        url=subject.url,
        site=subject.site,
        fetched_at=moment(subject.fetched_us),
        exact=exact,
        near_duplicate=near,
        quilt=said.quilt,
        within=said.within,
        popular_shingles=popular,
        contains=labeled.contains,
        labeled_grams=None if labeled.grams is None else round(labeled.grams, 4),
        labels=labeled.labels,
        labels_version=labeled.labels_version,
        truncated=subject.truncated,
        not_judged=not_judged,
        salvaged=subject.salvaged,
        obfuscated=round(subject.obfuscated, 4),
        origin=subject.came_from,
        detector=DETECTOR,
        scheme=scheme.name,
    )


def _nearest(near: Near, mwo: float | None, said: Said) -> NearDuplicate:
    own = said.own if said.beside == near.seen.page else None
    return NearDuplicate(
        url=near.seen.url,
        b=near.b,
        c=near.c,
        relation=_relation(near.same_site),
        cluster=hex_of(near.cluster),
        mwo=mwo,
        own=rounded(own),
    )


def duplicate_alert(
    subject: Subject,
    match: Match,
    direction: Direction,
    origins: Origins,
    scheme: HashScheme,
    *,
    harmless: bool,
    now: datetime,
) -> Alert:
    """The alert of a copy, with the first donors. The words of both are the same, all of them: so
    the one run that both have is known without reading either again."""
    first = match.donors[0]
    copied = Evidence(
        start=subject.start, end=subject.end, text=subject.excerpt,
        donor=first.url, donor_start=first.start, donor_end=first.end,
    )  # fmt: skip
    alert = page_alert(
        "duplicate", subject, [(donor, 1.0) for donor in match.donors], direction, origins, scheme,
        now=now, harmless=harmless, figure=match.copies, threshold=DUPLICATE_THRESHOLD,
    )  # fmt: skip
    return replace(alert, evidence=(copied,))


def near_duplicate_alert(
    subject: Subject,
    near: Near,
    direction: Direction,
    policy: Policy,
    origins: Origins,
    scheme: HashScheme,
    *,
    harmless: bool,
    now: datetime,
) -> Alert:
    """The alert of a near-copy: the figure that the policy went by, and both. What was copied, its
    evidence says, which `evidencing` makes."""
    figure, threshold = policy.decided_by(near.b, near.c, same_site=near.same_site)
    return page_alert(
        "near-duplicate", subject, [(near.seen, share_of(near.c))], direction, origins, scheme,
        now=now, harmless=harmless, figure=figure, threshold=threshold, near=near,
    )  # fmt: skip


def share_of(c: int) -> float:
    """About how much of two pages' words is the same: the cosine that C-similarity estimates.

    >>> share_of(384), share_of(372), share_of(192)
    (1.0, 0.995, 0.0)
    """
    return round(max(0.0, math.cos(math.pi * (_BITS - c) / _BITS)), 3)


def page_alert(
    kind: Kind,
    subject: Subject,
    donors: Iterable[tuple[Seen, float]],
    direction: Direction,
    origins: Origins,
    scheme: HashScheme,
    *,
    harmless: bool,
    figure: float,
    threshold: float,
    now: datetime,
    near: Near | None = None,
) -> Alert:
    """The alert of a page and its donors, each with the share of the page that it has."""
    return Alert(
        id=alert_id(kind, subject.page, subject.text, scheme),
        kind=kind,
        severity=severity_of(
            KINDS[kind].severity,
            overlong=subject.overlong,
            salvaged=False,
            harmless=harmless or not accuses(direction),
            obfuscated=subject.obfuscated,
        ),
        direction=direction,
        truncated=subject.truncated,
        obfuscated=round(subject.obfuscated, 4),
        url=subject.url,
        site=subject.site,
        figure=round(float(figure), 3),
        threshold=float(threshold),
        donors=tuple(
            Donor(
                url=d.url,
                share=round(share, 3),
                fetched_at=moment(d.since),
                origin=origins.origin(d.origin),
                file_hash=hex_of(d.file),
            )
            for d, share in donors
        ),
        file_hash=hex_of(subject.file),
        fetched_at=moment(subject.fetched_us),
        detected_at=now,
        detector=DETECTOR,
        scheme=scheme.name,
        origin=subject.came_from,
        page_id=hex_of(subject.page),
        ip=subject.ip,
        b=None if near is None else near.b,
        c=None if near is None else near.c,
        relation=None if near is None else _relation(near.same_site),
        own=None if near is None else rounded(near.own),
    )


def rounded(share: float | None) -> float | None:
    """A share as it is told, where there is one."""
    return None if share is None else round(share, 3)


def _relation(same_site: bool) -> Relation:
    return "same-site" if same_site else "other-site"


def _url(seen: Seen | None) -> str | None:
    return None if seen is None else seen.url
