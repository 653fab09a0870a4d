"""The columns of a fingerprint block, the sections that they stand in, and what a block says of all
of its pages. Holds no page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from reusewatch.detector.labels.format import SHORTEST
from reusewatch.streams.blocks.label_columns import (
    GRAM_LABEL_FIELDS,
    HOME_FIELDS,
    HOMED_FIELDS,
    MATCH_FIELDS,
    STOOD_FIELDS,
)
from reusewatch.streams.blocks.sections import Section
from reusewatch.streams.wire import Malformed

if TYPE_CHECKING:
    from reusewatch.detector.sketching.chunks import Unit

MIN_VALUES, SUPERSHINGLES, SIMHASH_WORDS = 84, 6, 6
HASH = pa.uint64()
PAGE_FIELDS = (
    pa.field("page", HASH, nullable=False),
    pa.field("url", pa.string(), nullable=False),
    pa.field("site", pa.string(), nullable=False),
    pa.field("host", pa.string(), nullable=False),
    pa.field("ip", pa.string()),
    pa.field("fetched_at", pa.timestamp("us", "UTC"), nullable=False),
    pa.field("status", pa.int16()),
    pa.field("content_type", pa.string(), nullable=False),
    pa.field("charset", pa.string()),
    pa.field("source", pa.string(), nullable=False),
    pa.field("offset", pa.int64()),
    pa.field("title", pa.string(), nullable=False),
    pa.field("excerpt", pa.string(), nullable=False),
    pa.field("text_start", pa.int64(), nullable=False),
    pa.field("text_end", pa.int64(), nullable=False),
    pa.field("truncated", pa.bool_(), nullable=False),
    # More words than are read of a page; `truncated` is also a body that came cut.
    pa.field("overlong", pa.bool_(), nullable=False),
    pa.field("salvaged", pa.bool_(), nullable=False),
    pa.field("file_hash", HASH, nullable=False),
    pa.field("revisit_of", HASH),
    pa.field("revisit_at", pa.timestamp("us", "UTC")),
)
# What a page says of itself: the page that it names as its source, which may be itself.
CLAIM_FIELDS = (pa.field("canonical", HASH),)
ORIGIN_FIELDS = (pa.field("record_id", pa.string()),)
# Where a page leads on other sites: the page, its site, and where in the body the link's words
# begin. Null: who wrote the block did not look.
LINK_FIELDS = (
    pa.field("links", pa.list_(HASH)),
    pa.field("link_sites", pa.list_(HASH)),
    pa.field("link_starts", pa.list_(pa.uint32())),
)
ROW_FIELDS = (*PAGE_FIELDS, *CLAIM_FIELDS, *ORIGIN_FIELDS, *LINK_FIELDS)
SKETCH_FIELDS = (
    pa.field("tokens", pa.int64(), nullable=False),
    pa.field("identity_hash", HASH, nullable=False),
    pa.field("shingles", pa.list_(HASH, MIN_VALUES), nullable=False),
    pa.field("supershingles5", pa.list_(HASH, SUPERSHINGLES), nullable=False),
    pa.field("supershingles8", pa.list_(HASH, SUPERSHINGLES), nullable=False),
    pa.field("simhash", pa.list_(HASH, SIMHASH_WORDS), nullable=False),
    pa.field("chunks", pa.list_(HASH), nullable=False),
    pa.field("chunk_lengths", pa.list_(pa.uint32()), nullable=False),
    pa.field("chunk_starts", pa.list_(pa.int64()), nullable=False),
    pa.field("chunk_ends", pa.list_(pa.int64()), nullable=False),
    pa.field("terms", pa.list_(HASH), nullable=False),
    pa.field("term_weights", pa.list_(pa.float32()), nullable=False),
    pa.field("terms_total", pa.float64(), nullable=False),
)
# Null: not kept. `grams_are_all`: of a short page, or of every one; otherwise a sample.
GRAM_FIELDS = (
    pa.field("grams", pa.list_(HASH)),
    pa.field("gram_starts", pa.list_(pa.uint32())),
    pa.field("gram_ends", pa.list_(pa.uint32())),
    pa.field("grams_are_all", pa.bool_()),
)
# Null: who wrote the block did not look.
DODGE_FIELDS = (pa.field("obfuscated", pa.float32()),)
SECTIONS = (
    Section("page", 2, PAGE_FIELDS),
    Section("sketches", 1, SKETCH_FIELDS),
    Section("labels", 1, MATCH_FIELDS),
    Section("homes", 1, HOME_FIELDS, needed=False),
    Section("grams", 1, GRAM_FIELDS, needed=False),
    Section("dodges", 1, DODGE_FIELDS, needed=False),
    Section("claims", 1, CLAIM_FIELDS, needed=False),
    Section("origins", 1, ORIGIN_FIELDS, needed=False),
    Section("links", 1, LINK_FIELDS, needed=False),
    Section("stood", 1, STOOD_FIELDS, needed=False),
    Section("labeled-grams", 1, GRAM_LABEL_FIELDS, needed=False),
    Section("labeled-homed", 1, HOMED_FIELDS, needed=False),
)
SCHEMA = pa.schema([field for section in SECTIONS for field in section.fields])
# What is said of all pages of a block, in its metadata.
CHUNKS = b"chunks"
LONGER_THAN = b"longer-than"
_MOST_DIGITS = 10
_UNITS: Mapping[bytes, Unit] = {b"text": "text", b"raw": "raw"}


def unit_of(block: pa.RecordBatch) -> Unit:
    """What a chunk of the block's pages is. Chunks of different units are never compared."""
    unit: Unit | None = _UNITS.get((block.schema.metadata or {}).get(CHUNKS, b"text"))
    if unit is None:
        raise Malformed("a fingerprint block with chunks of a kind that is not known")
    return unit


def longer_than(block: pa.RecordBatch) -> int:
    """Characters that a chunk of these pages had to have more of, to be labeled."""
    said = (block.schema.metadata or {}).get(LONGER_THAN, b"%d" % SHORTEST)
    if not said.isdigit() or len(said) > _MOST_DIGITS:
        raise Malformed("a fingerprint block that says of no length which chunks can be labeled")
    return int(said)
