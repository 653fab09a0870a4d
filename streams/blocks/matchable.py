"""How many chunks of each page count for contains: the denominator, for whole blocks.

`matchable`: chunks that can be labeled at all, since they are longer than the shortest that stand
in the dataset in force; a site copied whole is 1 by it. `paper`: the whole chunk hash vector (Ardi,
Heidemann 2014, §3.1 step 5), in which every heading and table cell counts, though nobody labels
them. Stop chunks count in neither. What is labeled always counts, whatever its length.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.contains import per_page
from reusewatch.streams.blocks.columns import longer_than
from reusewatch.streams.blocks.for_window import Last
from reusewatch.streams.blocks.occurrences import lists_of
from reusewatch.streams.wire import Malformed

if TYPE_CHECKING:
    import pyarrow as pa

Rule = Literal["matchable", "paper"]
_LAST: dict[Rule, Last[NDArray[np.int64]]] = {"matchable": Last(), "paper": Last()}


def counted_chunks(block: pa.RecordBatch, rule: Rule) -> NDArray[np.int64]:
    """Of each page of a block. A mark past a page's chunks marks nothing."""
    return _LAST[rule].of(block, partial(_counted, rule))


def _counted(rule: Rule, block: pa.RecordBatch) -> NDArray[np.int64]:
    offsets = lists_of(block.column("chunks"))[1]
    counted = np.ones(int(offsets[-1]), np.bool_)
    if rule == "matchable":
        lengths, found = lists_of(block.column("chunk_lengths"))
        if not np.array_equal(found, offsets):
            raise Malformed("a fingerprint block whose chunk_lengths are not those of its chunks")
        counted = lengths > longer_than(block)
        counted[_marked(block, "labeled", offsets)] = True
    counted[_marked(block, "stopped", offsets)] = False
    return per_page(counted, offsets)


def _marked(block: pa.RecordBatch, name: str, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    positions, of = lists_of(block.column(name))
    counts = of[1:] - of[:-1]
    places: NDArray[np.int64] = np.repeat(offsets[:-1], counts) + positions
    return places[places < np.repeat(offsets[1:], counts)]
