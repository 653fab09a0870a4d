"""A record out of its batch, for half of what the client takes: it copies what a message says
twice, and reads the headers of each anew, which are the same for most messages of a topic.

Only what is as usual is read here. Of anything else, and of all that is damaged, the client's own
way is gone, from where the record begins: it reads what can be read, and raises as it does. Patches
one method of the client, once; only of versions whose inside is known (`quick_send`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kafka.record.default_records import DefaultRecord, DefaultRecordBatch
from kafka.record.util import decode_varint

from reusewatch.streams.kafka.header_names import read_forgiving
from reusewatch.streams.kafka.quick_send import KNOWN

Headers = tuple[tuple[str, bytes], ...]

_Batch: Any = DefaultRecordBatch
_Record: Any = DefaultRecord
_varint: Any = decode_varint
_ATTRIBUTES, _FIRST_TIMESTAMP, _MAX_TIMESTAMP = 5, 7, 8
# Of headers that are longer, as anybody may send them, none are remembered.
_LONGEST = 256


def _headers(said: bytes) -> Headers:
    """The headers of a record; ValueError or IndexError where these are none."""
    count, at = _varint(said, 0)
    found = []
    for _ in range(count):
        name, at = _part(said, at)
        value, at = _part(said, at)
        if name is None or value is None:
            raise ValueError("not as usual")
        found.append((name.decode(), value))
    if at != len(said) or count < 0:
        raise ValueError("no headers")
    return tuple(found)


_known_headers = lru_cache(1024)(_headers)


def _part(said: bytes | memoryview, at: int) -> tuple[bytes | None, int]:
    """Bytes behind their length, and where they end; None of no length."""
    length, at = _varint(said, at)
    if length < 0:
        return None, at
    return bytes(said[at : at + length]), at + length


def _usual(batch: Any) -> Any:
    """The next record of a batch, as most are; ValueError or IndexError where it is not."""
    said = batch._header_data
    attributes, view = said[_ATTRIBUTES], memoryview(batch._buffer)
    length, begin = _varint(view, batch._pos)
    end = begin + length
    # Its own attributes are none; it ends behind its begin and within its batch; and it is no
    # transaction's end.
    if length <= 0 or view[begin] or end > len(view) or attributes & _Batch.CONTROL_MASK:
        raise ValueError("not as usual")
    since, at = _varint(view, begin + 1)
    offset, at = _varint(view, at)
    key, at = _part(view, at)
    value, at = _part(view, at)
    headers = bytes(view[at:end])
    record = _Record(
        length,
        said[0] + offset,
        said[_MAX_TIMESTAMP] if attributes & _Batch.TIMESTAMP_TYPE_MASK
        else said[_FIRST_TIMESTAMP] + since,
        attributes & _Batch.TIMESTAMP_TYPE_MASK and 1,
        key,
        value,
        _known_headers(headers) if end - at <= _LONGEST else _headers(headers),
    )  # fmt: skip
    batch._pos = end
    return record


def _read(batch: Any, *arguments: Any, **named: Any) -> Any:
    try:
        return _usual(batch)
    except (ValueError, IndexError):
        return read_forgiving(batch, *arguments, **named)


def read_quickly() -> None:
    """From now on, in this process."""
    if KNOWN:
        _Batch._read_msg = _read
