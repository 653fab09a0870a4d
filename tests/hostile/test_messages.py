"""Messages on the bus that a stranger wrote, each of which ended a worker or reached a webhook."""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa
import pytest

from reusewatch.streams.blocks.expansion import MOST_BYTES, check_expansion
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.bus import Message
from reusewatch.streams.records import Alert, NeighborhoodPart
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.wire import Malformed, alert_message, part_message, read_json
from tests.fuzzing import blocks, wire
from tests.pages import SCHEME, Fetch
from tests.streams.stages.making import NOW, as_message, blocks_of

PART = NeighborhoodPart(
    what="page", url="http://a.example/b/c", at=NOW, page_id="1" * 16, labeled=1, total=3,
    severity="warning",
)  # fmt: skip
NEVER_WRITTEN = {
    "a badness above one": msgspec.structs.replace(PART, what="open", told=(1 << 64) - 1),
    "a badness below nothing": msgspec.structs.replace(PART, what="open", told=-1),
    "a page of too many digits": msgspec.structs.replace(PART, page_id="f" * 40),
    "a page of no digits": msgspec.structs.replace(PART, page_id="http://1"),
    "more chunks than a page has": msgspec.structs.replace(PART, total=(1 << 63) - 1),
}  # fmt: skip


def test_what_is_no_text_within_an_alert_is_sent_to_nobody() -> None:
    sent = alert_message(wire.ALERT)
    value = (sent.value or b"")[:-1] + b',"x":"\xff"}'
    with pytest.raises(Malformed, match="not a Alert"):
        read_json(as_message(msgspec.structs.replace(sent, value=value)), Alert)


@pytest.mark.parametrize("name", NEVER_WRITTEN)
def test_a_number_that_was_never_written_leaves_the_state_as_it_is(name: str) -> None:
    stage = NeighborhoodStage(SCHEME, clock=lambda: NOW, logged=True)
    stage.take_up(0, [as_message(part_message("x", NEVER_WRITTEN[name], 0))])
    assert stage.rows() == 0
    stage.restore(stage.save())
    assert stage.process([as_message(blocks_of([Fetch(0, 0, 0, 1)])[0])]).pages == 1


def bomb(size: int) -> Message:
    """A block of a few kB whose chunks are so many bytes."""
    (sent,) = blocks_of([Fetch(0, 0, 0, 1)])
    table = pa.ipc.open_stream(sent.value).read_all()
    chunks = pa.ListArray.from_arrays(
        pa.array([0, size // 8], pa.int32()), pa.array(np.zeros(size // 8, np.uint64))
    )
    at = table.schema.get_field_index("chunks")
    table = table.set_column(at, table.schema.field(at), chunks)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return blocks.message_of(sink.getvalue().to_pybytes())


def test_a_block_that_would_be_a_hundred_times_larger_is_not_unpacked() -> None:
    message = bomb(MOST_BYTES)
    assert len(message.value or b"") < MOST_BYTES // 1000
    before = pa.total_allocated_bytes()
    most = pa.default_memory_pool().max_memory() or 0
    with pytest.raises(Malformed, match="that says it is"):
        read_block(message, SCHEME)
    assert pa.total_allocated_bytes() == before
    assert (pa.default_memory_pool().max_memory() or 0) == most


def test_a_block_within_the_bound_is_read_to_its_size() -> None:
    read_block(bomb(1 << 20), SCHEME)


def test_a_flatbuffer_that_leads_nowhere_is_malformed_or_leads_elsewhere() -> None:
    value = bomb(1 << 16).value or b""
    refused = 0
    for at in range(0, len(value) - 4, 4):
        spoilt = value[:at] + b"\xff\xff\xff\x7f" + value[at + 4 :]
        try:
            check_expansion(spoilt)
        except Malformed:
            refused += 1
    assert refused


def test_a_block_without_compression_is_as_large_as_it_is() -> None:
    (sent,) = blocks_of([Fetch(0, 0, 0, 1)])
    table = pa.ipc.open_stream(sent.value).read_all()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    check_expansion(sink.getvalue().to_pybytes())


def test_a_dictionary_in_a_block_is_refused() -> None:
    table = pa.table({"x": pa.array(["a", "b"]).dictionary_encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(Malformed, match="dictionary"):
        check_expansion(sink.getvalue().to_pybytes())
