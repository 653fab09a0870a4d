"""Messages into their batch, each for a tenth of what `KafkaProducer.send` takes: it looks at each
message as at the first one, writes each header anew, each record byte by byte, and makes a future
for each, with a lock and two callbacks.

What stands in the batch is the same. The first message of a batch goes by the client's accumulator,
those that come with it or later are written to the batch as the accumulator would, under its lock,
and what becomes of the batch is told of all of these at once. Headers come as they are written; one
method of the client is told to take these. Only with versions of the client whose inside is as here
(`KNOWN`); with any other, messages go by `send`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol

from kafka.record.default_records import DefaultRecordBatchBuilder, DefaultRecordMetadata
from kafka.record.util import encode_varint
from kafka.structs import TopicPartition
from kafka.version import __version__

from reusewatch.streams.kafka.inflight import Entry

KNOWN = __version__.startswith("3.0.")
Headers = tuple[tuple[str, bytes], ...]

_Builder: Any = DefaultRecordBatchBuilder  # its types do not tell of what is inside
_Metadata: Any = DefaultRecordMetadata
_usual = _Builder.append
_varint: Any = encode_varint
_SIZES = 1 << 14
_RECEIPTS = "_reusewatch_receipts"  # of a batch, where they stand in it
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


def encode_key(key: str) -> bytes:
    """A key as bytes; what UTF-8 cannot hold becomes a question mark."""
    return key.encode("utf-8", "replace")


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


class Ledger(Protocol):
    """Who is told what became of messages."""

    def acknowledge(self, *entries: Entry) -> None:
        """The broker has them."""

    def fail(self, entry: Entry, error: BaseException) -> None:
        """The broker will not have this one."""


class _Receipt:
    """A message that was written to a batch, where the client has a future."""

    __slots__ = ("at", "entry", "ledger")

    def __init__(self, at: int, entry: Entry, ledger: Ledger) -> None:
        self.at = at
        self.entry = entry
        self.ledger = ledger

    def rebind(self, future: Any, at: int) -> None:
        """The client has split the batch, which was too large: this is the message's place now."""
        self.at = at
        _Receipts([self], self.ledger).hear_of(future)


class _Receipts:
    """Messages of which one batch tells."""

    __slots__ = ("_ledger", "_receipts")

    def __init__(self, receipts: list[_Receipt], ledger: Ledger) -> None:
        self._receipts = receipts
        self._ledger = ledger

    def add(self, receipts: list[_Receipt]) -> None:
        self._receipts += receipts

    def hear_of(self, future: Any) -> None:
        future._add_cb_eb(self._answered, self._failed)

    def _answered(self, said: tuple[int, int, Callable[[int], BaseException] | None]) -> None:
        _, _, error_of = said
        if error_of is None:
            self._ledger.acknowledge(*[one.entry for one in self._receipts])
            return
        for one in self._receipts:
            self._ledger.fail(one.entry, error_of(one.at))

    def _failed(self, error: BaseException) -> None:
        for one in self._receipts:
            self._ledger.fail(one.entry, error)


def hand_over(
    accumulator: Any, to: TopicPartition, entries: Sequence[Entry], ledger: Ledger
) -> bool:
    """Have messages sent, to a partition that the producer has sent to before; whether a batch
    begins with one of them, for which the sender is to be woken. Raises as `send` does of a
    producer that is closed."""
    # Once: each time that it is set, Python forgets what it knows of the class, and it numbers what
    # it knows with 32 bits.
    if _Builder.append is not _append:
        _Builder.append = _append
    at, begun = 0, False
    while True:
        # Before the batch is drained, split or given up, the client takes this lock and closes it:
        # it either has the messages with their receipts, or takes no more.
        with accumulator._tp_lock(to):
            batches = () if accumulator._closed else accumulator._batches[to]
            if batches:
                at += _add(batches[-1], entries[at:], ledger)
        if at == len(entries):
            return begun
        begun |= _begin(accumulator, to, entries[at], ledger)
        at += 1


def _begin(accumulator: Any, to: TopicPartition, entry: Entry, ledger: Ledger) -> bool:
    """Begin a batch with a message, or add it to the one that was begun meanwhile."""
    message = entry.message
    future, _, is_new, _ = accumulator.append(
        to, None, encode_key(message.key), message.value, written(message.headers)
    )
    future._add_cb_eb(lambda _: ledger.acknowledge(entry), lambda error: ledger.fail(entry, error))
    return bool(is_new)


def _add(batch: Any, entries: Sequence[Entry], ledger: Ledger) -> int:
    """How many of the messages there was room for, as `ProducerBatch.try_append` and what it calls
    have each."""
    records = batch.records
    if records._closed:
        return 0
    builder = records._builder
    buffer, left = builder._buffer, builder._batch_size - len(builder._buffer)
    timestamp = int(time.time() * 1000)
    begin = b"\0" + _number(timestamp - builder._first_timestamp)  # attributes first
    offset = records._next_offset
    largest = batch.max_record_size
    receipts = []
    for entry in entries:
        message = entry.message
        key, value, said = encode_key(message.key), message.value, written(message.headers).said
        body = b"".join((
            begin, _number(offset), _number(len(key)), key,
            b"\1" if value is None else _number(len(value)),
        ))  # fmt: skip
        size = len(body) + len(value or b"") + len(said)
        length = _number(size)
        size += len(length)
        if size > left:
            break
        left -= size
        buffer += length + body
        if value is not None:
            buffer += value
        buffer += said
        receipts.append(_Receipt(offset, entry, ledger))
        offset += 1
        largest = max(largest, size)
    if not receipts:
        return 0
    builder._max_timestamp = max(builder._max_timestamp, timestamp)
    builder._num_records += len(receipts)
    builder._last_offset = offset - 1
    records._next_offset = offset
    batch.max_record_size = largest
    batch.last_append = time.monotonic()
    batch._record_futures += receipts
    known: _Receipts | None = batch.__dict__.get(_RECEIPTS)
    if known is None:
        known = batch.__dict__[_RECEIPTS] = _Receipts([], ledger)
        known.hear_of(batch.produce_future)
    known.add(receipts)
    return len(receipts)
