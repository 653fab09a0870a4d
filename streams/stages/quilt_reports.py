"""Quilts and partial copies as users read them: alerts, and what verdicts say of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.origins import Origins
from reusewatch.streams.records import Alert, Direction, Donor, Evidence, Kind, Quilt, Within
from reusewatch.streams.stages.direction import accuses
from reusewatch.streams.stages.reports import DETECTOR, alert_id, severity_of
from reusewatch.streams.times import moment

if TYPE_CHECKING:
    from reusewatch.detector.window.sightings import Seen
    from reusewatch.streams.stages.quilting import Stitched

_SPANS = 30
"""Patches that are told of one page."""
Known = Callable[[Any], "Seen | None"]
"""The page of a document as the window has it."""


def quilt_of(found: Stitched) -> Quilt:
    """What the verdict says of a page that is stitched."""
    foreign = sum(share for _, share in found.donors)
    return Quilt(
        patch_fraction=round(found.fraction, 3),
        cover=found.sources,
        sources=found.sources,
        foreign=round(min(foreign, 1.0), 3),
        attributed=0.0,
    )


def within_of(found: Stitched, known: Known) -> Within | None:
    """What the verdict says of the page with which this one has most in common."""
    seen = None if found.whole is None else known(found.whole)
    if seen is None:
        return None
    return Within(url=seen.url, here=round(found.here, 3), there=round(found.there, 3))


def quilt_alert(
    found: Stitched,
    known: Known,
    direction_of: Callable[[Seen], Direction],
    rules: QuiltRules,
    scheme: HashScheme,
    *,
    origins: Origins,
    now: datetime,
    harmless: bool,
) -> Alert | None:
    """The alert of a quilt; None where none of its sources is known any more."""
    donors = [(seen, share) for each, share in found.donors if (seen := known(each)) is not None]
    if not donors:
        return None
    return _alert(
        "quilt", found, donors, known, direction_of(donors[0][0]), scheme, now=now,
        figure=found.fraction, threshold=rules.theta, harmless=harmless,
        origins=origins,
    )  # fmt: skip


def partial_copy_alert(
    found: Stitched,
    known: Known,
    direction_of: Callable[[Seen], Direction],
    rules: QuiltRules,
    scheme: HashScheme,
    *,
    origins: Origins,
    now: datetime,
    harmless: bool,
) -> Alert | None:
    """The alert of a page that holds a part of another; None where that one is not known."""
    seen = None if found.whole is None else known(found.whole)
    if seen is None:
        return None
    return _alert(
        "partial-copy", found, [(seen, found.here)], known, direction_of(seen), scheme, now=now,
        figure=max(found.here, found.there), threshold=rules.partial_share, harmless=harmless,
        origins=origins,
    )  # fmt: skip


def _alert(
    kind: Kind,
    found: Stitched,
    donors: list[tuple[Seen, float]],
    known: Known,
    direction: Direction,
    scheme: HashScheme,
    *,
    figure: float,
    threshold: float,
    origins: Origins,
    harmless: bool,
    now: datetime,
) -> Alert:
    subject: Subject = found.subject
    urls = {seen.page: seen.url for seen, _ in donors}
    return Alert(
        id=alert_id(kind, subject.page, subject.text, scheme),
        kind=kind,
        severity=severity_of(
            "warning",
            overlong=subject.overlong,
            salvaged=False,
            harmless=harmless or not accuses(direction),
            obfuscated=subject.obfuscated,
        ),
        direction=direction,
        obfuscated=round(subject.obfuscated, 4),
        origin=subject.came_from,
        url=subject.url,
        site=subject.site,
        figure=round(figure, 3),
        threshold=threshold,
        donors=tuple(
            Donor(
                url=seen.url,
                share=round(share, 3),
                fetched_at=moment(seen.since),
                origin=origins.origin(seen.origin),
                file_hash=hex_of(seen.file),
            )
            for seen, share in donors
        ),
        evidence=tuple(
            Evidence(
                start=patch.start,
                end=patch.end,
                donor=urls[int(document["page"])],
                donor_start=patch.donor_start,
                donor_end=patch.donor_end,
                approximate=True,
            )
            for document, patch in sorted(found.patches, key=_largest_first)[:_SPANS]
            if int(document["page"]) in urls
        ),
        file_hash=hex_of(subject.file),
        fetched_at=moment(subject.fetched_us),
        detected_at=now,
        detector=DETECTOR,
        scheme=scheme.name,
        page_id=hex_of(subject.page),
        ip=subject.ip,
        truncated=subject.truncated,
    )


def _largest_first(one: tuple[Any, Any]) -> tuple[int, int]:
    _, patch = one
    return -patch.grams, patch.start


def with_other_donors(made: Alert, alert: Alert) -> Alert:
    """An alert with the runs that it has from its first donor, and near places of the others'."""
    if made.evidence_missing is not None or not alert.donors:
        return made
    others = tuple(one for one in alert.evidence if one.donor != alert.donors[0].url)
    return replace(made, evidence=(*made.evidence, *others))
