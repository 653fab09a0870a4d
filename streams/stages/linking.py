"""Where pages lead on other sites: a part of the stage `index`.

A page that links to what it copies says where it has it from (Najork 2012, §4), which frees it and
accuses nobody: only what a page says of itself is asked for, never who links to it. Of pages that
come later than their links are asked for, or that are judged again, the links are kept, those of
the newest pages; bounded, and saved.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.saved import Kept, array_of, check
from reusewatch.streams.blocks.for_links import LinkColumns, links_of
from reusewatch.streams.records import Alert
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.urls import site_of_page

MOST_LINKS = 1 << 21
"""Links that are kept, of all pages: 20 bytes each."""
BESIDE = 2000
"""Bytes from a copied part within which a link stands beside it."""
_LINK_BYTES, _PAGE_BYTES = 20, 150
# Pages of a saved state whose links leave memory together.
_TOGETHER = 4096


class Span(NamedTuple):
    """A copied part of a page, as bytes of its body."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The links of one page."""

    pages: NDArray[np.uint64]
    sites: NDArray[np.uint64]
    starts: NDArray[np.uint32]

    def names(
        self, page: int, spans: Callable[[], Collection[Span]] | None = None
    ) -> bool:  # fmt: skip
        """Whether the page links to this other one: beside one of these parts, or, without any,
        where it is as a whole what the other one is, anywhere. For the parts is asked only if it
        does: they have to be found."""
        if not len(self.pages):
            return False
        at = self.starts[self.pages == np.uint64(page)].tolist()
        if spans is None or not at:
            return bool(at)
        parts = spans()
        return any(
            span.start - BESIDE <= start <= span.end + BESIDE for start in at for span in parts
        )

    def leads_to(self, site: int) -> bool:
        """Whether it links to any page of this site."""
        return bool((self.sites == np.uint64(site)).any())


_NONE = Links(np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.uint32))


