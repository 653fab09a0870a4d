"""The fingerprint block: the pages of one batch as columns, as an Arrow IPC stream.

A block names the hash scheme it was made under; one of another scheme is refused. Its columns stand
in sections, each with a version; a reader skips those that it does not know (`sections`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.format import SHORTEST
from reusewatch.streams import topics
from reusewatch.streams.blocks import sections
from reusewatch.streams.blocks.checking import (
    CHECKSUM_HEADER,
    check_bytes,
    check_values,
    checksum_of,
)
from reusewatch.streams.blocks.expansion import MOST_BYTES, check_expansion
from reusewatch.streams.blocks.label_columns import (
    GRAM_LABEL_FIELDS,
    HOME_FIELDS,
    MATCH_FIELDS,
    NOTHING,
    STOOD_FIELDS,
    Marks,
    label_columns,
)
from reusewatch.streams.blocks.page_row import PageRow
from reusewatch.streams.blocks.sections import Section
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.records import VERSIONS
from reusewatch.streams.wire import Headers, Malformed, check_schema, headers_for

if TYPE_CHECKING:
    from reusewatch.detector.sketching.chunks import Unit
    from reusewatch.detector.sketching.fingerprint import Fingerprints

MIN_VALUES, SUPERSHINGLES, SIMHASH_WORDS = 84, 6, 6
_HASH = pa.uint64()
PAGE_FIELDS = (
    pa.field("page", _HASH, nullable=False),
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
    pa.field("file_hash", _HASH, nullable=False),
    pa.field("revisit_of", _HASH),
    pa.field("revisit_at", pa.timestamp("us", "UTC")),
)
# What a page says of itself: the page that it names as its source, which may be itself.
CLAIM_FIELDS = (pa.field("canonical", _HASH),)
ORIGIN_FIELDS = (pa.field("record_id", pa.string()),)
# Where a page leads on other sites: the page, its site, and where in the body the link's words
# begin. Null: who wrote the block did not look.
LINK_FIELDS = (
    pa.field("links", pa.list_(_HASH)),
    pa.field("link_sites", pa.list_(_HASH)),
    pa.field("link_starts", pa.list_(pa.uint32())),
)
ROW_FIELDS = (*PAGE_FIELDS, *CLAIM_FIELDS, *ORIGIN_FIELDS, *LINK_FIELDS)
SKETCH_FIELDS = (
    pa.field("tokens", pa.int64(), nullable=False),
    pa.field("identity_hash", _HASH, nullable=False),
    pa.field("shingles", pa.list_(_HASH, MIN_VALUES), nullable=False),
    pa.field("supershingles5", pa.list_(_HASH, SUPERSHINGLES), nullable=False),
    pa.field("supershingles8", pa.list_(_HASH, SUPERSHINGLES), nullable=False),
    pa.field("simhash", pa.list_(_HASH, SIMHASH_WORDS), nullable=False),
    pa.field("chunks", pa.list_(_HASH), nullable=False),
    pa.field("chunk_lengths", pa.list_(pa.uint32()), nullable=False),
    pa.field("chunk_starts", pa.list_(pa.int64()), nullable=False),
    pa.field("chunk_ends", pa.list_(pa.int64()), nullable=False),
    pa.field("terms", pa.list_(_HASH), nullable=False),
    pa.field("term_weights", pa.list_(pa.float32()), nullable=False),
    pa.field("terms_total", pa.float64(), nullable=False),
)
# Null: not kept. `grams_are_all`: of a short page, or of every one; otherwise a sample.
GRAM_FIELDS = (
    pa.field("grams", pa.list_(_HASH)),
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
)
SCHEMA = pa.schema([field for section in SECTIONS for field in section.fields])
PAGES_HEADER = "pages"
# Room for key and headers beside the value.
_ENVELOPE = 4096
_VERSION = b"fingerprints"
_SCHEME = b"scheme"
_CHUNKS = b"chunks"
_LONGER_THAN = b"longer-than"
_MOST_DIGITS = 10
_UNITS: Mapping[bytes, Unit] = {b"text": "text", b"raw": "raw"}
_SAID = sections.said(SECTIONS)
# A block has dozens of small columns: to hand each to a thread costs more than its work.
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
_READING = pa.ipc.IpcReadOptions(use_threads=False)


def block_of(
    rows: Sequence[PageRow],
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
        told = [
            pa.array(column, field.type)
            for column, field in zip(_columns_of(rows), ROW_FIELDS, strict=True)
        ]
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as error:
        raise BadPage("malformed-message", f"a value that no page has: {error}") from error
    schema = SCHEMA.with_metadata({_CHUNKS: made.sketches.chunks.unit, _LONGER_THAN: str(shortest)})
    sketched = _sketch_columns(made, grams=grams)
    sketches, kept = ([sketched[field.name] for field in of] for of in (SKETCH_FIELDS, GRAM_FIELDS))
    labels = label_columns([NOTHING] * len(rows) if marks is None else marks)
    dodges = [pa.array([facts.obfuscated for facts in made.facts], pa.float32())]
    later = len(STOOD_FIELDS) + len(GRAM_LABEL_FIELDS)
    stood, labels = labels[-later:], labels[:-later]
    page, said = told[: len(PAGE_FIELDS)], told[len(PAGE_FIELDS) :]
    every = [*page, *sketches, *labels, *kept, *dodges, *said, *stood]
    return pa.record_batch(every, schema=schema)


def _columns_of(rows: Sequence[PageRow]) -> Iterable[Sequence[Any]]:
    return zip(*rows, strict=True) if rows else [()] * len(ROW_FIELDS)


def unit_of(block: pa.RecordBatch) -> Unit:
    """What a chunk of the block's pages is. Chunks of different units are never compared."""
    unit: Unit | None = _UNITS.get((block.schema.metadata or {}).get(_CHUNKS, b"text"))
    if unit is None:
        raise Malformed("a fingerprint block with chunks of a kind that is not known")
    return unit


