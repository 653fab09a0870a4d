"""Blocks that come together are judged as one, and each of them for itself where one is bad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pytest

from reusewatch.streams import topics
from reusewatch.streams.blocks.checking import CHECKSUM_HEADER, checksum_of
from reusewatch.streams.blocks.format import encode, read_block
from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.stages.joining import MOST, Arrived, as_one, in_groups
from tests.pages import SCHEME, Fetch
from tests.streams.stages.making import as_message, blocks_of, index_stage


def messages(count: int, *, partitions: Sequence[int] = (0,)) -> list[Message]:
    """Blocks of a page each, of partitions in turn."""
    sent = [as_message(*blocks_of([Fetch(at, at % 3, at % 5, at)]), at) for at in range(count)]
    parts = [Partition(topics.FINGERPRINTS, number) for number in partitions]
    return [replace(one, partition=parts[at % len(parts)]) for at, one in enumerate(sent)]


def arrived(one: Message, *, made: bool = False) -> Arrived:
    return Arrived(one, read_block(one, SCHEME), made)


def groups(found: Sequence[Arrived]) -> list[list[int]]:
    """The offsets of the messages of each group."""
    return [[one.message.offset for one in group] for group in in_groups(found)]


def test_blocks_of_a_partition_are_one_up_to_some_steps() -> None:
    sent = [arrived(one) for one in messages(4)]
    assert groups(sent) == [[0, 1, 2, 3]]
    assert as_one(sent).to_pylist() == [row for one in sent for row in one.block.to_pylist()]
    large = replace(sent[1], block=pa.concat_batches([sent[1].block] * (MOST - 1)))
    assert groups([sent[0], large, sent[2], sent[3]]) == [[0, 1], [2, 3]]
    assert groups([large, large]) == [[1], [1]]


def test_blocks_of_other_kinds_are_apart() -> None:
    first, second, third = (arrived(one) for one in messages(3, partitions=(0, 0, 1)))
    assert groups([first, second, third]) == [[0, 1], [2]]
    assert groups([first, replace(second, made=True), third]) == [[0], [1], [2]]
    longer = second.block.replace_schema_metadata(
        dict(second.block.schema.metadata) | {b"longer-than": b"7"}
    )
    assert groups([first, replace(second, block=longer)]) == [[0], [1]]


@pytest.mark.parametrize("bad", range(3))
@pytest.mark.parametrize("name", ["fetched_at", "page"])
def test_a_bad_block_takes_no_other_with_it(bad: int, name: str) -> None:
    sent = messages(3)
    block = read_block(sent[bad], SCHEME)
    at = block.schema.get_field_index(name)
    field = block.schema.field(at)
    value = encode(block.set_column(at, field, pa.array([1 << 62], field.type)), SCHEME)
    headers = dict(sent[bad].headers) | {CHECKSUM_HEADER: checksum_of(value)}
    sent[bad] = replace(sent[bad], value=value, headers=tuple(headers.items()))
    out = index_stage().process(sent)
    assert (out.pages, out.dead.total()) == (2, 1)
    assert sum(one.topic == topics.VERDICTS for one in out.messages) == 2
