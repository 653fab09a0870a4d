"""Bad neighborhoods: URL prefixes under which copied content is frequent (Ardi, Heidemann 2014,
§3.1 step 6, §3.3).

badness(N) is the mean of contains over the files of N, after stop chunks are taken out; every
directory from the host down is a neighborhood. A page without chunks left says nothing and is no
file of N: else empty pages would hide a bad one. Recursion errors are in no figure.

A neighborhood opens when its badness crosses the threshold with enough files, and closes when it
falls well below; in between it is not reported again. Figures are the same whatever the order of
pages; when a neighborhood opens or closes hangs on the order, since the threshold is of its time.
After prefixes were evicted, figures are of the pages since they came back.

Reads no clock and matches no chunks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from detector.prefixes import Trap, crawl_trap, prefixes
from detector.seen_pages import Contribution, SeenPages
from detector.text_column import packed, unpacked
from detector.thresholds import PAPER_NEIGHBORHOODS, PAPER_PAGES, Moments, Threshold, share

OF_NEIGHBORHOODS, OF_PAGES = Threshold(PAPER_NEIGHBORHOODS), Threshold(PAPER_PAGES)
_MOST_LABELS = 8
_ONE = float(1 << 32)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """A page as neighborhoods count it; chunks are counted after stop-chunk removal."""

    page: int
    url: str
    at: int
    labeled: int
    total: int
    labels: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not 0 <= self.labeled <= self.total:
            raise ValueError(f"{self.labeled} of {self.total} chunks cannot be labeled")


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """The figures of one URL prefix. `chunk_ratio` weighs long pages more; badness does not."""

    prefix: str
    files: int
    badness: float
    labeled: int
    chunks: int
    open: bool
    labels: tuple[str, ...]

    @property
    def chunk_ratio(self) -> float:
        """Share of all chunks under the prefix that are in L."""
        return self.labeled / self.chunks if self.chunks else 0.0


@dataclass(frozen=True, slots=True)
class Change:
    """What a page changed. `trap`: the page is in none of the figures; `new_trap`: report it."""

    opened: tuple[Neighborhood, ...] = ()
    closed: tuple[Neighborhood, ...] = ()
    threshold: float = 0.0
    trap: Trap | None = None
    new_trap: bool = False
    evicted: int = 0


@dataclass(slots=True)
class _Node:
    """A prefix's sums; `born` is the turn at which it came into the table."""

    born: int
    files: int = 0
    shares: int = 0
    labeled: int = 0
    chunks: int = 0
    open: bool = False
    labels: frozenset[str] = field(default_factory=frozenset)

    @property
    def badness(self) -> int:
        """Mean of contains, as a whole number of 2^-32."""
        return self.shares // self.files if self.files else 0

    def count(self, added: Contribution, times: int) -> None:
        """Count a page's chunks in, or out again."""
        if added.total:
            self.files += times
            self.shares += times * share(added.labeled, added.total)
            self.labeled += times * added.labeled
            self.chunks += times * added.total


