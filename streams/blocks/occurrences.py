"""Occurrences of chunks and files in a fingerprint block, as discovery counts them (Ardi, Heidemann
2014, §3.2): whole columns, no Python per chunk.

What never counts: stop chunks and stop files, what is labeled already, short chunks, files without
bytes. What stands on no page: error pages (the same one is on a million sites) and revisits, which
stored no body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.streams.blocks.for_window import counts, only
from reusewatch.streams.blocks.values import is_here
from reusewatch.streams.urls import owner_of
from reusewatch.streams.wire import Malformed

if TYPE_CHECKING:
    from reusewatch.detector.discovery.online import Occurrences

_NO_FILE = 0
_SPANS = ("chunk_lengths", "chunk_starts", "chunk_ends")
IsStopFile = Callable[[NDArray[np.uint64]], NDArray[np.bool_]]


def countable(block: pa.RecordBatch) -> pa.RecordBatch:
    """The pages of a block whose content is theirs."""
    # One that another page may have forged is nobody's.
    return only(block, counts(block))


def check_marks(block: pa.RecordBatch) -> None:
    """Malformed where what runs beside the chunks does not, or marks point past them."""
    _, offsets = lists_of(block.column("chunks"))
    for name in _SPANS:
        _beside(block, name, offsets)
    for name in ("labeled", "stopped"):
        places = _places(*lists_of(block.column(name)), offsets)
        if name == "stopped" and np.any(np.diff(places) <= 0):
            raise Malformed("a fingerprint block that stops a chunk twice")
    labeled, by = (lists_of(block.column(name))[1] for name in ("labeled", "labeled_by"))
    if not np.array_equal(labeled, by):
        raise Malformed("a fingerprint block whose labels are not those of its chunks")


def chunks_of(block: pa.RecordBatch, sites: NDArray[np.uint64], *, min_length: int) -> Occurrences:
    """The chunks of the pages; those of `min_length` characters or fewer are skipped."""
    from reusewatch.detector.discovery.online import Occurrences
    from reusewatch.detector.ragged import Ragged

    hashes, offsets = lists_of(block.column("chunks"))
    lengths, starts, ends = (_beside(block, name, offsets) for name in _SPANS)
    skipped = lengths <= min_length
    for name in ("stopped", "labeled"):
        skipped[_places(*lists_of(block.column(name)), offsets)] = True
    return Occurrences(
        Ragged(hashes, offsets), _pages(block), sites, starts.astype(np.uint32),
        ends.astype(np.uint32), skipped,
    )  # fmt: skip


def files_of(
    block: pa.RecordBatch, sites: NDArray[np.uint64], *, is_stop: IsStopFile | None
) -> Occurrences:
    """The file of each page; its span is the text's."""
    from reusewatch.detector.discovery.online import Occurrences
    from reusewatch.detector.ragged import Ragged

    hashes = block.column("file_hash").to_numpy()
    skipped = (hashes == _NO_FILE) | (lengths_of(block.column("file_labels")) > 0)
    if is_stop is not None:
        skipped |= is_stop(hashes)
    starts, ends = (block.column(name).to_numpy() for name in ("text_start", "text_end"))
    offsets = np.arange(len(hashes) + 1, dtype=np.int64)
    return Occurrences(
        Ragged(hashes, offsets), _pages(block), sites, starts.astype(np.uint32),
        ends.astype(np.uint32), skipped,
    )  # fmt: skip


def _pages(block: pa.RecordBatch) -> NDArray[np.uint64]:
    found: NDArray[np.uint64] = block.column("page").to_numpy()
    return found


def lists_of(column: pa.ListArray) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Values of a column of lists, and where each list starts. The column may be a slice."""
    offsets, values = column.offsets.to_numpy().astype(np.int64), column.values
    begin, end = int(offsets[0]), int(offsets[-1])
    offsets -= begin
    if pa.types.is_string(values.type):  # only counted
        return np.empty(0, np.uint64), offsets
    return values.slice(begin, end - begin).to_numpy(zero_copy_only=False), offsets


def text_of(column: pa.StringArray) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of a column of texts, and where each text begins. The column may be a slice."""
    _, ends, text = column.buffers()
    offsets = np.frombuffer(ends, np.int32, len(column) + 1, 4 * column.offset).astype(np.int64)
    begin = int(offsets[0])
    if text is None:
        return np.zeros(0, np.uint8), offsets
    data = np.frombuffer(text, np.uint8, int(offsets[-1]) - begin, begin)
    return data, offsets - begin


def lengths_of(column: pa.ListArray) -> NDArray[np.int64]:
    """How long each list of a column is; nothing is as long as an empty one."""
    offsets = column.offsets.to_numpy().astype(np.int64)
    lengths: NDArray[np.int64] = offsets[1:] - offsets[:-1]
    if column.null_count:  # one that is not there may stand for any values
        lengths[~is_here(column)] = 0
    return lengths


def _beside(block: pa.RecordBatch, name: str, offsets: NDArray[np.int64]) -> NDArray[Any]:
    """A column that runs beside the chunks."""
    values, found = lists_of(block.column(name))
    if not np.array_equal(found, offsets):
        raise Malformed(f"a fingerprint block whose {name} are not those of its chunks")
    return values


def _places(
    positions: NDArray[Any], of: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Positions within pages' vectors, as places in the column."""
    counts = of[1:] - of[:-1]
    places: NDArray[np.int64] = np.repeat(offsets[:-1], counts) + positions
    if (places >= np.repeat(offsets[1:], counts)).any():
        raise Malformed("a fingerprint block that marks chunks which its pages do not have")
    return places


def owners_of(column: pa.StringArray) -> list[str]:
    """For each page, whom its site counts for: names under one hosting domain cost nothing."""
    sites = column.to_pylist()
    owners = {site: owner_of(site) for site in set(sites)}
    return [owners[site] for site in sites]
