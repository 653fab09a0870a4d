"""Quilts and partial copies as users read them: alerts, and what verdicts say of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams.records import Alert, Evidence, Kind, Quilt, Within

if TYPE_CHECKING:
    from reusewatch.detector.window.sightings import Seen
    from reusewatch.streams.stages.quilting import Stitched

_SPANS = 30
"""Patches that are told of one page."""
Known = Callable[[Any], "Seen | None"]
"""The page of a document as the window has it."""


@dataclass(frozen=True, slots=True)
class Said:
    """What was found of a page when it had settled: `own` is told of the page `beside`. With the
    words `text` the page was told as a quilt or a part of another: `told`."""

    quilt: Quilt | None = None
    within: Within | None = None
    beside: int | None = None
    own: float | None = None
    text: int | None = None
    told: tuple[Kind, ...] = ()


NOTHING_SAID = Said()


def quilt_of(found: Stitched, attributed: float) -> Quilt:
    """What the verdict says of a page that is stitched; `attributed` is the share of it from sites
    that it links to."""
    foreign = sum(share for _, share in found.donors)
    return Quilt(
        patch_fraction=round(found.fraction, 3),
        cover=found.sources,
        sources=found.sources,
        foreign=round(min(foreign, 1.0), 3),
        attributed=round(min(attributed, 1.0), 3),
    )


def within_of(found: Stitched, known: Known) -> Within | None:
    """What the verdict says of the page with which this one has most in common."""
    seen = None if found.whole is None else known(found.whole)
    if seen is None:
        return None
    return Within(url=seen.url, here=round(found.here, 3), there=round(found.there, 3))


Made = Callable[..., Alert]
"""Makes the alert of a page, as `reports.page_alert` does, with what is known of all alerts."""


def quilt_alert(found: Stitched, known: Known, rules: QuiltRules, made: Made) -> Alert | None:
    """The alert of a quilt; None where none of its sources is known any more."""
    donors = [(seen, share) for each, share in found.donors if (seen := known(each)) is not None]
    if not donors:
        return None
    # Else a page that was put before the owned ones would hide whose they are.
    donors.sort(key=lambda one: not one[0].owned)
    alert = made("quilt", donors, figure=found.fraction, threshold=rules.theta)
    return _with_patches(alert, found, donors)


def partial_copy_alert(
    found: Stitched, known: Known, rules: QuiltRules, made: Made
) -> Alert | None:
    """The alert of a page that holds a part of another; None where that one is not known."""
    seen = None if found.whole is None else known(found.whole)
    if seen is None:
        return None
    donors, most = [(seen, found.here)], max(found.here, found.there)
    alert = made("partial-copy", donors, figure=most, threshold=rules.partial_share)
    return _with_patches(alert, found, donors)


def _with_patches(alert: Alert, found: Stitched, donors: list[tuple[Seen, float]]) -> Alert:
    urls = {seen.page: seen.url for seen, _ in donors}
    rows = tuple(
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
    )
    return replace(alert, evidence=rows)


def _largest_first(one: tuple[Any, Any]) -> tuple[int, int]:
    _, patch = one
    return -patch.grams, patch.start


def with_other_donors(made: Alert, alert: Alert) -> Alert:
    """An alert with the runs that it has from its first donor, and near places of the others'."""
    if made.evidence_missing is not None or not alert.donors:
        return made
    others = tuple(one for one in alert.evidence if one.donor != alert.donors[0].url)
    return replace(made, evidence=(*made.evidence, *others)) if others else made
