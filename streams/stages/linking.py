"""Where pages lead on other sites: a part of the stage `index`.

A page that links to what it copies says where it has it from (Najork 2012, §4), which frees it and
accuses nobody: only what a page says of itself is asked for, never who links to it. Of pages that
come later than their links are asked for, or that are judged again, the links are kept, those of
the newest pages; bounded, and saved.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from msgspec.structs import replace
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.blocks.for_links import LinkColumns, links_of
from reusewatch.streams.records import Alert
from reusewatch.streams.stages.snapshot import State
from reusewatch.streams.urls import place

MOST_LINKS = 1 << 21
"""Links that are kept, of all pages: 20 bytes each."""
BESIDE = 2000
"""Bytes from a copied part within which a link stands beside it."""
_LINK_BYTES, _PAGE_BYTES = 20, 150


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

    def names(self, page: int, spans: Collection[Span] | None = None) -> bool:
        """Whether the page links to this other one: beside one of these parts, or, without any,
        where it is as a whole what the other one is, anywhere."""
        at = self.starts[self.pages == np.uint64(page)].tolist()
        if spans is None:
            return bool(at)
        return any(
            span.start - BESIDE <= start <= span.end + BESIDE for start in at for span in spans
        )

    def leads_to(self, page: int, site: int) -> bool:
        """Whether it links to this page, or to any of this site."""
        return bool((self.pages == np.uint64(page)).any() or (self.sites == np.uint64(site)).any())


_NONE = Links(np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.uint32))


class Linking:
    """The links of the pages that came last."""

    def __init__(self, scheme: HashScheme, *, most: int = MOST_LINKS) -> None:
        self._scheme = scheme
        self._most = most
        self.restore(None)

    def add(self, block: pa.RecordBatch) -> None:
        """Keep the links of a block's pages. A page that comes again says what it says now."""
        for page in block.column("page").to_pylist():
            self._at.pop(page, None)
        columns = links_of(block)
        if len(columns.pages):
            self._add(columns)

    def _add(self, columns: LinkColumns) -> None:
        number = self._first + len(self._kept)
        self._kept.append(columns)
        self._count += len(columns.links)
        rows = zip(repeat(number), range(len(columns.pages)), strict=False)
        self._at.update(zip(columns.pages.tolist(), rows, strict=True))
        while self._count > self._most and len(self._kept) > 1:
            self._drop(self._kept.popleft())

    def _drop(self, columns: LinkColumns) -> None:
        for page in columns.pages.tolist():
            if page in self._at and self._at[page][0] == self._first:
                del self._at[page]
        self._first += 1
        self._count -= len(columns.links)

    def of(self, page: int) -> Links:
        """The links of a page, as far as they are kept."""
        found = self._at.get(page)
        if found is None:
            return _NONE
        columns = self._kept[found[0] - self._first]
        own = slice(*columns.offsets[found[1] : found[1] + 2].tolist())
        return Links(columns.links[own], columns.sites[own], columns.starts[own])

    def leads_to(self, page: int, other: int, url: str) -> bool:
        """Whether a page links to another one, or to its site: attribution."""
        links = self.of(page)
        if not len(links.pages):
            return False
        return links.leads_to(other, self._scheme.of_text(place(url, self._scheme).site))

    def told(self, page: int, alert: Alert) -> Alert:
        """The alert of a page, which says to which of its donors the page links."""
        if not len(self.of(page).pages):
            return alert
        donors = tuple(
            replace(donor, linked=self.leads_to(
                page, int(place(donor.url, self._scheme).page_id, 16), donor.url))
            for donor in alert.donors
        )  # fmt: skip
        return replace(alert, donors=donors)

    def nbytes(self) -> int:
        """About what is kept."""
        return self._count * _LINK_BYTES + len(self._at) * _PAGE_BYTES

    def save(self) -> State:
        """All links, in the order in which they came."""
        return State(_joined(self._kept))

    def restore(self, state: State | None) -> None:
        """Take up saved links."""
        self._kept: deque[LinkColumns] = deque()
        self._at: dict[int, tuple[int, int]] = {}
        self._first = self._count = 0
        if state is not None and len(state.arrays["pages"]):
            arrays = state.arrays
            offsets = np.concatenate(([0], np.cumsum(arrays["counts"])))
            self._add(LinkColumns(
                arrays["pages"], offsets, arrays["links"], arrays["sites"], arrays["starts"]
            ))  # fmt: skip


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
