"""A fingerprint block as the links of its pages: columns, of the pages that lead anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.streams.blocks.arrays import array_of
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
    leads = np.flatnonzero(lengths_of(block.column("links")))
    own = block.select(LINK_COLUMNS).take(array_of(leads))
    links, offsets = lists_of(own.column("links"))
    sites, starts = (lists_of(own.column(name))[0] for name in _BESIDE)
    page = own.column("page").to_numpy()
    columns = LinkColumns(_owned(page), offsets, _owned(links), _owned(sites), _owned(starts))
    return columns, leads


def _owned(values: NDArray[Any]) -> NDArray[Any]:
    return np.array(values)
