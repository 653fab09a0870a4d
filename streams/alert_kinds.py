"""The alert kinds: one descriptor for each.

A new kind is a descriptor here, the code that finds it, and its test. Everything else reads this
list: the JSON schema, `--kind`, the metric labels, the defaults of steering, the sentences of
`alerts show` and of the HTML, the table of kinds in the documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Severity = Literal["info", "warning", "critical"]
SEVERITIES: tuple[Severity, ...] = ("info", "warning", "critical")
# How a page is treated that a crawl judges before it follows its links.
OnPage = Literal["tag", "drop", "lower", "no-follow"]


class AlertKind(msgspec.Struct, frozen=True, kw_only=True):
    """What is true of every alert of a kind."""

    name: str
    # Of a page, `url` is set and the id knows its content; of a prefix, `prefix` is set.
    subject: Literal["page", "prefix"]
    meaning: str
    # What `figure` and `threshold` count: text that follows the number.
    counts: str
    unit: Literal["pages", "share", "sketches", "phrases", "components"] = "share"
    severity: Severity
    # What makes the severity another than the default.
    raised: str = ""
    # The pages have runs of words in common, which evidence lists.
    runs: Literal["part", "whole"] | None = None
    # An alert that is sent again counts once in the metrics; else each time that it opens.
    counts_once: bool = False
    # A crawl may keep requests out of the prefix.
    steers: bool = False
    # What a crawl does with such a page; empty if a crawl cannot judge this kind by one page alone.
    on_page: tuple[OnPage, ...] = ()


_UNKNOWN = "`info` while the direction is unknown"
_LABEL = "a label may set another"
# Who was fetched first is not who wrote: it never accuses a whole host.
_PROVEN = "`info` unless the source is owned, labeled with a home, or named by the pages"

KINDS: Mapping[str, AlertKind] = {
    kind.name: kind
    for kind in (
        AlertKind(
            name="duplicate", subject="page", unit="pages", severity="warning", raised=_UNKNOWN,
            meaning="The page has exactly the words of another page.",
            counts="pages have these words", counts_once=True,
        ),
        AlertKind(
            name="labeled-page", subject="page", severity="warning", raised=_LABEL,
            meaning="The file is labeled content, byte for byte.",
            counts="of the file is labeled", on_page=("tag", "no-follow"),
        ),
        AlertKind(
            name="labeled-content", subject="page", severity="warning", raised=_LABEL,
            meaning="The page holds labeled content; the evidence says which, and its source.",
            counts="of its chunks are labeled", on_page=("tag", "lower"),
        ),
        AlertKind(
            name="near-duplicate", subject="page", unit="sketches", severity="warning",
            raised=_UNKNOWN, runs="whole", counts_once=True,
            meaning="The page has nearly the words of another page.",
            counts="agreeing supershingles, or bits",
        ),
        AlertKind(
            name="partial-copy", subject="page", severity="warning", raised=_UNKNOWN, runs="part",
            meaning="A part of the page is on another page too, or that page is within this one.",
            counts="of the page's runs of five words, or of the other's, are in both (the larger)",
        ),
        AlertKind(
            name="quilt", subject="page", severity="warning", runs="part",
            raised=f"{_UNKNOWN}, or where the page links to its sources",
            meaning="The page is stitched from parts of several other pages.",
            counts="of the page's runs of five words are on its sources",
        ),
        AlertKind(
            name="phrase-host", subject="prefix", unit="phrases", severity="info",
            meaning="The host's pages consist of popular phrases; the evidence names some of them.",
            counts="of 84 phrases of a page are popular, on average",
        ),
        AlertKind(
            name="mirror-host", subject="prefix", severity="warning", raised=_PROVEN,
            meaning="Most pages of the host have a copy on one other site.",
            counts="of its pages have a copy there", counts_once=True, steers=True,
        ),
        AlertKind(
            name="bad-neighborhood", subject="prefix", severity="warning", raised=_PROVEN,
            meaning="Copied content is frequent under this prefix; evidence names the worst files.",
            counts="of a file's chunks are labeled, on average", steers=True,
        ),
        AlertKind(
            name="discovered-content", subject="page", unit="pages", severity="info",
            meaning="A paragraph or file is on many pages of several sites; this page is one.",
            counts="pages or more have it", counts_once=True,
        ),
        AlertKind(
            name="crawl-trap", subject="prefix", unit="components", severity="warning", steers=True,
            meaning="URLs under this prefix never end; reusewatch counts none of them.",
            counts="components of the path, or repeats of one",
        ),
    )
}  # fmt: skip

STEERING = tuple(sorted(kind.name for kind in KINDS.values() if kind.steers))
"""The kinds that keep requests of a crawl out of a prefix."""
