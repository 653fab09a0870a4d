"""Bad neighborhoods: URL prefixes under which copied content is frequent (Ardi, Heidemann 2014,
§3.1 step 6, §3.3).

badness(N) is the mean of contains over the files of N, after stop chunks are taken out; every
directory from the host down is a neighborhood. A page without chunks left says nothing and is no
file of N: else empty pages would hide a bad one. Recursion errors are in no figure.

Figures are the same whatever the order of pages; when a neighborhood opens or closes (`judging`)
depends on the order, since the threshold is of its time. They are of the pages counted last, as
many as are remembered; after a prefix was evicted, of those since it came back.

Some parts of a crawl may be counted elsewhere: `elsewhere` says how bad the neighborhoods are
there, so that all parts have one threshold.

Reads no clock and matches no chunks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.mean_and_deviation import (
    PAPER_NEIGHBORHOODS,
    PAPER_PAGES,
    Moments,
    Threshold,
    share,
)
from reusewatch.detector.neighborhoods.contributions import Contribution, Forgotten, SeenPages
from reusewatch.detector.neighborhoods.figures import Change, Neighborhood, PageFacts, shown
from reusewatch.detector.neighborhoods.judging import Judging
from reusewatch.detector.neighborhoods.prefix_sums import MOST_LABELS, File, PrefixSums
from reusewatch.detector.neighborhoods.prefix_table import PrefixTable
from reusewatch.detector.neighborhoods.prefixes import Trap, neighborhoods_of, prefixes
from reusewatch.detector.neighborhoods.unlabeled import Unlabeled, count_in
from reusewatch.detector.text_column import packed, unpacked

OF_NEIGHBORHOODS = Threshold(PAPER_NEIGHBORHOODS, most=PAPER_NEIGHBORHOODS)
OF_PAGES = Threshold(PAPER_PAGES, most=PAPER_PAGES)


COUNTED = Change(counted=True)
"""What most pages change."""


class Neighborhoods:
    """The prefixes of a crawl; `add` counts a page."""

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
        self._threshold = threshold
        self._page_threshold = page_threshold
        self._judging = Judging(min_files, closes_below)
        self._table = PrefixTable(max_prefixes)
        self._traps: OrderedDict[str, None] = OrderedDict()
        self._seen = SeenPages(max_pages)
        self._turn = 0
        self.pages = Moments()
        self.neighborhoods = Moments()
        self.elsewhere = Moments()
        self.pages_elsewhere = 0
        self.trapped = 0
        self.evicted = 0

    def __len__(self) -> int:
        return len(self._table.nodes)

    @property
    def threshold(self) -> float:
        """Above which badness a neighborhood is bad."""
        return self._threshold.of(self._everywhere, self._pages_everywhere)

    @property
    def _everywhere(self) -> Moments:
        here, there = self.neighborhoods, self.elsewhere
        if not there.count:
            return here
        return Moments(
            here.count + there.count, here.total + there.total, here.squares + there.squares
        )

    @property
    def _pages_everywhere(self) -> int:
        # By pages: a crawl's first site alone may have a thousand prefixes of a few pages.
        return self.pages.count + self.pages_elsewhere

    @property
    def page_threshold(self) -> float:
        """Above which ratio a page is a partial target (step 5)."""
        return self._page_threshold.of(self.pages)

    @property
    def remembered(self) -> int:
        """Pages that the figures are of."""
        return len(self._seen)

    @property
    def forgotten(self) -> int:
        """Pages that left for others: the figures are without them."""
        return self._seen.forgotten

    def top(self, count: int, *, under: str = "", min_files: int = 1) -> list[Neighborhood]:
        """The worst neighborhoods, worst first; ties by prefix."""
        found = (
            item
            for item in self._table.nodes.items()
            if item[0].startswith(under) and item[1].files >= max(min_files, 1)
        )
        worst = nlargest(count, sorted(found), key=lambda item: item[1].badness)
        return [shown(node) for _, node in worst]

    def of(self, prefix: str) -> Neighborhood | None:
        """The neighborhood of a prefix, if it is known."""
        node = self._table.nodes.get(prefix)
        return None if node is None else shown(node)

    def add(self, page: PageFacts) -> Change:
        """Count a page in every neighborhood that it is in; again, it replaces what it was."""
        trap, touched = neighborhoods_of(page.url)
        if trap is not None:
            return self._caught(trap)
        old = self._seen.get(page.page)
        new = Contribution(page.at, page.labeled, page.total, self._turn, page.homed)
        if old is not None and not new.newer_than(old):
            return Change(threshold=self.threshold)
        changed, gone = self._take(page, touched, old, new)
        nodes = map(self._table.nodes.__getitem__, changed)
        judged = [node for node in nodes if node.shares or node.open]
        threshold = self.threshold if judged else 0.0
        opened, closed, moved = self._judging.judge(judged, threshold)
        evicted = self._evict() if len(self) > self._max_prefixes else 0
        if gone is None and not (opened or closed or moved or evicted):
            return COUNTED
        forgotten = None if gone is None else gone.page
        return Change(
            opened, closed, moved, threshold, counted=True, forgotten=forgotten, evicted=evicted
        )  # fmt: skip

    def seen(self, pages: Sequence[int]) -> set[int]:
        """Those of these pages that were counted."""
        return self._seen.among(pages)

    def add_unlabeled(
        self, pages: Unlabeled, begin: int, end: int, seen: set[int]
    ) -> tuple[int, Change | None]:
        """Count those of these pages, from `begin` on, that are new, in no trap, and for which
        nothing leaves: as `add` of each would, in half the time. How many did; up to one that
        has something reported, and what that changed. `seen` are those of them that were counted
        before, by whomever, and then those that are counted here."""
        directories: list[str] = []
        # By directory, that of the last page last: what is asked of prefixes before all of these
        # pages are counted does not depend on which was touched last.
        touched: dict[str, tuple[PrefixSums, ...]] = {}
        change: Change | None = None
        table, counted, last = self._table, self.pages, ""
        numbers, urls, _, totals = pages
        room = range(begin, min(end, begin + self._seen.room))
        for turn, at in enumerate(room, self._turn):
            page, total = numbers[at], totals[at]
            if page in seen:
                break
            nodes = table.of_page(urls[at], turn)
            if not nodes:
                break
            seen.add(page)
            directory = nodes[0].prefix
            directories.append(directory)
            if directory != last:
                touched.pop(directory, None)
                touched[directory], last = nodes, directory
            counted.count += total > 0  # a share of 0
            judged = count_in(nodes, total, self.neighborhoods)
            if judged and (change := self._turned(judged)):
                break
        for nodes in touched.values():
            for node in nodes:
                table.nodes.move_to_end(node.prefix)
        some = slice(begin, begin + len(directories))
        self._seen.put_new(pages.page[some], pages.at[some], pages.total[some], self._turn,
                           directories)  # fmt: skip
        self._turn += len(directories)
        return len(directories), change

    def _turned(self, nodes: Sequence[PrefixSums]) -> Change | None:
        """What is to be reported of these prefixes, now that a page was counted in each."""
        low = self._threshold.at_least(self._everywhere, self._pages_everywhere)
        if not [node for node in nodes if node.open or node.shares > node.files * low]:
            return None  # as of most: the threshold need not be known
        threshold = self.threshold
        opened, closed, moved = self._judging.judge(nodes, threshold)
        if not (opened or closed or moved):
            return None
        return Change(opened, closed, moved, threshold, counted=True)

    def take_up(self, page: PageFacts) -> int | None:
        """Count a page that was counted and judged before a restart; who is forgotten for it."""
        old = self._seen.get(page.page)
        new = Contribution(page.at, page.labeled, page.total, self._turn, page.homed)
        if old is not None and not new.newer_than(old):
            return None
        touched = tuple(prefixes(page.url)[::-1])
        _, gone = self._take(page, touched, old, new)
        self._evict()
        return None if gone is None else gone.page

    def hold_open(self, prefix: str, told: int = 0, *, sure: bool = False) -> None:
        """This one was open before a restart; `told` is the badness that was reported, in 2^-32,
        and `sure`, whether labels with a home alone made it bad."""
        self._table.hold_open(prefix, told, sure=sure)

    def hold_trap(self, prefix: str) -> None:
        """This trap was reported before a restart."""
        self._remember_trap(prefix)

    def _take(
        self, page: PageFacts, touched: tuple[str, ...], old: Contribution | None,
        new: Contribution,
    ) -> tuple[Iterable[str], Forgotten | None]:  # fmt: skip
        """Count a page in these prefixes, and take out the one that is forgotten for it; which
        prefixes changed. The host is the last: of a page's prefixes, the deepest is the first to
        leave."""
        self._count_page(old, new)
        file, nodes = page.file, self._table.nodes
        plain = old is None and not (new.labeled or page.labels)
        for prefix in touched:
            node = nodes.get(prefix)
            if plain and node is not None:
                nodes.move_to_end(prefix)
                if new.total:
                    self._count_plain(node, new.total)
            else:
                self._count(prefix, page, file, old, new)
        gone = self._seen.put(page.page, new, nodes[touched[0]].prefix)
        self._turn += 1
        if gone is None:
            return touched, None
        return dict.fromkeys([*touched, *self._take_out(gone)]), gone

    def _take_out(self, gone: Forgotten) -> list[str]:
        if gone.added.total:
            self.pages.remove(share(gone.added.labeled, gone.added.total))
        changed = []
        for prefix in prefixes(gone.directory):
            node = self._table.nodes.get(prefix)
            if node is not None and gone.added.turn >= node.born:
                files, badness = node.files, node.badness
                node.count(gone.added, -1)
                self._moved(node, files, badness)
                node.name(gone.page, None)
                changed.append(prefix)
        return changed

    def _caught(self, trap: Trap) -> Change:
        self.trapped += 1
        new = self._remember_trap(trap.prefix)
        return Change(trap=trap, new_trap=new, threshold=self.threshold)

    def _remember_trap(self, prefix: str) -> bool:
        """Whether it is a new one."""
        new = prefix not in self._traps
        self._traps[prefix] = None
        self._traps.move_to_end(prefix)
        if len(self._traps) > self._max_prefixes:
            self._traps.popitem(last=False)
        return new

    def _count_page(self, old: Contribution | None, new: Contribution) -> None:
        if old is not None and old.total:
            self.pages.remove(share(old.labeled, old.total))
        if new.total:
            self.pages.add(share(new.labeled, new.total))

    def _count_plain(self, node: PrefixSums, total: int) -> None:
        """Count a page that is new and of which nothing is labeled, as of most: no name changes,
        and where nothing was labeled, no figure."""
        files, badness = node.files, node.badness if node.shares else 0
        node.files += 1
        node.chunks += total
        if node.shares or not files:
            self._moved(node, files, badness)

    def _count(
        self,
        prefix: str,
        page: PageFacts,
        file: File | None,
        old: Contribution | None,
        new: Contribution,
    ) -> None:
        node = self._table.seen(prefix, self._turn)
        files, badness = node.files, node.badness
        # What was counted before the prefix was evicted is not in its sums any more.
        if old is not None and old.turn >= node.born:
            node.count(old, -1)
        node.count(new, 1)
        self._moved(node, files, badness)
        if file is not None or node.worst:
            node.name(page.page, file)
        if not page.labels <= node.labels:
            node.labels = frozenset(sorted(node.labels | page.labels)[:MOST_LABELS])

    def _moved(self, node: PrefixSums, files: int, badness: int) -> None:
        """The figure of a neighborhood has changed: out with the old one, in with the new."""
        now = node.badness
        if files and node.files and now == badness:
            return
        if files:
            self.neighborhoods.remove(badness)
        if node.files:
            self.neighborhoods.add(now)

    def _evict(self) -> int:
        """The prefixes that are too many leave, and their figures with them."""
        gone = self._table.evict()
        for node in gone:
            if node.files:
                self.neighborhoods.remove(node.badness)
        self.evicted += len(gone)
        return len(gone)

    def __iter__(self) -> Iterator[Neighborhood]:
        return map(shown, self._table.nodes.values())

    def save(self) -> dict[str, NDArray[Any]]:
        """All state as arrays: what a restored one does next is what this one would have done."""
        facts = [self._turn, self.trapped, self.evicted, self._seen.forgotten,
                 self.pages.total, self.pages.count]  # fmt: skip
        return {
            **self._table.save(),
            "traps": packed(self._traps),
            "facts": np.array(facts, np.int64),
            "page_squares": np.frombuffer(self.pages.squares.to_bytes(24, "little"), np.uint8),
            **{f"page_{name}": column for name, column in self._seen.save().items()},
        }

    def restore(self, saved: Mapping[str, NDArray[Any]], *, pages: bool = True) -> None:
        """Take back what `save` gave; without its pages nothing can be counted, only asked."""
        self._turn, self.trapped, self.evicted, forgotten, total, count = saved["facts"].tolist()
        squares = int.from_bytes(saved["page_squares"].tobytes(), "little")
        self.pages, self.neighborhoods = Moments(count, total, squares), Moments()
        self._table.restore(saved)
        for node in self._table.nodes.values():
            if node.files:
                self.neighborhoods.add(node.badness)
        self._traps = OrderedDict.fromkeys(unpacked(saved["traps"]))
        if pages:
            of_pages = (
                "page", "at", "labeled", "total", "turn", "homed", "directory", "directories",
            )  # fmt: skip
            self._seen.restore({name: saved[f"page_{name}"] for name in of_pages})
        self._seen.forgotten = forgotten
        self._evict()
