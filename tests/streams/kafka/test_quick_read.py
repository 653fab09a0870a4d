"""Records are read out of a batch as the client reads them, and what is no record is refused as it
refuses it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.errors import CorruptRecordError
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder
from kafka.record.util import encode_varint

from reusewatch.streams.kafka import quick_read
from reusewatch.streams.kafka.header_names import read_forgiving

_Batch: Any = DefaultRecordBatch
_Builder: Any = DefaultRecordBatchBuilder
_HEADER = _Batch.HEADER_STRUCT.size
_some_bytes = st.none() | st.binary(max_size=300)
_records = st.lists(
    st.tuples(
        st.integers(0, 1 << 41),
        _some_bytes,
        _some_bytes,
        st.lists(st.tuples(st.text(max_size=5), _some_bytes), max_size=3),
    ),
    min_size=1,
    max_size=5,
)


def _batch(records: list[Any], *, codec: int = 0) -> bytearray:
    builder = _Builder(2, codec, 0, -1, -1, -1, 1 << 20)
    for offset, (at, key, value, headers) in enumerate(records):
        builder.append(offset, at, key, value, headers)
    return bytearray(builder.build())


def _read(batch: bytes, by: Any) -> list[Any]:
    """What is read of a batch, and the error that ends it."""
    found: list[Any] = []
    read, at = _Batch._read_msg, _Batch(batch)
    _Batch._read_msg = by
    try:
        for one in at:
            headers = [(name, value or b"") for name, value in one.headers]
            found.append((one.offset, one.timestamp, one.timestamp_type, one.key, one.value,
                          headers, one.size_in_bytes))  # fmt: skip
    except CorruptRecordError as error:
        found.append(str(error))
    finally:
        _Batch._read_msg = read
    return found


@given(_records, st.sampled_from([0, 3]), st.booleans())
def test_records_are_read_as_the_client_reads_them(
    records: list[Any], codec: int, appended: bool
) -> None:
    said = _batch(records, codec=codec)
    if appended:
        said[_Batch.ATTRIBUTES_OFFSET + 1] |= _Batch.TIMESTAMP_TYPE_MASK
    found = _read(said, quick_read._read)
    assert found == _read(said, read_forgiving)
    assert [one[3:5] for one in found] == [one[1:3] for one in records]


@given(_records, st.data())
def test_what_is_damaged_is_refused_as_the_client_refuses_it(
    records: list[Any], data: st.DataObject
) -> None:
    said = _batch(records)
    for _ in range(data.draw(st.integers(1, 3))):
        said[data.draw(st.integers(_HEADER, len(said) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(_HEADER, len(said)))
    for damaged in (said, said[:cut]):
        assert _read(damaged, quick_read._read) == _read(damaged, read_forgiving)


def test_long_headers_are_not_remembered() -> None:
    before = quick_read._known_headers.cache_info().currsize
    long = [("n", b"x" * quick_read._LONGEST)]
    assert _read(_batch([(1, b"", b"", long)]), quick_read._read)[0][5] == long
    assert quick_read._known_headers.cache_info().currsize == before


def test_a_client_whose_inside_is_not_known_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Batch, "_read_msg", None)
    with monkeypatch.context() as other:
        other.setattr(quick_read, "KNOWN", False)
        quick_read.read_quickly()
        assert _Batch._read_msg is None
    quick_read.read_quickly()
    assert _Batch._read_msg is quick_read._read


@pytest.mark.parametrize("length", [-1, -24, -67, 0])
def test_a_record_that_ends_before_it_begins_is_none(length: int) -> None:
    said = bytes(_batch([(1, b"key", b"value", [("name", b"of it")])]))
    sized = bytearray()
    encode_varint(length, sized.append)
    damaged = said[:_HEADER] + bytes(sized) + said[_HEADER + 1 :]
    (refused,) = found = _read(damaged, quick_read._read)
    assert isinstance(refused, str)
    assert found == _read(damaged, read_forgiving)
