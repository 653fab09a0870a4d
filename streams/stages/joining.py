"""Blocks that came together and are judged as one.

What a block costs, whatever is in it, is as much as what thirty pages cost, and blocks are small
where pages come slowly or from many sites. Where a block ends decides nothing (`settling`), so
those that follow each other in a partition are judged as one, up to some steps of pages. Never
judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from reusewatch.streams.bus import Message
from reusewatch.streams.stages.settling import STEP

# What is judged as one is cut where a step ends: of fewer pages each step would come in two parts.
MOST = 4 * STEP
MOST_BYTES = 32 << 20
"""Of messages: blocks with all grams are several times as large."""


@dataclass(frozen=True, slots=True, eq=False)
class Arrived:
    """A message and the block in it; whether that was made in a process of this command."""

    message: Message
    block: pa.RecordBatch
    made: bool

    @property
    def partition(self) -> str:
        """Where it came from, as settling names it."""
        return f"{self.message.partition.topic}/{self.message.partition.number}"


def in_groups(arrived: Iterable[Arrived]) -> Iterator[list[Arrived]]:
    """Those that are judged as one, in order."""
    group: list[Arrived] = []
    pages = size = 0
    for one in arrived:
        its_pages, its_size = len(one.block), len(one.message.value or b"")
        too_much = pages + its_pages > MOST or size + its_size > MOST_BYTES
        if group and (too_much or not _goes_with(one, group[-1])):
            yield group
            group, pages, size = [], 0, 0
        group.append(one)
        pages, size = pages + its_pages, size + its_size
    if group:
        yield group


def _goes_with(one: Arrived, last: Arrived) -> bool:
    # What a block says of all of its pages, in its metadata, it says of no others. Those that were
    # made here are as large as they should be, and known by what they are (`is_made`).
    same = one.message.partition == last.message.partition and not (one.made or last.made)
    return same and one.block.schema.equals(last.block.schema, check_metadata=True)


def as_one(group: list[Arrived]) -> pa.RecordBatch:
    """The pages of all of them."""
    if len(group) == 1:
        return group[0].block
    return pa.concat_batches([one.block for one in group])
