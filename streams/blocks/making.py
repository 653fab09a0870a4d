"""A fingerprint block of what was read of some pages and of their sketches. Looks into no page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.detector.errors import BadPage
from reusewatch.detector.labels.format import SHORTEST
from reusewatch.streams.blocks.arrays import array_of, values_of
from reusewatch.streams.blocks.columns import (
    CHUNKS,
    GRAM_FIELDS,
    HASH,
    LONGER_THAN,
    PAGE_FIELDS,
    ROW_FIELDS,
    SCHEMA,
    SKETCH_FIELDS,
)
from reusewatch.streams.blocks.label_columns import (
    GRAM_LABEL_FIELDS,
    HOMED_FIELDS,
    NOTHING,
    STOOD_FIELDS,
    Marks,
    label_columns,
)
from reusewatch.streams.blocks.page_columns import PageColumns

if TYPE_CHECKING:
    from reusewatch.detector.sketching.fingerprint import Fingerprints


def block_of(
    said: PageColumns,
    made: Fingerprints,
    *,
    grams: bool,
    marks: Sequence[Marks] | None = None,
    shortest: int = SHORTEST,
) -> pa.RecordBatch:
    """Page facts and sketches of the same pages. BadPage where a value does not fit its column.

    Chunks of up to `shortest` characters cannot be labeled by what is in force.
    """
    try:
        told = [_told(column, field.type) for column, field in zip(said, ROW_FIELDS, strict=True)]
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
        raise BadPage("malformed-message", f"a value that no page has: {error}") from error
    schema = SCHEMA.with_metadata({CHUNKS: made.sketches.chunks.unit, LONGER_THAN: str(shortest)})
    sketched = _sketch_columns(made, grams=grams)
    sketches, kept = ([sketched[field.name] for field in of] for of in (SKETCH_FIELDS, GRAM_FIELDS))
    labels = label_columns([NOTHING] * len(made) if marks is None else marks)
    dodges = [pa.array([facts.obfuscated for facts in made.facts], pa.float32())]
    later = len(STOOD_FIELDS) + len(GRAM_LABEL_FIELDS) + len(HOMED_FIELDS)
    stood, labels = labels[-later:], labels[:-later]
    page, more = told[: len(PAGE_FIELDS)], told[len(PAGE_FIELDS) :]
    every = [*page, *sketches, *labels, *kept, *dodges, *more, *stood]
    return pa.record_batch(every, schema=schema)


def _told(column: Any, kind: pa.DataType) -> pa.Array:
    if isinstance(column, pa.Array):
        return column
    return array_of(column) if isinstance(column, np.ndarray) else values_of(column, kind)


def _sketch_columns(made: Fingerprints, *, grams: bool) -> dict[str, pa.Array]:
    """The columns by the names that `SKETCH_FIELDS` and `GRAM_FIELDS` give them."""
    sketches, chunks, terms = made.sketches, made.sketches.chunks, made.sketches.terms
    at_chunk, at_term = chunks.hashes.offsets, terms.hashes.offsets
    kept = sketches.grams.hashes
    none = partial(_no_lists, len(made))
    return {
        "tokens": array_of(sketches.words),
        "identity_hash": array_of(sketches.identity),
        "shingles": _fixed(sketches.min_values5),
        "supershingles5": _fixed(sketches.supershingles5),
        "supershingles8": _fixed(sketches.supershingles8),
        "simhash": _fixed(sketches.simhash),
        "chunks": lists_of(at_chunk, chunks.hashes.values),
        "chunk_lengths": lists_of(at_chunk, chunks.lengths),
        "chunk_starts": lists_of(at_chunk, made.chunk_starts),
        "chunk_ends": lists_of(at_chunk, made.chunk_ends),
        "grams": lists_of(kept.offsets, kept.values) if grams else none(HASH),
        "gram_starts": (
            lists_of(kept.offsets, _short(made.gram_starts)) if grams else none(pa.uint32())
        ),
        "gram_ends": lists_of(kept.offsets, _short(made.gram_ends)) if grams else none(pa.uint32()),
        "grams_are_all": array_of(made.all_grams),
        "terms": lists_of(at_term, terms.hashes.values),
        "term_weights": lists_of(at_term, terms.weights),
        "terms_total": array_of(terms.totals),
    }


def _fixed(rows: NDArray[Any]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(array_of(rows.reshape(-1)), rows.shape[1])


def lists_of(offsets: NDArray[np.int64], values: NDArray[Any]) -> pa.Array:
    """A list a page: of values that stand end to end, and where each list begins."""
    return pa.ListArray.from_arrays(array_of(offsets.astype(np.int32)), array_of(values))


def _no_lists(size: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(size, pa.list_(kind))


def _short(offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    return offsets.clip(0, (1 << 32) - 1).astype(np.uint32)
