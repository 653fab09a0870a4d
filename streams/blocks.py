"""The fingerprint block: the pages of one batch as columns, as an Arrow IPC stream.

A block names the hash scheme it was made under; one of another scheme is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from detector.errors import BadPage
from detector.hashing import HashScheme
from streams import topics
from streams.bus import Message, Outgoing
from streams.records import VERSIONS
from streams.wire import Headers, Malformed, check_schema, headers_for

SCHEMA = pa.schema(
    [
        pa.field("page", pa.uint64(), nullable=False),
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
        pa.field("tokens", pa.int64(), nullable=False),
        pa.field("truncated", pa.bool_(), nullable=False),
        pa.field("file_hash", pa.uint64(), nullable=False),
        pa.field("identity_hash", pa.uint64(), nullable=False),
        pa.field("revisit_of", pa.uint64()),
        pa.field("revisit_at", pa.timestamp("us", "UTC")),
    ]
)
PAGES_HEADER = "pages"
# Room for key and headers beside the value.
_ENVELOPE = 4096
_VERSION = b"fingerprints"
_SCHEME = b"scheme"
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


def encode(rows: Sequence[Mapping[str, Any]], scheme: HashScheme) -> bytes:
    """The rows as one block."""
    columns = [pa.array([row[field.name] for row in rows], field.type) for field in SCHEMA]
    metadata = {_VERSION: str(VERSIONS["fingerprints"]), _SCHEME: scheme.name}
    schema = SCHEMA.with_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=_OPTIONS) as writer:
        writer.write_batch(pa.record_batch(columns, schema=schema))
    found: bytes = sink.getvalue().to_pybytes()
    return found


def block_messages(
    rows: Sequence[Mapping[str, Any]],
    scheme: HashScheme,
    partition: int | None = None,
    *,
    limit: int = topics.TOPICS[topics.FINGERPRINTS].message_bytes,
    headers: Headers = (),
) -> Iterator[Outgoing]:
    """Blocks of pages whose sites share a partition, each within the broker's message limit.

    A block is keyed by the site of its first page.
    """
    value = encode(rows, scheme)
    if len(value) > limit - _ENVELOPE:
        if len(rows) == 1:
            raise BadPage("too-large", f"a fingerprint of {len(value)} bytes; the limit is {limit}")
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            yield from block_messages(half, scheme, partition, limit=limit, headers=headers)
        return
    yield Outgoing(
        topics.FINGERPRINTS,
        rows[0]["site"],
        value,
        (*headers_for(topics.FINGERPRINTS), (PAGES_HEADER, b"%d" % len(rows)), *headers),
        partition,
    )


def read_block(message: Message, scheme: HashScheme) -> pa.RecordBatch:
    """The block in a message. Columns that a newer minor version added are left in."""
    check_schema(message)
    try:
        with pa.ipc.open_stream(message.value or b"") as reader:
            table = reader.read_all()
        table.validate(full=True)
        # Names are decoded only here: they may be no UTF-8.
        types = {field.name: field.type for field in table.schema}
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise Malformed(f"not a fingerprint block: {error}") from error
    metadata = table.schema.metadata or {}
    scheme.require(metadata.get(_SCHEME, b"(none)").decode("utf-8", "replace"), "a block")
    missing = [field.name for field in SCHEMA if types.get(field.name) != field.type]
    if missing:
        raise Malformed(f"a fingerprint block without {', '.join(missing)} of the right type")
    return table.combine_chunks().to_batches()[0] if len(table) else pa.RecordBatch.from_pylist(
        [], schema=table.schema
    )  # fmt: skip
