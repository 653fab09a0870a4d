"""What of a page is in the labeled dataset, as the fingerprint says it: columns of the block.

Chunks are named by their position in the page's chunk hash vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from reusewatch.streams.blocks.arrays import values_of
from reusewatch.streams.times import moment

if TYPE_CHECKING:
    from reusewatch.detector.labels.labeled_page import Stood

MATCH_FIELDS = (
    pa.field("labels_version", pa.string()),  # null: no dataset was in force
    pa.field("labels_severity", pa.string()),  # the highest of what matched; null: nothing did
    pa.field("file_labels", pa.list_(pa.string()), nullable=False),
    # In rising order; a chunk with several labels stands there several times.
    pa.field("labeled", pa.list_(pa.uint32()), nullable=False),
    pa.field("labeled_by", pa.list_(pa.string()), nullable=False),
    # The text of the first of them, for evidence.
    pa.field("labeled_text", pa.list_(pa.string()), nullable=False),
    pa.field("stopped", pa.list_(pa.uint32()), nullable=False),
)
# Whether one of the labels has a home, where the content is from; null: it was not asked.
HOME_FIELDS = (pa.field("labels_homed", pa.bool_()),)
# The labeled chunks of which one label has a home, in rising order; null: it was not asked.
HOMED_FIELDS = (pa.field("labeled_homed", pa.list_(pa.uint32())),)
# A labeled page, and bytes of it; without any, the page as a whole.
STOOD = pa.struct(
    [
        pa.field("url", pa.string()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("source", pa.string()),
        pa.field("offset", pa.int64()),
        pa.field("file_hash", pa.uint64()),
    ]
)
# Where the file stood, and beside `labeled_text` each chunk; null: that is not known.
STOOD_FIELDS = (pa.field("file_at", STOOD), pa.field("labeled_at", pa.list_(STOOD)))
# Words of the page from one byte to another, and where on a labeled page they stand.
PASSAGE = pa.struct(
    [
        pa.field("from", pa.int64()),
        pa.field("to", pa.int64()),
        pa.field("text", pa.string()),
        pa.field("label", pa.string()),
        pa.field("at", STOOD),
    ]
)
# Null: fewer of the page's grams are labeled than are ever reported, or no labels have grams.
GRAM_LABEL_FIELDS = (
    pa.field(
        "labeled_grams",
        pa.struct(
            [
                pa.field("labeled", pa.int64()),
                pa.field("total", pa.int64()),
                pa.field("severity", pa.string()),
                pa.field("homed", pa.bool_()),
                pa.field("labels", pa.list_(pa.string())),
                pa.field("passages", pa.list_(PASSAGE)),
            ]
        ),
    ),
)
LABEL_FIELDS = (
    *MATCH_FIELDS, *HOME_FIELDS, *STOOD_FIELDS, *GRAM_LABEL_FIELDS, *HOMED_FIELDS,
)  # fmt: skip

Row = Mapping[str, Any]
Place = Mapping[str, Any]
GramMarks = Mapping[str, Any]


class Marks(NamedTuple):
    """One page's labels and stop chunks, in the order of `LABEL_FIELDS`."""

    labels_version: str | None = None
    labels_severity: str | None = None
    file_labels: tuple[str, ...] = ()
    labeled: tuple[int, ...] = ()
    labeled_by: tuple[str, ...] = ()
    labeled_text: tuple[str, ...] = ()
    stopped: tuple[int, ...] = ()
    labels_homed: bool | None = False
    file_at: Place | None = None
    labeled_at: tuple[Place, ...] | None = None
    labeled_grams: GramMarks | None = None
    labeled_homed: tuple[int, ...] | None = ()


NOTHING = Marks()
NO_PLACE: Place = dict.fromkeys(field.name for field in STOOD)


def place_of(stood: Stood) -> Place:
    """Where something stood, as a block says it."""
    page, whole = stood.page, stood.start >= stood.end
    return {
        "url": page.url,
        "start": None if whole else stood.start,
        "end": None if whole else stood.end,
        "source": page.source or None,
        "offset": page.offset,
        "file_hash": page.file_hash,
    }


def label_columns(marks: Sequence[Marks]) -> list[pa.Array]:
    """The columns of a block's pages."""
    columns = zip(*marks, strict=True) if marks else [()] * len(LABEL_FIELDS)
    return [values_of(c, field.type) for c, field in zip(columns, LABEL_FIELDS, strict=True)]


def marks_of(row: Mapping[str, Any]) -> Marks:
    """A page's marks, from a row that was read with LABEL_FIELDS, or some of them."""
    values: dict[str, Any] = {name: row[name] for name in Marks._fields if name in row}
    for name, value in values.items():
        if isinstance(value, list):
            values[name] = tuple(value)
    return Marks(**values)


def rows_of(block: pa.RecordBatch, names: Sequence[str], rows: Iterable[int]) -> list[Row]:
    """Some rows of a block. Few pages are labeled: to take them out of thirty columns, most of
    them lists, would cost more than to read what they have there."""
    wanted = list(rows)
    columns = [_values(block.column(name), wanted) for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: pa.Array, rows: Sequence[int]) -> list[Any]:
    if column.null_count == len(column):
        return [None] * len(rows)
    if not pa.types.is_timestamp(column.type):
        return [column[row].as_py() for row in rows]
    # Arrow looks for the name of the zone each time, which takes as long as all else of a row.
    times = (value.as_py() for value in map(column.view(pa.int64()).__getitem__, rows))
    return [None if us is None else moment(us) for us in times]
