"""What a fingerprint block becomes when its buffers are decompressed, before any is.

Arrow believes what each compressed buffer says of its size: 60 kB of a stranger's would be 1.6 GB.
The sizes stand in front of the buffers, and where those stand is said by the flatbuffer of each
message (Arrow columnar format, "Serialization and interprocess communication", Message.fbs), which
is read here as far as that and no further. Nothing is decompressed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.streams.wire import Malformed

# A block is up to 8 MiB; of sound ones, hardly any doubles by being decompressed.
MOST_BYTES = 256 << 20
_KINDS = ("schema", "record batch")
_SIZE_BYTES = 8
_BUFFER_BYTES = 16  # where in the body, and how long
_NOTHING = np.zeros((2, 0), np.int64)
# Places of fields in their tables: of a message, its header; of a record batch, its buffers and
# how they are compressed.
_HEADER, _BUFFERS, _COMPRESSION = 2, 2, 3


def check_expansion(value: bytes) -> None:
    """Malformed where the buffers of a block say that they are larger than any that was written."""
    try:
        size = sum(_sizes(value))
    except (struct.error, pa.ArrowException, OSError, EOFError, ValueError) as error:
        raise Malformed(f"not a fingerprint block: {error}") from error
    if size > MOST_BYTES:
        raise Malformed(
            f"a fingerprint block of {len(value)} bytes that says it is {size}, "
            f"more than {MOST_BYTES}"
        )


def _sizes(value: bytes) -> Iterator[int]:
    """The decompressed size of each compressed buffer."""
    messages = pa.ipc.MessageReader.open_stream(pa.py_buffer(value))
    while (message := _next(messages)) is not None:
        if message.type not in _KINDS:
            raise Malformed(f"a fingerprint block with a {message.type} in it")
        if message.type == "schema":
            continue
        body = np.frombuffer(message.body or b"", np.uint8)
        at, length = _compressed(memoryview(message.metadata))
        at = at[length >= _SIZE_BYTES]
        if ((at < 0) | (at > len(body) - _SIZE_BYTES)).any():
            raise struct.error("a buffer past the end of its body")
        said = body[at[:, None] + np.arange(_SIZE_BYTES)].view("<i8")
        # -1: this one is stored as it is.
        yield from said.clip(0, None).ravel().tolist()


def _next(messages: pa.ipc.MessageReader) -> pa.ipc.Message | None:
    try:
        return messages.read_next_message()
    except StopIteration:
        return None


def _compressed(said: memoryview) -> NDArray[np.int64]:
    """Where the buffers of a record batch stand in its body, and how long they are; nothing of one
    that is not compressed."""
    root = _offset(said, 0)
    header = _field(said, root, _HEADER)
    if header is None:
        return _NOTHING
    batch = header + _offset(said, header)
    buffers, compression = (_field(said, batch, at) for at in (_BUFFERS, _COMPRESSION))
    if buffers is None or compression is None:
        return _NOTHING
    vector = buffers + _offset(said, buffers)
    first, count = vector + 4, _offset(said, vector)
    if first + count * _BUFFER_BYTES > len(said):
        raise struct.error("more buffers than there is room for")
    return np.frombuffer(said, "<i8", 2 * count, first).reshape(-1, 2).T


def _offset(said: memoryview, at: int) -> int:
    found: int = struct.unpack_from("<I", said, at)[0]
    return found


def _field(said: memoryview, table: int, number: int) -> int | None:
    """The place of a field of a table, by its number; None where the table does not have it."""
    vtable = table - struct.unpack_from("<i", said, table)[0]
    at = 4 + 2 * number
    if vtable < 0 or at >= struct.unpack_from("<H", said, vtable)[0]:
        return None
    within: int = struct.unpack_from("<H", said, vtable + at)[0]
    return table + within if within else None
