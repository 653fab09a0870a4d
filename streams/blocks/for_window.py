"""A fingerprint block as the index takes it: columns for the window, a tuple a page for messages.

Nothing is done page by page that Arrow and numpy can do for all.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.streams.blocks.arrays import array_of
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.blocks.values import filled, is_here, known_of, matrix_of
from reusewatch.streams.origins import Origins
from reusewatch.streams.records import FINE, UNDATED, Origin
from reusewatch.streams.times import at_us
from reusewatch.streams.wire import Malformed

if TYPE_CHECKING:
    from reusewatch.detector.window.sightings import Sightings

_Found = TypeVar("_Found", bound=NDArray[Any])
# Microseconds of the years 1 to 9999: what a date can be.
_EARLIEST, _LATEST = -62_135_596_800_000_000, 253_402_300_799_999_999


def times_of(block: pa.RecordBatch, name: str) -> list[int | None]:
    """A column of times as microseconds. Malformed where one is no date."""
    column = block.column(name).view(pa.int64())
    known = known_of(column, np.int64)
    if known.size and not _EARLIEST <= known.min() <= known.max() <= _LATEST:
        ends = f"from {known.min()} to {known.max()}"
        raise Malformed(f"a fingerprint block with a value that no page has: {name} {ends}")
    found: list[int | None] = column.to_pylist()
    return found


def subjects_of(block: pa.RecordBatch, origins: Origins) -> list[Subject]:
    """What messages say of the pages of a block."""
    names = ("page", "url", "site", "host", "identity_hash", "file_hash", "text_start", "text_end",
             "truncated", "overlong", "ip", "excerpt")  # fmt: skip
    try:
        columns = [block.column(name).to_pylist() for name in names]
        places = [block.column(name).to_pylist() for name in ("source", "offset", "record_id")]
    except (pa.ArrowException, ValueError) as error:
        raise Malformed(f"a fingerprint block with a value that no page has: {error}") from error
    came_from = [
        Origin(source=source, offset=offset, record_id=record)
        for source, offset, record in zip(*places, strict=True)
    ]
    salvaged, named = (block.column(name).to_pylist() for name in ("salvaged", "canonical"))
    shares, times = obfuscated_of(block).tolist(), times_of(block, "fetched_at")
    # Last: of a block that is malformed no name is kept.
    numbers = origins.numbers(*places[:2])
    rows = zip(*columns, times, numbers, salvaged, shares, named, came_from, strict=True)
    return list(map(Subject._make, rows))


def obfuscated_of(block: pa.RecordBatch) -> NDArray[np.float32]:
    """The share of each page's words that dodge; 0 where nobody looked."""
    shares = block.column("obfuscated").to_numpy(zero_copy_only=False)  # null: no number
    found: NDArray[np.float32] = np.fmin(np.fmax(shares, 0), 1)
    return found


class Last(Generic[_Found]):
    """What was found of the block that was asked for last: each part of a stage asks in turn, and
    each stage of a process."""

    def __init__(self) -> None:
        # Not the block itself: it is large, and others let it go.
        self._known: tuple[weakref.ref[pa.RecordBatch], _Found] | None = None

    def of(self, block: pa.RecordBatch, find: Callable[[pa.RecordBatch], _Found]) -> _Found:
        # One value: other threads see all of it or nothing.
        known = self._known
        if known is None or known[0]() is not block:
            known = self._known = weakref.ref(block), find(block)
            # Shared by all who ask.
            known[1].flags.writeable = False
        return known[1]


_LAST_JUDGED, _LAST_COUNTED = Last[NDArray[np.bool_]](), Last[NDArray[np.bool_]]()


def is_judged(block: pa.RecordBatch) -> NDArray[np.bool_]:
    """Whether each page is one by itself: no revisit, and no error page.

    The same error page stands on a million sites: it neither is a copy nor makes one.
    """
    return _LAST_JUDGED.of(block, _judged)


def _judged(block: pa.RecordBatch) -> NDArray[np.bool_]:
    # Not by Arrow's comparisons: each number that they are given looks for pandas on the disk. A
    # status that is null is no number here, which is neither.
    status = block.column("status").to_numpy(zero_copy_only=False)
    by_itself = ~is_here(block.column("revisit_of"))
    found: NDArray[np.bool_] = ~(status < FINE.start) & ~(status >= FINE.stop) & by_itself
    return found


def counts(block: pa.RecordBatch) -> NDArray[np.bool_]:
    """Whether each page counts for what is said of others: one by itself, and not salvaged.

    Another page may have forged it, under any URL and with any date.
    """
    return _LAST_COUNTED.of(block, lambda one: is_judged(one) & ~_salvaged(one))


def only(block: pa.RecordBatch, wanted: NDArray[np.bool_]) -> pa.RecordBatch:
    """The pages of a block that are wanted: mostly all, and then no column is copied."""
    return block if wanted.all() else block.filter(array_of(wanted))


def _salvaged(block: pa.RecordBatch) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = block.column("salvaged").to_numpy(zero_copy_only=False)
    return found


def sightings_of(
    block: pa.RecordBatch,
    subjects: list[Subject],
    site_of: Callable[[Subject], int],
    owned: NDArray[np.bool_] | None = None,
) -> Sightings:
    """The pages of a block as the window takes them.

    One that was salvaged has no date there, as one whose archive names none: such a page is matched
    and never added, so that it is no donor and no earlier sighting of anything.
    """
    from reusewatch.detector.window.near_rules import sample_of
    from reusewatch.detector.window.sightings import Sightings

    try:
        return Sightings(
            page=_numbers(block, "page"),
            site=np.fromiter(map(site_of, subjects), np.uint64, len(subjects)),
            at=np.where(_salvaged(block), at_us(UNDATED), _numbers(block, "fetched_at")),
            text=_numbers(block, "identity_hash"),
            file=_numbers(block, "file_hash"),
            origin=np.fromiter((subject.origin for subject in subjects), np.uint64, len(subjects)),
            start=_short(_numbers(block, "text_start")),
            end=_short(_numbers(block, "text_end")),
            super8=matrix_of(block.column("supershingles8")),
            super5=matrix_of(block.column("supershingles5")),
            simhash=matrix_of(block.column("simhash")),
            sample=sample_of(matrix_of(block.column("shingles"))),
            owned=owned,
            canonical=filled(block.column("canonical")),
            **_urls(block.column("url")),
        )
    except (pa.ArrowException, ValueError) as error:
        raise Malformed(f"a fingerprint block with a value that no page has: {error}") from error


def _numbers(block: pa.RecordBatch, name: str) -> NDArray[Any]:
    column = block.column(name)
    if pa.types.is_timestamp(column.type):
        column = column.view(pa.int64())
    found: NDArray[Any] = column.to_numpy()
    return found


def _short(offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    return offsets.clip(0, (1 << 32) - 1).astype(np.uint32)


def _urls(column: pa.StringArray) -> dict[str, NDArray[Any]]:
    _, ends, text = column.buffers()
    offsets = np.frombuffer(ends, np.int32, len(column) + 1, 4 * column.offset)
    urls = np.frombuffer(text, np.uint8) if text is not None else np.zeros(0, np.uint8)
    return {"urls": urls, "url_offsets": offsets.astype(np.int64)}
