"""Fingerprint blocks as the counting of phrases takes them: columns of all pages of a bus.

Of each block only the columns that are needed are kept, as copies: a view would keep the rest of
the block alive. At most so many pages are kept, those fetched last, whatever order they come in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.detector.phrases.documents import (
    UNKNOWN,
    Documents,
    by_age,
    current_versions,
)
from reusewatch.streams.blocks.columns import MIN_VALUES, SCHEMA, SUPERSHINGLES
from reusewatch.streams.blocks.occurrences import countable
from reusewatch.streams.records import Origin

_WORDLESS = 0
# So many too many are collected before the oldest leave: a choice looks at all that are there.
_SLACK = 10_000
_COLUMNS = (
    "page", "url", "site", "host", "ip", "fetched_at", "source", "offset", "file_hash",
    "identity_hash", "supershingles5", "shingles",
)  # fmt: skip
_FACTS = ("url", "site", "host", "source", "offset", "file_hash")


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What people are told of a page, and where it can be read again."""

    url: str
    site: str
    host: str
    origin: Origin
    file_hash: int


@dataclass(frozen=True, slots=True, eq=False)
class PhrasePages:
    """The pages as they stand now, earliest first, with names for what the columns number.

    `sources` numbers where a page can be read again, `UNKNOWN` where it cannot.
    """

    documents: Documents
    sources: NDArray[np.int64]
    _table: pa.Table
    _rows: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.documents)

    def facts(self, page: int) -> PageFacts:
        """Those of one page."""
        (found,) = self._table.slice(int(self._rows[page]), 1).to_pylist()
        origin = Origin(source=found["source"], offset=found["offset"])
        return PageFacts(found["url"], found["site"], found["host"], origin, found["file_hash"])

    def row_of(self, page: int) -> int | None:
        """The row of the page with this id."""
        found = np.flatnonzero(self.documents.page == np.uint64(page))
        return int(found[0]) if found.size else None

    def host(self, number: int) -> str:
        """The name of a host of the columns."""
        return self.facts(int((self.documents.host == number).argmax())).host


class PhraseColumns:
    """Collects the pages of blocks."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: list[pa.RecordBatch] = []
        self._size = 0
        self.passed_over = 0

    def add(self, block: pa.RecordBatch) -> None:
        """Take the pages of a block that have words of their own."""
        block = countable(block)
        worded = np.flatnonzero(block.column("identity_hash").to_numpy() != _WORDLESS)
        # By name: who wrote the block may have said of other columns that they can be null.
        columns = [block.column(name).take(pa.array(worded)) for name in _COLUMNS]
        self._kept.append(pa.RecordBatch.from_arrays(columns, names=list(_COLUMNS)))
        self._size += worded.size
        if self._size > self._most + max(self._most // 4, _SLACK):
            self._pass_over()

    def pages(self) -> PhrasePages:
        """All that was collected; nothing more can be added."""
        self._pass_over()
        page, identity = (self._numbers(name) for name in ("page", "identity_hash"))
        rows, seen = current_versions(page, identity, self._times())
        order = by_age(page[rows], seen)
        rows, seen = rows[order], seen[order]
        shingles, supershingles = self._sketches(rows)
        schema = pa.schema([(name, SCHEMA.field(name).type) for name in _FACTS])
        site, host, ip = (self._codes(name)[rows] for name in ("site", "host", "ip"))
        sources = np.where(self._is_null("offset"), UNKNOWN, self._codes("source"))[rows]
        table = pa.Table.from_batches([one.select(_FACTS) for one in self._kept], schema)
        self._kept = []
        documents = Documents(
            page[rows], seen, identity[rows], supershingles, shingles, site, host, ip
        )
        return PhrasePages(documents, sources, table, rows)

    def _pass_over(self) -> None:
        """Keep those that were fetched last, if there are too many."""
        if self._size <= self._most:
            return
        self.passed_over += self._size - self._most
        stays = np.zeros(self._size, np.bool_)
        stays[np.lexsort((self._numbers("page"), self._times()))[-self._most :]] = True
        begin = 0
        for at, block in enumerate(self._kept):
            here = np.flatnonzero(stays[begin : begin + len(block)])
            begin += len(block)
            self._kept[at] = block.take(pa.array(here))
        self._kept = [block for block in self._kept if len(block)]
        self._size = self._most

    def _numbers(self, name: str) -> NDArray[np.uint64]:
        return _joined([one.column(name).to_numpy() for one in self._kept], np.uint64)

    def _times(self) -> NDArray[np.int64]:
        parts = [one.column("fetched_at").view(pa.int64()).to_numpy() for one in self._kept]
        return _joined(parts, np.int64)

    def _is_null(self, name: str) -> NDArray[np.bool_]:
        parts = [one.column(name).is_null().to_numpy(zero_copy_only=False) for one in self._kept]
        return _joined(parts, np.bool_)

    def _codes(self, name: str) -> NDArray[np.int64]:
        """Names as numbers, `UNKNOWN` where there is none; the numbers mean nothing else."""
        known: dict[str, int] = {}
        parts = []
        for one in self._kept:
            encoded = one.column(name).dictionary_encode()
            names = encoded.dictionary.to_pylist()
            numbers = [known.setdefault(name, len(known)) for name in names]
            codes = np.array([*numbers, UNKNOWN], np.int64)
            parts.append(codes[encoded.indices.fill_null(len(numbers)).to_numpy()])
        return _joined(parts, np.int64)

    def _sketches(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Min-values, a row a function, and supershingles, a row a page; a block's leave then."""
        shingles = np.empty((MIN_VALUES, rows.size), np.uint64)
        supershingles = np.empty((rows.size, SUPERSHINGLES), np.uint64)
        place = np.full(self._size, UNKNOWN, np.int64)
        place[rows] = np.arange(rows.size)
        begin = 0
        for at, block in enumerate(self._kept):
            to = place[begin : begin + len(block)]
            begin += len(block)
            stands = to != UNKNOWN
            to = to[stands]
            shingles[:, to] = _matrix(block.column("shingles"))[stands].T
            supershingles[to] = _matrix(block.column("supershingles5"))[stands]
            self._kept[at] = block.select(_COLUMNS[:-2])
        return shingles, supershingles


def _joined(parts: list[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts])


def _matrix(column: pa.FixedSizeListArray) -> NDArray[np.uint64]:
    shape = len(column), column.type.list_size
    found: NDArray[np.uint64] = column.flatten().to_numpy().reshape(shape)
    return found
