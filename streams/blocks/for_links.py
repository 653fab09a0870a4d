"""A fingerprint block as the links of its pages: columns, of the pages that lead anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.streams.blocks.occurrences import lengths_of, lists_of
from reusewatch.streams.wire import Malformed

_BESIDE = ("link_sites", "link_starts")
LINK_COLUMNS = ("page", "links", *_BESIDE)


@dataclass(frozen=True, slots=True, eq=False)
class LinkColumns:
    """Pages, and of each from `offsets[page]` on: where it leads, on which site, from where."""

    pages: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    links: NDArray[np.uint64]
    sites: NDArray[np.uint64]
    starts: NDArray[np.uint32]


def check_links(block: pa.RecordBatch) -> None:
    """Malformed where what runs beside the links does not."""
    lengths = [lengths_of(block.column(name)) for name in ("links", *_BESIDE)]
    if not all(np.array_equal(lengths[0], one) for one in lengths):
        raise Malformed("a fingerprint block whose links and their places are not the same")


def links_of(block: pa.RecordBatch) -> tuple[LinkColumns, NDArray[np.int64]]:
    """The links of the pages that have any, and which rows these are; copies, as a view would keep
    the block alive."""
    counts = lengths_of(block.column("links"))
    leads = np.flatnonzero(counts)
    links, sites, starts = (_of_lists(block.column(name)) for name in ("links", *_BESIDE))
    offsets = np.concatenate(([0], np.cumsum(counts[leads])))
    columns = LinkColumns(
        block.column("page").to_numpy()[leads], offsets, links, sites, starts
    )  # fmt: skip
    return columns, leads


def _of_lists(column: pa.ListArray) -> NDArray[Any]:
    # Behind one that is not there anything may stand.
    values = column.flatten().to_numpy() if column.null_count else lists_of(column)[0]
    return np.array(values)
