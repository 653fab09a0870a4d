"""What is counted of a page and what is told of a URL prefix: what `Neighborhoods` takes and gives.

No figure is computed here; sums are kept by `prefix_sums`.
"""

from __future__ import annotations

from dataclasses import dataclass

from reusewatch.detector.mean_and_deviation import SHARE_BITS, share
from reusewatch.detector.neighborhoods.prefix_sums import (
    LONGEST_NAMED,
    MOST_LABELS,
    File,
    PrefixSums,
)
from reusewatch.detector.neighborhoods.prefixes import Trap


@dataclass(frozen=True, slots=True)
class PageFacts:
    """A page as neighborhoods count it; chunks are counted after stop-chunk removal."""

    page: int
    url: str
    at: int
    labeled: int
    total: int
    labels: frozenset[str] = frozenset()
    severity: int = 0
    homed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.homed <= self.labeled <= self.total:
            raise ValueError(f"{self.homed} and {self.labeled} of {self.total} chunks are labeled")

    @property
    def file(self) -> File | None:
        """The page as a neighborhood names it, if it is worth a name."""
        if not self.labeled or len(self.url) > LONGEST_NAMED:
            return None
        labels = tuple(sorted(self.labels)[:MOST_LABELS])
        return File(self.page, self.url, share(self.labeled, self.total), labels, self.severity)


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """The figures of one URL prefix. `chunk_ratio` weighs long pages more; badness does not.
    `homed`: the badness by labels with a home; `sure`: that alone makes it bad."""

    prefix: str
    files: int
    badness: float
    labeled: int
    chunks: int
    open: bool
    labels: tuple[str, ...]
    worst: tuple[File, ...] = ()
    homed: float = 0.0
    sure: bool = False

    @property
    def chunk_ratio(self) -> float:
        """Share of all chunks under the prefix that are in L."""
        return self.labeled / self.chunks if self.chunks else 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """What a page changed; `threshold`: by which a prefix was judged, if one was.

    `moved`: open as before, with another figure; `counted`: its figures are the page's now;
    `forgotten`: the page that left for it; `trap`: the page is in none of the figures;
    `new_trap`: report it.
    """

    opened: tuple[Neighborhood, ...] = ()
    closed: tuple[Neighborhood, ...] = ()
    moved: tuple[Neighborhood, ...] = ()
    threshold: float = 0.0
    counted: bool = False
    forgotten: int | None = None
    trap: Trap | None = None
    new_trap: bool = False
    evicted: int = 0


def shown(node: PrefixSums) -> Neighborhood:
    """The figures of a prefix as they are now."""
    return Neighborhood(
        node.prefix, node.files, node.badness / (1 << SHARE_BITS), node.labeled, node.chunks,
        node.open, tuple(sorted(node.labels)), node.worst,
        node.homed // node.files / (1 << SHARE_BITS) if node.files else 0.0, node.sure,
    )  # fmt: skip
