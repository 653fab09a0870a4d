"""Fingerprint blocks that contradict themselves are refused before anything of them is taken in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from reusewatch.streams import topics
from reusewatch.streams.blocks.checking import checksum_of
from reusewatch.streams.blocks.format import encode, read_block
from reusewatch.streams.bus import Message
from reusewatch.streams.stages.discovering import Discovering, Rules
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.stages.stage import Stage
from tests.pages import SCHEME, Fetch
from tests.streams.stages.making import NOW, as_message, blocks_of

HOSTILE: dict[str, dict[str, Any]] = {
    "a stop chunk that is nothing": {"stopped": [[None]]},
    "a stop chunk past the end": {"stopped": [[77]]},
    "a chunk stopped twice": {"stopped": [[0, 0]]},
    "a label past the end": {"labeled": [[77]], "labeled_by": [["x"]]},
    "a label without a name": {"labeled": [[0]]},
    "a name that is nothing": {"file_labels": [[None, "a"]]},
    "a page of another URL": {"page": [7]},
    "a page on a site of its choice": {"site": ["victim.example"]},
    "a page on a host of its choice": {"host": ["www.victim.example"]},
    "a text that ends before it begins": {"text_start": [9], "text_end": [8]},
    "a text before the page": {"text_start": [-9]},
    "a chunk that ends before it begins": {"chunk_ends": [[0]]},
    "a weight that is no number": {"term_weights": [[float("nan")]], "terms": [[1]]},
    "a weight without end": {"term_weights": [[float("inf")]], "terms": [[1]]},
    "less than no weight": {"terms_total": [-1.0]},
    "a page at no URL": {"url": ["nourl"]},
    "a page at an endless URL": {"url": ["http://one.example/" + "a" * 20_000]},
}


def index() -> Stage:
    return IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=100, similarity=Similarity(SCHEME, max_pages=10),
        discovering=Discovering(SCHEME, Rules(), window_pages=100),
    )  # fmt: skip


def bare_index() -> Stage:
    return IndexStage(SCHEME, clock=lambda: NOW, max_pages=100)


def hoods() -> Stage:
    return NeighborhoodStage(SCHEME, clock=lambda: NOW)


def hostile(columns: dict[str, Any]) -> Message:
    (sent,) = blocks_of([Fetch(0, 0, 0, 1)])
    message = as_message(sent)
    block = read_block(message, SCHEME)
    for name, values in columns.items():
        at = block.schema.get_field_index(name)
        block = block.set_column(
            at, block.schema.field(at), pa.array(values, block.schema.types[at])
        )
    block = block.replace_schema_metadata({b"chunks": b"text"})
    value = encode(block, SCHEME)
    headers = dict(message.headers) | {"checksum": checksum_of(value)}
    return Message(message.partition, 0, message.key, value, tuple(headers.items()), 0)


@pytest.mark.parametrize("columns", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("make", [index, bare_index, hoods])
def test_a_block_that_contradicts_itself_is_buried(
    columns: dict[str, Any], make: Callable[[], Stage]
) -> None:
    stage = make()
    output = stage.process([hostile(columns)])
    if make is hoods and "url" not in columns and not output.dead:
        return  # what this stage does not look at does it no harm
    assert output.dead.total() == 1
    assert [sent.topic for sent in output.messages] == [topics.DEAD_LETTERS]
    assert stage.rows() == 0