class Linking:
    """The links of the pages that came last."""

    def __init__(self, scheme: HashScheme, *, most: int = MOST_LINKS) -> None:
        self._scheme = scheme
        self._most = most
        # Links that are kept, columns that have left, and pages of the first ones that have.
        self._count = self._first = self._left = 0
        # The pages that were brought last, the places of those with links, and how many have come.
        self._coming: list[int] = []
        self._leads: list[int] = []
        self._come = self._led = 0
        self.restore(None)

    def add(self, block: pa.RecordBatch) -> None:
        """Keep the links of a block's pages."""
        self.bring(block)
        self.reach(None)

    def bring(self, block: pa.RecordBatch) -> None:
        """Keep the links of pages of which none has come yet: see `reach`."""
        self.reach(None)
        columns, leads = links_of(block)
        if len(leads):
            self._keep(columns)
        self._coming, self._leads = block.column("page").to_pylist(), leads.tolist()
        self._come = self._led = 0

    def reach(self, count: int | None) -> None:
        """So many of the pages that were brought last have come, or all of them: one that comes
        again says what it says now, and not before."""
        end = len(self._coming) if count is None else min(count, len(self._coming))
        number = self._first + len(self._kept) - 1
        for row in range(self._come, end):
            page = self._coming[row]
            self._at.pop(page, None)
            if self._led < len(self._leads) and self._leads[self._led] == row:
                self._at[page] = number, self._led
                self._led += 1
        self._come = max(self._come, end)

    def _keep(self, columns: LinkColumns) -> None:
        self._kept.append(columns)
        self._count += len(columns.links)

    def ended(self) -> None:
        """A step of pages has ended: of too many links those that came first leave, a page at a
        time. What is kept would else hang on where blocks end."""
        self.reach(None)
        while self._count > self._most:
            first = self._kept[0]
            begin = int(first.offsets[self._left])
            until = np.searchsorted(first.offsets, begin + self._count - self._most)
            self._leave_first(min(int(until), len(first.pages)) - self._left)

    def _leave_first(self, pages: int) -> None:
        """So many pages of the columns that came first leave."""
        if not pages:
            return
        first, end = self._kept[0], self._left + pages
        for row in range(self._left, end):
            page = int(first.pages[row])
            if self._at.get(page) == (self._first, row):
                del self._at[page]
        self._count -= int(first.offsets[end] - first.offsets[self._left])
        self._left = end
        if end == len(first.pages):
            self._kept.popleft()
            self._first, self._left = self._first + 1, 0

    def of(self, page: int) -> Links:
        """The links of a page, as far as they are kept."""
        found = self._at.get(page)
        if found is None:
            return _NONE
        columns = self._kept[found[0] - self._first]
        own = slice(*columns.offsets[found[1] : found[1] + 2].tolist())
        return Links(columns.links[own], columns.sites[own], columns.starts[own])

    def leads_to(self, page: int, url: str) -> bool:
        """Whether a page links to the site of another one: attribution."""
        links = self.of(page)
        return len(links.pages) > 0 and self._leads_to(links, url)

    def told(self, page: int, alert: Alert) -> Alert:
        """The alert of a page, which says to which of its donors the page links."""
        links = self.of(page)
        if not len(links.pages):
            return alert
        linked = [self._leads_to(links, donor.url) for donor in alert.donors]
        if not any(linked):
            return alert
        donors = zip(alert.donors, linked, strict=True)
        return replace(alert, donors=tuple(replace(one, linked=said) for one, said in donors))

    def _leads_to(self, links: Links, url: str) -> bool:
        # Who links to a page links to its site.
        return links.leads_to(self._scheme.of_text(site_of_page(url)))

    def nbytes(self) -> int:
        """About what is kept."""
        return self._count * _LINK_BYTES + len(self._at) * _PAGE_BYTES

    def save(self) -> State:
        """All links, in the order in which they came, and whether each page still has those."""
        arrays = _joined(self._kept)
        stands = np.zeros(len(arrays["pages"]), np.bool_)
        begins = np.cumsum([0, *(len(one.pages) for one in self._kept)])
        for number, row in self._at.values():
            stands[begins[number - self._first] + row] = True
        return State(arrays | {"stands": stands}, {"left": self._left})

    def restore(self, state: State | None) -> None:
        """Take up saved links."""
        self._kept: deque[LinkColumns] = deque()
        self._at: dict[int, tuple[int, int]] = {}
        self._count = self._first = self._left = self._come = self._led = 0
        self._coming, self._leads = [], []
        if state is not None and len(state.arrays["pages"]):
            self._restore(state)

    def _restore(self, state: State) -> None:
        arrays = state.arrays
        count = len(array_of(arrays, "pages", np.uint64, (None,)))
        check(arrays, {
            "counts": Kept(np.int64, (count,), (0, 1 << 32)), "stands": Kept(np.bool_, (count,)),
        })  # fmt: skip
        links = int(arrays["counts"].sum())
        kinds = {"links": np.uint64, "sites": np.uint64, "starts": np.uint32}
        check(arrays, {name: Kept(kind, (links,)) for name, kind in kinds.items()})
        stands = arrays["stands"].astype(np.bool_)
        for at in range(0, len(stands), _TOGETHER):
            own = slice(at, at + _TOGETHER)
            offsets = np.concatenate(([0], np.cumsum(arrays["counts"][own])))
            begin = int(arrays["counts"][:at].sum())
            here = slice(begin, begin + int(offsets[-1]))
            beside = (np.array(arrays[name][here]) for name in kinds)
            pages = np.array(arrays["pages"][own])
            self._keep(LinkColumns(pages, offsets, *beside))
            number = len(self._kept) - 1
            rows = np.flatnonzero(stands[own]).tolist()
            self._at.update((int(pages[row]), (number, row)) for row in rows)
        self._leave_first(state.facts["left"])


def _joined(kept: Iterable[LinkColumns]) -> dict[str, NDArray[Any]]:
    parts = list(kept)
    empty = np.empty(0, np.uint64)

    def column(name: str, kind: type) -> NDArray[Any]:
        found = [getattr(one, name) for one in parts]
        return np.concatenate([empty[:0], *found]).astype(kind)

    counts = [np.diff(one.offsets) for one in parts]
    return {
        "pages": column("pages", np.uint64),
        "counts": np.concatenate([np.empty(0, np.int64), *counts]),
        "links": column("links", np.uint64),
        "sites": column("sites", np.uint64),
        "starts": column("starts", np.uint32),
    }