class Neighborhoods:
    """The prefixes of a crawl. `match` is pure; `add` counts a page."""

    def __init__(
        self,
        *,
        max_prefixes: int = 200_000,
        max_pages: int = 1_000_000,
        min_files: int = 10,
        threshold: Threshold = OF_NEIGHBORHOODS,
        page_threshold: Threshold = OF_PAGES,
        closes_below: float = 0.8,
    ) -> None:
        self._max_prefixes = max_prefixes
        self._min_files = min_files
        self._threshold = threshold
        self._page_threshold = page_threshold
        self._closes_below = closes_below
        self._nodes: OrderedDict[str, _Node] = OrderedDict()
        self._left_open: OrderedDict[str, None] = OrderedDict()
        self._traps: OrderedDict[str, None] = OrderedDict()
        self._seen = SeenPages(max_pages)
        self._turn = 0
        self.pages = Moments()
        self.neighborhoods = Moments()
        self.trapped = 0
        self.evicted = 0

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def threshold(self) -> float:
        """Above which badness a neighborhood is bad."""
        return self._threshold.of(self.neighborhoods)

    @property
    def page_threshold(self) -> float:
        """Above which ratio a page is a partial target (step 5)."""
        return self._page_threshold.of(self.pages)

    @property
    def forgotten(self) -> int:
        """Pages whose contribution is no longer known: seen again, they count as another file."""
        return self._seen.forgotten

    def match(self, url: str) -> list[Neighborhood]:
        """The neighborhoods of a URL that are known, the host's first."""
        return [self._shown(p, self._nodes[p]) for p in prefixes(url) if p in self._nodes]

    def top(self, count: int, *, under: str = "") -> list[Neighborhood]:
        """The worst neighborhoods, worst first; ties by prefix."""
        found = (
            item for item in self._nodes.items() if item[0].startswith(under) and item[1].files
        )
        worst = nlargest(count, sorted(found), key=lambda item: item[1].badness)
        return [self._shown(prefix, node) for prefix, node in worst]

    def add(self, page: PageFacts) -> Change:
        """Count a page in every neighborhood that it is in; again, it replaces what it was."""
        trap = crawl_trap(page.url)
        if trap is not None:
            return self._caught(trap)
        new = Contribution(page.at, page.labeled, page.total, self._turn)
        old = self._seen.get(page.page)
        if old is not None and not new.newer_than(old):
            return Change(threshold=self.threshold)
        self._seen.put(page.page, new)
        self._count_page(old, new)
        # The host last: of a page's prefixes, the deepest is the first to leave.
        touched = prefixes(page.url)[::-1]
        for prefix in touched:
            self._count(prefix, page.labels, old, new)
        self._turn += 1
        return self._judge(touched)

    def _caught(self, trap: Trap) -> Change:
        self.trapped += 1
        new = trap.prefix not in self._traps
        self._traps[trap.prefix] = None
        self._traps.move_to_end(trap.prefix)
        if len(self._traps) > self._max_prefixes:
            self._traps.popitem(last=False)
        return Change(trap=trap, new_trap=new, threshold=self.threshold)

    def _count_page(self, old: Contribution | None, new: Contribution) -> None:
        if old is not None and old.total:
            self.pages.remove(share(old.labeled, old.total))
        if new.total:
            self.pages.add(share(new.labeled, new.total))

    def _count(
        self, prefix: str, labels: frozenset[str], old: Contribution | None, new: Contribution
    ) -> None:
        node = self._nodes.get(prefix)
        if node is None:
            node = self._nodes[prefix] = _Node(self._turn, open=prefix in self._left_open)
            self._left_open.pop(prefix, None)
        else:
            self._nodes.move_to_end(prefix)
            if node.files:
                self.neighborhoods.remove(node.badness)
        # What was counted before the prefix was evicted is not in its sums any more.
        if old is not None and old.turn >= node.born:
            node.count(old, -1)
        node.count(new, 1)
        if labels - node.labels:
            node.labels = frozenset(sorted(node.labels | labels)[:_MOST_LABELS])
        if node.files:
            self.neighborhoods.add(node.badness)

    def _judge(self, touched: list[str]) -> Change:
        threshold = self.threshold
        opened, closed = [], []
        for prefix in touched:
            node = self._nodes[prefix]
            badness = node.badness / _ONE
            if not node.open and node.files >= self._min_files and badness > threshold:
                node.open = True
                opened.append(self._shown(prefix, node))
            elif node.open and node.files and badness < threshold * self._closes_below:
                node.open = False
                closed.append(self._shown(prefix, node))
        return Change(tuple(opened), tuple(closed), threshold, evicted=self._evict())

    def _evict(self) -> int:
        """The prefixes seen longest ago leave; those that are open are remembered as such."""
        count = 0
        while len(self._nodes) > self._max_prefixes:
            prefix, node = self._nodes.popitem(last=False)
            if node.files:
                self.neighborhoods.remove(node.badness)
            if node.open:
                self._left_open[prefix] = None
                if len(self._left_open) > self._max_prefixes:
                    self._left_open.popitem(last=False)
            count += 1
        self.evicted += count
        return count

    def _shown(self, prefix: str, node: _Node) -> Neighborhood:
        return Neighborhood(
            prefix, node.files, node.badness / _ONE, node.labeled, node.chunks, node.open,
            tuple(sorted(node.labels)),
        )  # fmt: skip

    def __iter__(self) -> Iterator[Neighborhood]:
        return (self._shown(prefix, node) for prefix, node in self._nodes.items())

    def save(self) -> dict[str, NDArray[Any]]:
        """All state as arrays: what a restored one does next is what this one would have done."""
        nodes = [
            (n.born, n.files, n.shares, n.labeled, n.chunks, n.open) for n in self._nodes.values()
        ]
        facts = [self._turn, self.trapped, self.evicted, self._seen.forgotten,
                 self.pages.total, self.pages.count]  # fmt: skip
        return {
            "nodes": np.array(nodes, np.int64).reshape(-1, 6),
            "prefixes": packed(self._nodes),
            "labels": packed("\t".join(sorted(n.labels)) for n in self._nodes.values()),
            "left_open": packed(self._left_open),
            "traps": packed(self._traps),
            "facts": np.array(facts, np.int64),
            "page_squares": np.frombuffer(self.pages.squares.to_bytes(24, "little"), np.uint8),
            **{f"page_{name}": column for name, column in self._seen.save().items()},
        }

    def restore(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `save` gave."""
        self._turn, self.trapped, self.evicted, forgotten, total, count = saved["facts"].tolist()
        squares = int.from_bytes(saved["page_squares"].tobytes(), "little")
        self.pages, self.neighborhoods = Moments(count, total, squares), Moments()
        columns = saved["prefixes"], saved["nodes"], saved["labels"]
        self._nodes = OrderedDict(_nodes(*columns))
        for node in self._nodes.values():
            if node.files:
                self.neighborhoods.add(node.badness)
        self._left_open = OrderedDict.fromkeys(unpacked(saved["left_open"]))
        self._traps = OrderedDict.fromkeys(unpacked(saved["traps"]))
        columns_of_pages = ("page", "at", "labeled", "total", "turn")
        self._seen.restore({name: saved[f"page_{name}"] for name in columns_of_pages})
        self._seen.forgotten = forgotten
        self._evict()


def _nodes(
    prefixes: NDArray[np.uint8], sums: NDArray[np.int64], labels: NDArray[np.uint8]
) -> Iterator[tuple[str, _Node]]:
    columns = zip(unpacked(prefixes), sums.tolist(), unpacked(labels), strict=True)
    for prefix, (born, files, shares, labeled, chunks, is_open), names in columns:
        kept = frozenset(names.split("\t")) if names else frozenset[str]()
        yield prefix, _Node(born, files, shares, labeled, chunks, bool(is_open), kept)
