"""A message into its batch, for half of what `KafkaProducer.send` takes: it looks at each message
as at the first one, writes each header anew, and each record byte by byte.

What stands in the batch is the same. The client's accumulator is handed the message, and with it
its headers as they are written; one method of the client is told to take these. Only with versions
of the client whose inside is as here (`KNOWN`); with any other, messages go by `send`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kafka.record.default_records import DefaultRecordBatchBuilder, DefaultRecordMetadata
from kafka.record.util import encode_varint
from kafka.structs import TopicPartition
from kafka.version import __version__

KNOWN = __version__.startswith("3.0.")
Headers = tuple[tuple[str, bytes], ...]

_Builder: Any = DefaultRecordBatchBuilder  # its types do not tell of what is inside
_Metadata: Any = DefaultRecordMetadata
_usual = _Builder.append
_varint: Any = encode_varint
_SIZES = 1 << 14
# A size is written in up to five bytes: of key and of value.
_AROUND: int = _Builder.HEADER_STRUCT.size + _Builder.MAX_RECORD_OVERHEAD + 2 * 5


class Written(list[Any]):
    """The headers of a record as they stand in it; nothing to whoever looks for headers."""

    __slots__ = ("said",)

    def __init__(self, said: bytes) -> None:
        super().__init__()
        self.said = said


@lru_cache(_SIZES)
def _number(value: int) -> bytes:
    found = bytearray()
    _varint(value, found.append)
    return bytes(found)


@lru_cache(256)
def written(headers: Headers) -> Written:
    """Headers as a record has them. Most messages of a topic have the same."""
    parts = [_number(len(headers))]
    for name, value in headers:
        said = name.encode()
        parts += _number(len(said)), said, _number(len(value)), value
    return Written(b"".join(parts))


def size_of(key: bytes, value: bytes | None, headers: Headers) -> int:
    """Bytes of a batch of this record alone, before compression, at most."""
    return _AROUND + len(key) + len(value or b"") + len(written(headers).said)


def _append(
    builder: Any, offset: int, timestamp: int | None, key: bytes | None, value: bytes | None,
    headers: Any, **named: Any,
) -> Any:  # fmt: skip
    if type(headers) is not Written:
        return _usual(builder, offset, timestamp, key, value, headers, **named)
    if timestamp is None:
        timestamp = int(time.time() * 1000)
    is_first = builder._first_timestamp is None
    if is_first:
        builder._first_timestamp = builder._max_timestamp = timestamp
    begin = b"".join((
        b"\0",  # attributes
        _number(timestamp - builder._first_timestamp),
        _number(offset),
        b"\1" if key is None else _number(len(key)) + key,
        b"\1" if value is None else _number(len(value)),
    ))  # fmt: skip
    said = headers.said
    size = len(begin) + len(value or b"") + len(said)
    length, buffer = _number(size), builder._buffer
    required = len(length) + size
    if required + len(buffer) > builder._batch_size and not is_first:
        return None
    builder._max_timestamp = max(builder._max_timestamp, timestamp)
    builder._num_records += 1
    builder._last_offset = offset
    buffer += length
    buffer += begin
    if value is not None:
        buffer += value
    buffer += said
    return _Metadata(offset, required, timestamp)


def hand_over(
    producer: Any, to: TopicPartition, key: bytes, value: bytes | None, headers: Headers,
    done: Callable[[object], None], failed: Callable[[BaseException], None],
) -> None:  # fmt: skip
    """Have a message sent, to a topic that the producer has sent to before. Raises as `send` does
    of a producer that is closed."""
    # Once: each time that it is set, Python forgets what it knows of the class, and it numbers what
    # it knows with 32 bits.
    if _Builder.append is not _append:
        _Builder.append = _append
    future, _, is_new, _ = producer._accumulator.append(to, None, key, value, written(headers))
    future._add_cb_eb(done, failed)
    # Not for each message that comes while another batch waits: a batch that is full is sent when
    # the next one begins, or a moment later.
    if is_new:
        producer._sender.wakeup()
