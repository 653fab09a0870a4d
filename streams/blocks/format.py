"""The fingerprint block as bytes and in messages: the pages of one batch, as an Arrow IPC stream.

A block names the hash scheme it was made under; one of another scheme is refused. Its columns stand
in sections, each with a version; a reader skips those that it does not know (`sections`).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pyarrow as pa

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.blocks import sections
from reusewatch.streams.blocks.checking import (
    CHECKSUM_HEADER,
    check_bytes,
    check_values,
    checksum_of,
)
from reusewatch.streams.blocks.columns import (
    CHUNKS,
    LONGER_THAN,
    SCHEMA,
    SECTIONS,
    longer_than,
    unit_of,
)
from reusewatch.streams.blocks.expansion import MOST_BYTES, check_expansion
from reusewatch.streams.blocks.sections import Section
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.records import VERSIONS
from reusewatch.streams.wire import Headers, Malformed, check_schema, headers_for

_LISTS = frozenset(
    field.name
    for field in SCHEMA
    if pa.types.is_list(field.type) or pa.types.is_fixed_size_list(field.type)
)
PAGES_HEADER = "pages"
# Room for key and headers beside the value.
_ENVELOPE = 4096
_VERSION = b"fingerprints"
_SCHEME = b"scheme"
_SAID = sections.said(SECTIONS)
# Bytes of what is said of a block and its buffers, at the most.
_SAID_OF_BLOCK = 1 << 17
_mine = threading.local()
# Below nothing LZ4 looks for repeats less often where it finds none: most bytes are hashes. One
# step further down the log is 3 per cent larger.
_CODEC = pa.Codec("lz4", compression_level=-1)
# A block has dozens of small columns: to hand each to a thread costs more than its work.
_OPTIONS = pa.ipc.IpcWriteOptions(compression=_CODEC, use_threads=False)
_READING = pa.ipc.IpcReadOptions(use_threads=False)


def encode(block: pa.RecordBatch, scheme: HashScheme) -> bytes:
    """The block as bytes, with its version, its scheme and what its chunks are."""
    return _encoded(_marked(block, scheme))


def _marked(block: pa.RecordBatch, scheme: HashScheme) -> pa.RecordBatch:
    metadata = {
        _VERSION: str(VERSIONS["fingerprints"]), _SCHEME: scheme.name, CHUNKS: unit_of(block),
        sections.HEADER: _SAID,
        LONGER_THAN: str(longer_than(block)),
    }  # fmt: skip
    return block.replace_schema_metadata(metadata)


def _encoded(block: pa.RecordBatch) -> bytes:
    room = _room(block)
    sink = pa.FixedSizeBufferWriter(room)
    schema = SCHEMA.with_metadata(block.schema.metadata)
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS) as writer:
        writer.write_batch(block)
    found: bytes = room.slice(0, sink.tell()).to_pybytes()
    return found


def _room(block: pa.RecordBatch) -> pa.Buffer:
    """Memory that any bytes of a block fit into, the same for each of a thread: one that grows
    while it is written to is found, cleared and copied several times."""
    # LZ4 makes what it cannot compress larger by a 255th; what is said of a buffer comes on top.
    most = block.get_total_buffer_size()
    most += most // 128 + _SAID_OF_BLOCK
    kept: pa.Buffer | None = getattr(_mine, "room", None)
    if kept is None or kept.size < most:
        kept = pa.allocate_buffer(most)
        _mine.room = kept if most <= topics.TOPICS[topics.FINGERPRINTS].message_bytes else None
    return kept


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
    if len(value) > limit - _ENVELOPE or _is_large(block):
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
    # A part of a block keeps the memory of all of it, and its columns begin anywhere, all alike.
    if marked.column(0).offset == 0:
        _LAST.keep(topics.FINGERPRINTS, said, value, scheme, marked, made=True)
    yield Outgoing(
        topics.FINGERPRINTS, block.column("site")[0].as_py(), value, said, partition
    )  # fmt: skip


def _is_large(block: pa.RecordBatch) -> bool:
    # Its own bytes are counted where those of all that it is a part of are too many.
    most = MOST_BYTES // 2
    return bool(block.get_total_buffer_size() > most and block.nbytes > most)


class _LastBlock:
    """The block that was made or read last: on one machine, several stages read each one in turn,
    in the process that made it."""

    def __init__(self) -> None:
        self._known: tuple[tuple[str, Headers, bytes | None, str], pa.RecordBatch, bool] | None
        self._known = None

    def find(self, message: Message, scheme: HashScheme) -> pa.RecordBatch | None:
        """The block of a message that says the same, if that was the last one."""
        if self._known is None:
            return None
        known, block, _ = self._known
        said = (message.partition.topic, message.headers, message.value, scheme.name)
        return block if known == said else None

    def is_made(self, block: pa.RecordBatch) -> bool:
        """Whether it is the last one, and was made of pages here."""
        known = self._known
        return known is not None and known[1] is block and known[2]

    def keep(
        self, topic: str, headers: Headers, value: bytes | None, scheme: HashScheme,
        block: pa.RecordBatch, *, made: bool,
    ) -> None:  # fmt: skip
        """Now this is the last one. One value: other threads see all of it or nothing."""
        self._known = ((topic, headers, value, scheme.name), block, made)

    def forget(self) -> None:
        """Nobody reads it again."""
        self._known = None


_LAST = _LastBlock()


def read_block(
    message: Message, scheme: HashScheme, names: tuple[str, ...] | None = None
) -> pa.RecordBatch:
    """The block in a message: the columns of `SCHEMA`, whatever else a newer version added.

    With `names` at least these columns. What stands in the others is then not looked at, and is no
    reason to refuse the block."""
    block = _LAST.find(message, scheme)
    if block is None and names is not None:
        # Not kept: who reads the same block next may need more of it.
        return _decoded(message, scheme, names)
    if block is None:
        block = _decoded(message, scheme)
        topic = message.partition.topic
        _LAST.keep(topic, message.headers, message.value, scheme, block, made=False)
    return block


def is_made(block: pa.RecordBatch) -> bool:
    """Whether these sources made the block that was read last, in a process of this command: what
    stands in it of its pages belongs together, and is not checked again."""
    return _LAST.is_made(block)


def take_as_made(sent: Outgoing, scheme: HashScheme) -> None:
    """A block that another process of this command made is read next: what it says was made by
    these sources from pages, and is not checked against itself a second time."""
    if sent.value is not None:
        table = sections.known(_table(sent.value), SECTIONS)
        (block,) = table.combine_chunks().to_batches()
        _LAST.keep(sent.topic, sent.headers, sent.value, scheme, block, made=True)


def forget_last() -> None:
    """Of the block that was read or made last nothing is kept any more: all stages have read it."""
    _LAST.forget()


def _decoded(
    message: Message, scheme: HashScheme, names: tuple[str, ...] | None = None
) -> pa.RecordBatch:
    check_schema(message)
    check_bytes(message)
    check_expansion(message.value or b"")
    try:
        table = _table(message.value or b"", names)
        table.validate(full=True)
        _check_scheme(table, scheme)
        table = sections.known(table, SECTIONS if names is None else _only(names))
        block = _as_batch(table)
        _check_columns(block)
    # ValueError: names that are no UTF-8, which Arrow does not look at before they are asked for.
    except (pa.ArrowException, OSError, ValueError) as error:
        raise Malformed(f"not a fingerprint block: {error}") from error
    try:
        check_values(block, scheme)
        longer_than(block)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise Malformed(f"a fingerprint block with a value that no page has: {error}") from error
    return block


def _as_batch(table: pa.Table) -> pa.RecordBatch:
    if not len(table):
        return pa.RecordBatch.from_pylist([], schema=table.schema)
    return table.combine_chunks().to_batches()[0]


def _table(value: bytes, names: tuple[str, ...] | None = None) -> pa.Table:
    """What a stream holds, or of its columns those of these names."""
    options = _READING
    if names is not None:
        written = pa.ipc.read_schema(pa.py_buffer(value))
        # One that is there twice is as one that is not there.
        places = [at for at in map(written.get_field_index, names) if at >= 0]
        options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=places)
    with pa.ipc.open_stream(value, options=options) as reader:
        return reader.read_all()


@cache
def _only(names: tuple[str, ...]) -> tuple[Section, ...]:
    """The sections, and of their columns these."""
    return tuple(
        replace(one, fields=tuple(field for field in one.fields if field.name in names))
        for one in SECTIONS
    )


def _check_scheme(table: pa.Table, scheme: HashScheme) -> None:
    """Another scheme stops the process: nothing of the topic could be compared."""
    found = (table.schema.metadata or {}).get(_SCHEME)
    if found is None:
        raise Malformed("a fingerprint block that names no hash scheme")
    scheme.require(found.decode("utf-8", "replace"), "a fingerprint block")


def _check_columns(block: pa.RecordBatch) -> None:
    for name, column in zip(block.schema.names, block.columns, strict=True):
        field = SCHEMA.field(name)
        if column.type != field.type or (column.null_count and not field.nullable):
            raise Malformed(f"a fingerprint block whose {field.name} is no {field.type}")
        # What stands between two lists is nothing's: only where there is a null is it looked for.
        if name in _LISTS and column.values.null_count and column.flatten().null_count:
            raise Malformed(f"a fingerprint block with nothing in the lists of {field.name}")
