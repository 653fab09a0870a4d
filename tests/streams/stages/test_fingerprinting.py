"""The stage `fingerprint`: one bad page is buried, and takes no other with it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.blocks.columns import SCHEMA, unit_of
from reusewatch.streams.blocks.format import block_messages, encode, forget_last, read_block
from reusewatch.streams.bus import Message, Outgoing
from reusewatch.streams.records import Origin, Page, Sighting
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.wire import Malformed, page_message, read_page
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.stages.making import as_message, by_site, index_stage, page_messages, zero

text = st.text(st.characters(codec="utf-8"), max_size=30)
urls = text | text.map("http://a.example/".__add__) | text.map("http://".__add__)
pages = st.builds(
    Page,
    id=text, url=urls, site=text, host=text, content_type=text, body=st.binary(max_size=200),
    fetched_at=st.datetimes(timezones=st.just(UTC)),
    origin=st.builds(Origin, source=text, offset=st.none() | st.integers(-(2**63), 2**64 - 1)),
    ip=st.none() | text, status=st.none() | st.integers(-(2**63), 2**64 - 1),
    charset=st.none() | text | st.sampled_from(["utf-16", "zip", "punycode", "utf-7", "undefined"]),
    revisit_of=st.none() | st.builds(Sighting, url=urls), by_reference=st.booleans(),
)  # fmt: skip


def rows_of(block: Message) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read_block(block, SCHEME).to_pylist()
    return rows


@given(st.lists(pages, max_size=4))
@settings(max_examples=200)
def test_whatever_a_page_says_it_ends_in_a_block_or_in_the_dead_letters(some: list[Page]) -> None:
    sound = page_message(page_of(Fetch(1, 1, 1, 1)))
    messages = [as_message(sent) for sent in (*map(page_message, some), sound)]
    out = FingerprintStage(SCHEME, zero).process(messages)
    blocks = [as_message(m) for m in out.messages if m.topic == topics.FINGERPRINTS]
    rows = [row for block in blocks for row in rows_of(block)]
    assert len(rows) == out.pages
    assert len(rows) + out.dead.total() == len(messages)
    assert rows[-1]["url"] == page_of(Fetch(1, 1, 1, 1)).url
    assert sum(m.topic == topics.DEAD_LETTERS for m in out.messages) == out.dead.total()
    judged = index_stage().process(blocks)
    assert judged.pages == len(rows)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_the_pages_of_each_partition_are_a_block_as_by_themselves(sites: list[int]) -> None:
    messages = page_messages([Fetch(n, site, n, n) for n, site in enumerate(sites)])
    partition_of = by_site(3)
    mixed = FingerprintStage(SCHEME, partition_of, grams="sampled").process(messages).messages
    for sent in mixed:
        mine = [m for m in messages if partition_of(read_page(m).site) == sent.partition]
        (alone,) = FingerprintStage(SCHEME, zero, grams="sampled").process(mine).messages
        forget_last()  # or the one that was made is at hand, and its bytes are not read
        assert rows_of(as_message(sent)) == rows_of(as_message(alone))
    assert len({sent.partition for sent in mixed}) == len(mixed)


def test_a_block_over_the_limit_is_halved() -> None:
    stage = FingerprintStage(SCHEME, zero)
    messages = page_messages([Fetch(n, n % 3, n, n) for n in range(1000)])
    (block,) = stage.process(messages).messages
    whole = read_block(as_message(block), SCHEME)
    small = list(block_messages(whole, SCHEME, 0, limit=len(block.value or b"") // 3 + 4096))
    assert len(small) > 2
    parts = [read_block(as_message(sent), SCHEME) for sent in small]
    assert [row for part in parts for row in part.to_pylist()] == whole.to_pylist()


@pytest.mark.parametrize("unit", ["text", "raw"])
def test_a_block_says_what_its_chunks_are(unit: Literal["text", "raw"]) -> None:
    fetches = [Fetch(n, n % 3, n, n) for n in range(40)]
    stage = FingerprintStage(SCHEME, by_site(2), chunks=unit)
    sent = list(stage.process(page_messages(fetches)).messages)
    assert len(sent) == 2
    for value in (*sent, *block_messages(read_block(as_message(sent[0]), SCHEME), SCHEME)):
        assert unit_of(read_block(as_message(value), SCHEME)) == unit
    for row in rows_of_all(sent):
        body = next(fetch.body for fetch in fetches if fetch.url == row["url"])
        spans = zip(row["chunk_starts"], row["chunk_ends"], strict=True)
        parts = [body[start:end] for start, end in spans]
        assert ([SCHEME.of_bytes(part) for part in parts] == row["chunks"]) == (unit == "raw")


def rows_of_all(sent: list[Outgoing]) -> list[dict[str, Any]]:
    return [row for one in sent for row in rows_of(as_message(one))]


def test_a_block_of_before_there_was_a_choice_has_chunks_of_text() -> None:
    block = pa.RecordBatch.from_pylist([], SCHEMA)
    assert unit_of(block) == "text"
    with pytest.raises(Malformed, match="not known"):
        unit_of(block.replace_schema_metadata({"chunks": "lines"}))


def test_another_scheme_is_no_dead_letter() -> None:
    other = HashScheme(42)
    stage = FingerprintStage(other, zero)
    (block,) = stage.process(page_messages([Fetch(1, 1, 1, 1)])).messages
    with pytest.raises(SchemeMismatch, match=f"{other.name}.*{SCHEME.name}"):
        index_stage().process([as_message(block)])


@given(st.data())
@settings(max_examples=300)
def test_a_damaged_block_is_malformed_and_nothing_worse(data: st.DataObject) -> None:
    stage = FingerprintStage(SCHEME, zero)
    (block,) = stage.process(page_messages([Fetch(1, 1, 1, 1), Fetch(2, 2, 2, 1)])).messages
    value = bytearray(block.value or b"")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(value) - 1))
        value[at] = data.draw(st.integers(0, 255))
    damaged = as_message(Outgoing(block.topic, "k", bytes(value), block.headers))
    try:
        rows = rows_of(damaged)
    except (Malformed, SchemeMismatch):
        return
    assert all(isinstance(row["fetched_at"], datetime) for row in rows)


def test_a_block_without_a_column_or_a_scheme_is_malformed() -> None:
    table = pa.ipc.open_stream(encode(pa.RecordBatch.from_pylist([], SCHEMA), SCHEME)).read_all()
    for wrong in (
        table.drop_columns(["url"]),
        table.replace_schema_metadata({}),
        table.set_column(0, "page", pa.array([], pa.string())),
    ):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, wrong.schema) as writer:
            writer.write_table(wrong)
        headers = (("schema", b"fingerprints/2"),)
        sent = Outgoing(topics.FINGERPRINTS, "k", sink.getvalue().to_pybytes(), headers)
        with pytest.raises(Malformed):
            rows_of(as_message(sent))
