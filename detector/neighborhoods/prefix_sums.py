"""What is known of one URL prefix: the sums of its files, and which of them are the worst.

Sums are whole numbers, so that what was counted can be taken out again without a trace. The worst
files are named for people who look at a bad neighborhood; where one of them leaves, the next worst
is not known any more, and the list is shorter until more come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.mean_and_deviation import SHARE_BITS, share
from reusewatch.detector.neighborhoods.contributions import Contribution
from reusewatch.detector.text_column import packed, unpacked

MOST_LABELS = 8
MOST_FILES = 5
LONGEST_NAMED = 1024  # characters: a file with a longer URL counts, and is not named
_ONE = float(1 << SHARE_BITS)


@dataclass(frozen=True, slots=True)
class File:
    """A page under a prefix with labeled chunks; `labeled_share` is a whole number of 2^-32."""

    page: int
    url: str
    labeled_share: int
    labels: tuple[str, ...] = ()
    severity: int = 0

    @property
    def contains(self) -> float:
        """Share of its chunks that is in L."""
        return self.labeled_share / _ONE


@dataclass(slots=True)
class PrefixSums:
    """A prefix's sums; `born` is the turn at which it came into the table.

    `told` is the badness that was reported last; 0 where none was, or it is not known. `homed` is
    the sum of the shares whose labels have a home, and `sure` whether these alone were reported.
    """

    prefix: str
    born: int
    files: int = 0
    shares: int = 0
    labeled: int = 0
    chunks: int = 0
    open: bool = False
    labels: frozenset[str] = field(default_factory=frozenset)
    worst: tuple[File, ...] = ()
    told: int = 0
    homed: int = 0
    sure: bool = False

    @property
    def badness(self) -> int:
        """Mean of contains, as a whole number of 2^-32."""
        return self.shares // self.files if self.files else 0

    def count(self, added: Contribution, times: int) -> None:
        """Count a page's chunks in, or out again."""
        if added.total:
            self.files += times
            self.chunks += times * added.total
            if added.labeled:
                self.shares += times * share(added.labeled, added.total)
                self.labeled += times * added.labeled
                self.homed += times * share(added.homed, added.total)

    def name(self, page: int, file: File | None) -> None:
        """Name the page among the worst files as it is now, or not at all."""
        if not self.worst and file is None:
            return
        kept = [known for known in self.worst if known.page != page]
        if file is not None:
            kept.append(file)
            # Of those that are as bad the ids decide: by their URLs all would be of one directory.
            kept.sort(key=lambda known: (-known.labeled_share, known.page))
        self.worst = tuple(kept[:MOST_FILES])


def columns_of(nodes: Iterable[PrefixSums]) -> dict[str, NDArray[Any]]:
    """Columns of these prefixes, in this order."""
    kept = list(nodes)
    sums = [
        (
            n.born, n.files, n.shares, n.labeled, n.chunks, n.open, len(n.worst), n.told, n.homed,
            n.sure,
        )
        for n in kept
    ]  # fmt: skip
    worst = [file for n in kept for file in n.worst]
    return {
        "nodes": np.array(sums, np.int64).reshape(-1, 10),
        "prefixes": packed(n.prefix for n in kept),
        "labels": packed("\t".join(sorted(n.labels)) for n in kept),
        "worst_page": np.array([file.page for file in worst], np.uint64),
        "worst": np.array([(f.labeled_share, f.severity) for f in worst], np.int64).reshape(-1, 2),
        "worst_url": packed(file.url for file in worst),
        "worst_labels": packed("\t".join(file.labels) for file in worst),
    }


def restored(columns: Mapping[str, NDArray[Any]]) -> Iterator[PrefixSums]:
    """The prefixes of `columns_of`."""
    files = _files(columns)
    rows = zip(
        unpacked(columns["prefixes"]), columns["nodes"].tolist(), unpacked(columns["labels"]),
        strict=True,
    )  # fmt: skip
    for prefix, sums, names in rows:
        born, count, shares, labeled, chunks, is_open, named, told, homed, sure = sums
        worst = tuple(next(files) for _ in range(named))
        yield PrefixSums(
            prefix, born, count, shares, labeled, chunks, bool(is_open), frozenset(_names(names)),
            worst, told, homed, bool(sure),
        )  # fmt: skip


def _files(columns: Mapping[str, NDArray[Any]]) -> Iterator[File]:
    rows = zip(
        columns["worst_page"].tolist(), unpacked(columns["worst_url"]), columns["worst"].tolist(),
        unpacked(columns["worst_labels"]), strict=True,
    )  # fmt: skip
    for page, url, (labeled_share, severity), names in rows:
        yield File(page, url, labeled_share, tuple(_names(names)), severity)


def _names(text: str) -> list[str]:
    return text.split("\t") if text else []
