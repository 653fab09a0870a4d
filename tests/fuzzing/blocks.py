"""Fingerprint blocks, by every stage and command that reads them.

A block is taken in whole or refused whole; the pages of one that is sound are judged behind it;
what was taken in can be asked for, saved and restored. A checksum says only that nobody was
careless: here it is always right.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import msgspec
import pyarrow as pa

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.streams import topics, wire
from reusewatch.streams.blocks.checking import CHECKSUM_HEADER, checksum_of
from reusewatch.streams.blocks.for_phrases import PhraseColumns
from reusewatch.streams.blocks.format import encode, read_block
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.records import Alert, DeadLetter, Record, Verdict
from reusewatch.streams.stages.discovering import Discovering, Rules
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES, FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.stages.phrasing import Phrasing
from reusewatch.streams.stages.quilting import Quilting
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.stages.stage import Stage
from reusewatch.streams.wire import headers_for, page_message
from tests.fuzzing import changes
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.stages.making import NOW, as_message, zero

_KINDS: dict[str, type[Record]] = {
    topics.ALERTS: Alert, topics.VERDICTS: Verdict, topics.DEAD_LETTERS: DeadLetter,
}  # fmt: skip
_SAMPLE = GRAM_SAMPLES["sampled"]
# A copy on another site, a refetch, a revisit, and a page of its own.
_FETCHES = [
    Fetch(0, 0, 5, 1), Fetch(1, 1, 9, 1), Fetch(1, 1, 12, 1, 1), Fetch(2, 2, 12, 1, 0, (0, 5)),
    Fetch(3, 0, 3, 4),
]  # fmt: skip


@cache
def _sent(first: int, count: int) -> Outgoing:
    pages = [page_message(page_of(fetch)) for fetch in _FETCHES[first : first + count]]
    stage = FingerprintStage(SCHEME, zero, grams="sampled")
    (block,) = stage.process([as_message(page, n) for n, page in enumerate(pages)]).messages
    return block


def seeds() -> Iterator[bytes]:
    """Blocks of one page and of several."""
    for first, count in ((0, 1), (1, 1), (3, 1), (0, 5)):
        yield _sent(first, count).value or b""


def message_of(value: bytes, offset: int = 7) -> Message:
    """A block as its sender would have sent these bytes."""
    headers = (*headers_for(topics.FINGERPRINTS), (CHECKSUM_HEADER, checksum_of(value)),
               ("pages", b"1"))  # fmt: skip
    return Message(
        Partition(topics.FINGERPRINTS, 0), offset, "k", value, headers, 1_700_000_000_000
    )


def changed(data: bytes, seed: int) -> bytes:
    """A value of a column, a column, or what a block says of itself, changed."""
    random = Random(seed)
    try:
        table = pa.ipc.open_stream(data).read_all()
        table.validate(full=True)  # what is not sound must not be looked into
        table = table.combine_chunks()
        for _ in range(random.choice([1, 1, 2, 4])):
            table = _changed(table, random)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        found: bytes = sink.getvalue().to_pybytes()
    except (pa.ArrowException, ValueError, OverflowError, TypeError, OSError, IndexError):
        return data[: random.randrange(len(data) + 1)]
    return found


def _changed(table: pa.Table, random: Random) -> pa.Table:
    at = random.randrange(table.num_columns)
    how = random.randrange(10)
    if how == 0:
        said = dict(table.schema.metadata or {})
        name = random.choice(list(said) or [b"x"])
        said[name] = changes.value(random).__repr__().encode("utf-8", "replace")
        return table.replace_schema_metadata(said)
    if how == 1:
        rows = pa.array([random.randrange(max(len(table), 1)) for _ in range(random.randrange(4))])
        return table.take(rows.cast(pa.int64()))
    field, values = table.schema.field(at), table.column(at).to_pylist()
    if values:
        row = random.randrange(len(values))
        values[row] = _other(values, row, field.type, random)
    return table.set_column(at, field, pa.array(values, field.type))


def _other(values: list[Any], row: int, kind: pa.DataType, random: Random) -> Any:
    """Another value of a column: of another row, or one that this type just takes."""
    if random.randrange(4) == 0:
        return random.choice(values)
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return _other_list(list(values[row] or []), kind.value_type, random)
    whole = [x for x in (*changes.NUMBERS, 2, 3) if isinstance(x, int)]
    if pa.types.is_timestamp(kind):
        return pa.scalar(random.choice(whole), kind)
    if pa.types.is_boolean(kind):
        return random.choice([True, False, None])
    if pa.types.is_string(kind):
        return random.choice([*changes.TEXTS, None])
    broken = [float("nan"), float("inf"), *changes.NUMBERS]
    return random.choice([*(broken if pa.types.is_floating(kind) else whole), None])


def _other_list(found: list[Any], kind: pa.DataType, random: Random) -> list[Any] | None:
    at = random.randrange(len(found) + 1)
    one = _other([*found, None], at, kind, random)
    return random.choice([
        None, found[:at], found + found[:at], [*found[:at], one, *found[at:]],
        [*found[:at], one, *found[at + 1 :]], [*found[:at], one, *found[at + 1 :]],
    ])  # fmt: skip


def stages() -> list[Stage]:
    """All that read blocks."""
    index = IndexStage(
        SCHEME, clock=lambda: NOW, max_pages=50, similarity=Similarity(SCHEME, max_pages=10),
        discovering=Discovering(SCHEME, Rules(), window_pages=50),
        quilting=Quilting(SCHEME, QuiltRules(), sample=_SAMPLE, max_bytes=1 << 20),
        phrasing=Phrasing(SCHEME, most=50, least_new=2), settle_pages=2,
    )  # fmt: skip
    bare = IndexStage(SCHEME, clock=lambda: NOW, max_pages=50, same_site=True)
    return [index, bare, NeighborhoodStage(SCHEME, clock=lambda: NOW, logged=True)]


def once(data: bytes) -> None:
    """One block, between two that are sound."""
    message = message_of(data)
    _read(message)
    sound = [as_message(_sent(first, 1), 3 + first * 5) for first in (0, 1)]
    for stage in stages():
        with contextlib.suppress(SchemeMismatch):
            _taken(stage, [sound[0], message, sound[1]])


def _read(message: Message) -> None:
    """What is read says the same when it is written again; phrases are counted of it."""
    with contextlib.suppress(wire.WireError, SchemeMismatch):
        block = read_block(message, SCHEME)
        again = encode(block, SCHEME)
        assert encode(read_block(message_of(again, 8), SCHEME), SCHEME) == again
        columns = PhraseColumns(100)
        columns.add(block)
        pages = columns.pages()
        for row in range(len(pages)):
            pages.facts(row)


def _taken(stage: Stage, messages: list[Message]) -> None:
    out = stage.process(messages)
    assert out.dead.total() in (0, 1)
    assert out.pages >= 2
    assert sum(sent.topic == topics.DEAD_LETTERS for sent in out.messages) == out.dead.total()
    for sent in (*out.messages, *stage.settle().messages):
        if sent.topic in _KINDS and sent.value is not None:
            wire.read_json(as_message(sent), _KINDS[sent.topic])
    question = "clusters" if stage.name == "index" else "neighborhoods"
    msgspec.json.encode(stage.answer(question, {}))
    assert stage.rows() >= 0
    assert stage.nbytes() >= 0
    saved = stage.save()
    stage.restore(saved)
    assert stage.process(messages[:1]).pages == 1
