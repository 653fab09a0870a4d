"""What of the demo's web is to be found, and what was. Whatever is not planted is innocent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reusewatch.crawler.demo.brand import ENDLESS, NOTICE_SITES, STUFFED
from reusewatch.crawler.demo.web import (
    OLDER_SITE,
    OWN_SITE,
    SLICED_SITE,
    DemoPage,
    Role,
    names_its_source,
)
from reusewatch.streams.records import Alert, Kind

LABEL = "alder-bank"
# A paragraph on more pages than these, of so many sites, is common: thresholds of a small web.
DISCOVER_PAGES, DISCOVER_SITES = 6, len(NOTICE_SITES)

_KINDS: dict[Role, tuple[Kind, ...]] = {
    "mirror": ("duplicate",),
    "reformatted": ("duplicate",),
    "renavigated": ("near-duplicate",),
    "restamped": ("near-duplicate",),
    "stitched": ("quilt",),
    "excerpted": ("partial-copy",),
    "lifted": ("labeled-content",),
    "stuffed": ("labeled-content",),
    "stolen": ("labeled-page", "labeled-content"),
}


@dataclass(frozen=True, slots=True)
class Planted:
    """One finding that is to be made, on any of its subjects: URLs, or a prefix."""

    kind: Kind
    subjects: frozenset[str]
    copy_of: str | None = None
    original: str | None = None
    by: str | None = None

    def is_found_by(self, alert: Alert) -> bool:
        """Whether an alert says this: of the right page, with the right original and how
        that is known, or the right label."""
        if alert.kind != self.kind or (alert.url or alert.prefix) not in self.subjects:
            return False
        if alert.kind in ("duplicate", "near-duplicate", "partial-copy"):
            found = alert.direction
            return (
                alert.donors[0].url == self.copy_of and found is not None
                and (found.original, found.by) == (self.original, self.by)
            )  # fmt: skip
        return LABEL in alert.labels or not alert.kind.startswith("labeled")


def planted(pages: Sequence[DemoPage]) -> list[Planted]:
    """The truth about the pages."""
    return list(_planted(pages))


def _planted(pages: Sequence[DemoPage]) -> Iterator[Planted]:
    for page in pages:
        for kind in _KINDS.get(page.role, ()):
            yield Planted(kind, frozenset({page.url}), page.copy_of, *_direction(page))
    yield Planted("bad-neighborhood", frozenset({STUFFED}))
    yield Planted("crawl-trap", frozenset({ENDLESS}))
    yield Planted("phrase-host", frozenset({f"https://{SLICED_SITE}/"}))
    # Whose page was the last one needed depends on the order in which they come.
    yield Planted("discovered-content", frozenset(x.url for x in pages if x.role == "notice"))


def _direction(page: DemoPage) -> tuple[str, str | None]:
    """Where the original of a copy is, and how that is to be known."""
    of = page.copy_of or ""
    if OWN_SITE in of:
        return "there", "owned"
    if OLDER_SITE in of:
        return "there", "first-seen"
    if names_its_source(page.role, of):
        return "there", "declared"
    return "unknown", None


def unplanted(alerts: Iterable[Alert], truth: Sequence[Planted]) -> list[Alert]:
    """Alerts on what is innocent."""
    return [alert for alert in alerts if not any(one.is_found_by(alert) for one in truth)]


def innocent(pages: Iterable[DemoPage]) -> int:
    """Pages that nothing is to be said of."""
    guilty = {*_KINDS, "notice", "endless"}
    return sum(page.role not in guilty for page in pages)