def longer_than(block: pa.RecordBatch) -> int:
    """Characters that a chunk of these pages had to have more of, to be labeled."""
    said = (block.schema.metadata or {}).get(_LONGER_THAN, b"%d" % SHORTEST)
    if not said.isdigit() or len(said) > _MOST_DIGITS:
        raise Malformed("a fingerprint block that says of no length which chunks can be labeled")
    return int(said)


def _sketch_columns(made: Fingerprints, *, grams: bool) -> dict[str, pa.Array]:
    """The columns by the names that `SKETCH_FIELDS` and `GRAM_FIELDS` give them."""
    sketches, chunks, terms = made.sketches, made.sketches.chunks, made.sketches.terms
    at_chunk, at_term = chunks.hashes.offsets, terms.hashes.offsets
    kept = sketches.grams.hashes
    none = partial(_no_lists, len(made))
    return {
        "tokens": pa.array(sketches.words),
        "identity_hash": pa.array(sketches.identity),
        "shingles": _fixed(sketches.min_values5),
        "supershingles5": _fixed(sketches.supershingles5),
        "supershingles8": _fixed(sketches.supershingles8),
        "simhash": _fixed(sketches.simhash),
        "chunks": _lists(at_chunk, chunks.hashes.values),
        "chunk_lengths": _lists(at_chunk, chunks.lengths),
        "chunk_starts": _lists(at_chunk, made.chunk_starts),
        "chunk_ends": _lists(at_chunk, made.chunk_ends),
        "grams": _lists(kept.offsets, kept.values) if grams else none(_HASH),
        "gram_starts": (
            _lists(kept.offsets, _short(made.gram_starts)) if grams else none(pa.uint32())
        ),
        "gram_ends": _lists(kept.offsets, _short(made.gram_ends)) if grams else none(pa.uint32()),
        "grams_are_all": pa.array(made.all_grams),
        "terms": _lists(at_term, terms.hashes.values),
        "term_weights": _lists(at_term, terms.weights),
        "terms_total": pa.array(terms.totals),
    }


def _fixed(rows: NDArray[Any]) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])


def _lists(offsets: NDArray[np.int64], values: NDArray[Any]) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values))


