"""A message into its batch, for a quarter of what `KafkaProducer.send` takes: it looks at each
message as at the first one, writes each header anew, each record byte by byte, and makes a future
for each, with a lock and two callbacks.

What stands in the batch is the same. The first message of a batch goes by the client's accumulator,
each further one is written to the batch as the accumulator would, under its lock, and what becomes
of the batch is told of all of these at once. Headers come as they are written; one method of the
client is told to take these. Only with versions of the client whose inside is as here (`KNOWN`);
with any other, messages go by `send`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar

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
_RECEIPTS = "_reusewatch_receipts"  # of a batch, where they stand in it
E = TypeVar("E")
E_contra = TypeVar("E_contra", contravariant=True)
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


class Ledger(Protocol[E_contra]):
    """Who is told what became of messages."""

    def acknowledge(self, *entries: E_contra) -> None:
        """The broker has them."""

    def fail(self, entry: E_contra, error: BaseException) -> None:
        """The broker will not have this one."""


class _Receipt(Generic[E]):
    """A message that was written to a batch, where the client has a future."""

    __slots__ = ("at", "entry", "ledger")

    def __init__(self, at: int, entry: E, ledger: Ledger[E]) -> None:
        self.at = at
        self.entry = entry
        self.ledger = ledger

    def rebind(self, future: Any, at: int) -> None:
        """The client has split the batch, which was too large: this is the message's place now."""
        self.at = at
        _Receipts([self], self.ledger).hear_of(future)


class _Receipts(Generic[E]):
    """Messages of which one batch tells."""

    __slots__ = ("_ledger", "_receipts")

    def __init__(self, receipts: list[_Receipt[E]], ledger: Ledger[E]) -> None:
        self._receipts = receipts
        self._ledger = ledger

    def add(self, receipt: _Receipt[E]) -> None:
        self._receipts.append(receipt)

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
    accumulator: Any, to: TopicPartition, key: bytes, value: bytes | None, headers: Headers,
    entry: E, ledger: Ledger[E],
) -> bool:  # fmt: skip
    """Have a message sent, to a topic that the producer has sent to before; whether it is the first
    of a batch, for which the sender is to be woken. Raises as `send` does of a producer that is
    closed."""
    # Once: each time that it is set, Python forgets what it knows of the class, and it numbers what
    # it knows with 32 bits.
    if _Builder.append is not _append:
        _Builder.append = _append
    said = written(headers)
    # Before the batch is drained, split or given up, the client takes this lock and closes it: it
    # either has the message with its receipt, or takes no more.
    with accumulator._tp_lock(to):
        batches = () if accumulator._closed else accumulator._batches[to]
        if batches and _add(batches[-1], key, value, said, entry, ledger):
            return False
    future, _, is_new, _ = accumulator.append(to, None, key, value, said)
    future._add_cb_eb(lambda _: ledger.acknowledge(entry), lambda error: ledger.fail(entry, error))
    return bool(is_new)


def _add(
    batch: Any, key: bytes, value: bytes | None, said: Written, entry: E, ledger: Ledger[E]
) -> bool:
    """Whether there was room for a message, as `ProducerBatch.try_append`."""
    made = batch.records.append(None, key, value, said)
    if made is None:
        return False
    batch.max_record_size = max(batch.max_record_size, made.size)
    batch.last_append = time.monotonic()
    receipt = _Receipt(made.offset, entry, ledger)
    batch._record_futures.append(receipt)
    receipts: _Receipts[E] | None = batch.__dict__.get(_RECEIPTS)
    if receipts is None:
        receipts = batch.__dict__[_RECEIPTS] = _Receipts([], ledger)
        receipts.hear_of(batch.produce_future)
    receipts.add(receipt)
    return True
