"""URL prefixes whose pages are copies of others' pages: bad neighborhoods without any label.

The same idea as badness (Ardi, Heidemann 2014, §3.1 step 6), of another figure: the share of the
pages under a prefix that were found to be copies, as a whole or in part, of pages elsewhere. A
prefix is told where its share is surely above the threshold, and as long as it is not well below;
of prefixes within each other the outermost alone.

Sees URLs and which of them are copies; never how that was found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from reusewatch.detector.errors import BadPage
from reusewatch.detector.mean_and_deviation import share, surely_above
from reusewatch.detector.neighborhoods.prefixes import neighborhoods_of

CLOSES_BELOW = 0.8
"""Of the threshold: what is open closes below that, so that it does not flap."""


@dataclass(frozen=True, slots=True)
class Reused:
    """A prefix, its pages, and how many of them are copies."""

    prefix: str
    files: int
    reused: int

    @property
    def share(self) -> float:
        """The share of the pages that are copies."""
        return self.reused / self.files


def counted_prefixes(pages: Iterable[tuple[str, bool]]) -> list[Reused]:
    """All prefixes of these pages with their copies, in order."""
    # By directories first: a crawl has many pages of each.
    directories: dict[tuple[str, ...], list[int]] = {}
    for url, copied in pages:
        count = directories.setdefault(_prefixes(url), [0, 0])
        count[0] += 1
        count[1] += copied
    counts: dict[str, list[int]] = {}
    for touched, (files, reused) in directories.items():
        for prefix in touched:
            count = counts.setdefault(prefix, [0, 0])
            count[0] += files
            count[1] += reused
    return [Reused(prefix, *count) for prefix, count in sorted(counts.items())]


def reused_prefixes(
    pages: Iterable[tuple[str, bool]], *, min_files: int, threshold: float,
    told: Collection[str] = (),
) -> list[Reused]:  # fmt: skip
    """The prefixes that are bad, in order; `told` are those that were so far."""
    bad: list[Reused] = []
    for one in counted_prefixes(pages):
        known = one.prefix in told and one.reused >= threshold * CLOSES_BELOW * one.files
        many = share(one.reused, one.files) * one.files
        new = one.files >= min_files and surely_above(many, one.files, threshold)
        if (known or new) and not (bad and one.prefix.startswith(bad[-1].prefix)):
            bad.append(one)
    return bad


def _prefixes(url: str) -> tuple[str, ...]:
    try:
        return neighborhoods_of(url)[1]
    except BadPage:
        return ()