def _no_lists(size: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(size, pa.list_(kind))


def _short(offsets: NDArray[np.int64]) -> NDArray[np.uint32]:
    return offsets.clip(0, (1 << 32) - 1).astype(np.uint32)


def encode(block: pa.RecordBatch, scheme: HashScheme) -> bytes:
    """The block as bytes, with its version, its scheme and what its chunks are."""
    return _encoded(_marked(block, scheme))


def _marked(block: pa.RecordBatch, scheme: HashScheme) -> pa.RecordBatch:
    metadata = {
        _VERSION: str(VERSIONS["fingerprints"]), _SCHEME: scheme.name, _CHUNKS: unit_of(block),
        sections.HEADER: _SAID,
        _LONGER_THAN: str(longer_than(block)),
    }  # fmt: skip
    return block.replace_schema_metadata(metadata)


def _encoded(block: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    schema = SCHEMA.with_metadata(block.schema.metadata)
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS) as writer:
        writer.write_batch(block)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def block_messages(
    block: pa.RecordBatch,
    scheme: HashScheme,
    partition: int | None = None,
    *,
    limit: int = topics.TOPICS[topics.FINGERPRINTS].message_bytes,
    headers: Headers = (),
) -> Iterator[Outgoing]:
    """Blocks of pages whose sites share a partition, each within the broker's message limit.

    A block is keyed by the site of its first page.
    """
    marked = _marked(block, scheme)
    value = _encoded(marked)
    # What cannot be read back must not be sent: readers refuse what becomes too large.
    if len(value) > limit - _ENVELOPE or block.nbytes > MOST_BYTES // 2:
        if len(block) == 1:
            raise BadPage("too-large", f"a fingerprint of {len(value)} bytes; the limit is {limit}")
        half = len(block) // 2
        for part in (block.slice(0, half), block.slice(half)):
            yield from block_messages(part, scheme, partition, limit=limit, headers=headers)
        return
    said = (
        *headers_for(topics.FINGERPRINTS),
        (PAGES_HEADER, b"%d" % len(block)),
        (CHECKSUM_HEADER, checksum_of(value)),
        *headers,
    )
    # A part of a block keeps the memory of all of it, and its columns begin anywhere.
    if all(column.offset == 0 for column in marked.columns):
        _LAST.keep(topics.FINGERPRINTS, said, value, scheme, marked)
    yield Outgoing(
        topics.FINGERPRINTS, block.column("site")[0].as_py(), value, said, partition
    )  # fmt: skip


class _LastBlock:
    """The block that was made or read last: on one machine, several stages read each one in turn,
    in the process that made it."""

    def __init__(self) -> None:
        self._known: tuple[tuple[str, Headers, bytes | None, str], pa.RecordBatch] | None = None

    def find(self, message: Message, scheme: HashScheme) -> pa.RecordBatch | None:
        """The block of a message that says the same, if that was the last one."""
        if self._known is None:
            return None
        known, block = self._known
        said = (message.partition.topic, message.headers, message.value, scheme.name)
        return block if known == said else None

    def keep(
        self, topic: str, headers: Headers, value: bytes | None, scheme: HashScheme,
        block: pa.RecordBatch,
    ) -> None:  # fmt: skip
        """Now this is the last one. One value: other threads see all of it or nothing."""
        self._known = ((topic, headers, value, scheme.name), block)


_LAST = _LastBlock()


def read_block(message: Message, scheme: HashScheme) -> pa.RecordBatch:
    """The block in a message: the columns of `SCHEMA`, whatever else a newer version added."""
    block = _LAST.find(message, scheme)
    if block is None:
        block = _decoded(message, scheme)
        topic = message.partition.topic
        _LAST.keep(topic, message.headers, message.value, scheme, block)
    return block


def take_as_made(sent: Outgoing, scheme: HashScheme) -> None:
    """A block that another process of this command made is read next: what it says was made by
    these sources from pages, and is not checked against itself a second time."""
    if sent.value is not None:
        with pa.ipc.open_stream(sent.value, options=_READING) as reader:
            table = sections.known(reader.read_all(), SECTIONS)
        (block,) = table.combine_chunks().to_batches()
        _LAST.keep(sent.topic, sent.headers, sent.value, scheme, block)


def _decoded(message: Message, scheme: HashScheme) -> pa.RecordBatch:
    check_schema(message)
    check_bytes(message)
    check_expansion(message.value or b"")
    try:
        with pa.ipc.open_stream(message.value or b"", options=_READING) as reader:
            table = reader.read_all()
        table.validate(full=True)
        _check_scheme(table, scheme)
        table = sections.known(table, SECTIONS)
        _check_columns(table)
    # ValueError: names that are no UTF-8, which Arrow does not look at before they are asked for.
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Malformed(f"not a fingerprint block: {error}") from error
    block = table.combine_chunks().to_batches()[0] if len(table) else pa.RecordBatch.from_pylist(
        [], schema=table.schema
    )  # fmt: skip
    try:
        check_values(block, scheme)
        longer_than(block)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise Malformed(f"a fingerprint block with a value that no page has: {error}") from error
    return block


def _check_scheme(table: pa.Table, scheme: HashScheme) -> None:
    """Another scheme stops the process: nothing of the topic could be compared."""
    found = (table.schema.metadata or {}).get(_SCHEME)
    if found is None:
        raise Malformed("a fingerprint block that names no hash scheme")
    scheme.require(found.decode("utf-8", "replace"), "a fingerprint block")


def _check_columns(table: pa.Table) -> None:
    for field in SCHEMA:
        column = table.column(field.name)
        if column.type != field.type or (column.null_count and not field.nullable):
            raise Malformed(f"a fingerprint block whose {field.name} is no {field.type}")
        while pa.types.is_list(column.type) or pa.types.is_fixed_size_list(column.type):
            column = pc.list_flatten(column)
            if column.null_count:
                raise Malformed(f"a fingerprint block with nothing in the lists of {field.name}")
