"""Records ↔ messages: nothing changes on the way, and what is not ours is refused by name."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import lz4.frame
import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reusewatch.detector.errors import BadPage, SchemeMismatch
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.streams import packing, topics, wire
from reusewatch.streams.blocks.checking import checksum_of
from reusewatch.streams.blocks.columns import CLAIM_FIELDS, LINK_FIELDS, ORIGIN_FIELDS, PAGE_FIELDS
from reusewatch.streams.blocks.format import PAGES_HEADER, block_messages, encode, read_block
from reusewatch.streams.blocks.making import block_of
from reusewatch.streams.blocks.page_columns import PageColumns
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.records import (
    VERSIONS,
    Alert,
    DeadLetter,
    Label,
    Page,
    Record,
    Verdict,
    Withdrawn,
)
from reusewatch.streams.verbs import schemas
from tests import strategies
from tests.pages import Fetch, page_of
from tests.streams.page_columns import page_columns

SCHEME = HashScheme()
OF_TOPIC: dict[str, type[Record]] = {
    topics.VERDICTS: Verdict,
    topics.ALERTS: Alert,
    topics.LABELS: Label,
    topics.DEAD_LETTERS: DeadLetter,
}
VALIDATORS = {
    name: Draft202012Validator(
        schemas.schema_of(name), format_checker=Draft202012Validator.FORMAT_CHECKER
    )
    for name in schemas.RECORDS
}


def arrived(sent: Outgoing) -> Message:
    return Message(Partition(sent.topic, 0), 7, sent.key, sent.value, sent.headers, 0)


def written(topic: str, schema: str, value: bytes = b"{}") -> Message:
    """A message that somebody wrote with care: its checksum is that of its bytes."""
    headers = (
        ("schema", schema.encode()), ("content-type", b"application/json"),
        ("checksum", checksum_of(value)),
    )  # fmt: skip
    return Message(Partition(topic, 0), 7, "key", value, headers, 0)


def row(**values: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {
        field.name: "" if str(field.type) == "string" else 0 for field in PAGE_FIELDS
    }
    times = {"fetched_at": datetime(2026, 3, 2, tzinfo=UTC), "revisit_at": None}
    url = values.get("url", "http://one.example/")
    return (
        empty
        | times
        | {"truncated": False, "overlong": False, "salvaged": False}
        | strategies.placed({"url": url})
        | values
    )


def block(rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """The rows with the sketches of pages of a few words."""
    pages = [Document(f"<p>words of page {number}".encode()) for number in range(len(rows))]
    return block_of(page_columns(rows), fingerprints(pages, SCHEME), grams=True)


def page_facts(sent: Outgoing) -> list[dict[str, Any]]:
    """The rows again, as the next stage has them."""
    names = [field.name for field in PAGE_FIELDS]
    rows: list[dict[str, Any]] = read_block(arrived(sent), SCHEME).select(names).to_pylist()
    return rows


def test_pages_and_sketches_have_the_columns_of_the_schema() -> None:
    columns = [field.name for field in (*PAGE_FIELDS, *CLAIM_FIELDS, *ORIGIN_FIELDS, *LINK_FIELDS)]
    assert list(PageColumns._fields) == columns
    made = fingerprints([Document(b"<p>the words of a page")], SCHEME)
    column = block_of(page_columns([row()]), made, grams=True).column
    sketches = made.sketches
    assert column("tokens").to_pylist() == sketches.words.tolist() == [5]
    assert column("supershingles5").to_pylist() == sketches.supershingles5.tolist()
    assert column("supershingles8").to_pylist() == sketches.supershingles8.tolist()
    assert column("chunk_starts").to_pylist() == [made.chunk_starts.tolist()]
    assert column("chunk_ends").to_pylist() == [made.chunk_ends.tolist()]
    assert column("terms").to_pylist() == [sketches.terms.hashes.values.tolist()]
    assert column("grams").to_pylist() == [sketches.grams.hashes.values.tolist()]


def test_blocks_are_written_one_after_the_other_as_each_alone() -> None:
    blocks = [block([row(url=f"http://a.example/{n}") for n in range(size)]) for size in (2, 90, 1)]
    for one in (*blocks, *blocks):
        with pa.ipc.open_stream(encode(one, SCHEME)) as reader:
            assert reader.read_all().to_pylist() == one.to_pylist()


BLOCK = encode(block([row(), row(url="http://a.example/")]), SCHEME)


@given(strategies.pages)
def test_a_page_arrives_as_it_was(page: Page) -> None:
    sent = wire.page_message(page)
    assert (sent.topic, sent.key) == (topics.PAGES, page.site)
    assert sent.headers == (("schema", b"page/2"), ("content-type", b"application/msgpack"))
    assert wire.read_page(arrived(sent)) == page


@given(strategies.pages, st.integers(0, 2))
def test_a_page_that_is_packed_arrives_as_it_was(page: Page, times: int) -> None:
    page = msgspec.structs.replace(page, body=page.body * 40**times)
    plain, sent = wire.page_message(page), wire.packed_page_message(page)
    assert (sent.topic, sent.key, sent.headers) == (plain.topic, plain.key, plain.headers)
    assert sent.value is not None
    assert plain.value is not None
    assert times < 2 or not page.body or len(sent.value) < len(plain.value) / 3
    assert wire.read_page(arrived(sent)) == page


def test_a_body_too_large_for_the_bus_is_not_packed() -> None:
    body = bytes(packing.MOST_PACKED)
    most = msgspec.structs.replace(page_of(Fetch(1, 1, 1, 1)), body=body)
    assert wire.read_page(arrived(wire.packed_page_message(most))) == most
    more = msgspec.structs.replace(most, body=body + b" ")
    assert wire.packed_page_message(more) == wire.page_message(more)


FRAME = packing.packed(b"some words " * 100)


@pytest.mark.parametrize(
    "frame",
    [
        b"", b"no frame", FRAME[:-5], FRAME + b"x", FRAME * 2,
        packing.packed(bytes(packing.MOST_PACKED + 1)),
        lz4.frame.compress(bytes(packing.MOST_PACKED + 1), store_size=False),
    ],
    ids=["empty", "no frame", "cut", "and more", "two", "a bomb", "a bomb that does not say so"],
)  # fmt: skip
def test_a_packed_body_that_is_none_or_too_large_is_malformed(frame: bytes) -> None:
    page = msgspec.structs.replace(page_of(Fetch(1, 1, 1, 1)), body=frame, packed="lz4")
    with pytest.raises(wire.Malformed, match="not a page: its body is no"):
        wire.read_page(arrived(wire.page_message(page)))
    # What comes next is read as if nothing had been.
    assert packing.unpacked(FRAME) == b"some words " * 100


@given(strategies.verdicts)
def test_a_verdict_arrives_as_it_was(verdict: Verdict) -> None:
    sent = wire.verdict_message(verdict)
    assert (sent.topic, sent.key) == (topics.VERDICTS, verdict.id)
    assert sent.headers == (("schema", b"verdict/1"), ("content-type", b"application/json"))
    assert wire.read_json(arrived(sent), Verdict) == verdict
    holds("verdict", sent)


@given(strategies.alerts)
def test_an_alert_arrives_as_it_was_and_is_a_cloud_event(alert: Alert) -> None:
    sent = wire.alert_message(alert)
    headers = dict(sent.headers)
    assert (sent.topic, sent.key) == (topics.ALERTS, alert.id)
    assert headers["schema"] == b"alert/1"
    assert headers["content-type"] == b"application/json"
    assert headers["ce_specversion"] == b"1.0"
    assert headers["ce_id"].decode() == alert.id
    assert headers["ce_type"].decode() == f"reusewatch.alert.{alert.kind}"
    assert headers["ce_source"]
    assert headers["ce_time"].endswith(b"Z")
    assert datetime.fromisoformat(headers["ce_time"].decode()) == alert.detected_at
    assert wire.read_json(arrived(sent), Alert) == alert
    holds("alert", sent)


@given(strategies.labels)
def test_a_label_arrives_as_it_was(label: Label) -> None:
    headers = wire.headers_for(topics.LABELS)
    sent = Outgoing(topics.LABELS, label.hash, msgspec.json.encode(label), headers)
    assert wire.read_json(arrived(sent), Label) == label
    holds("label", sent)


@given(strategies.dead_letters)
def test_a_dead_letter_arrives_as_it_was(letter: DeadLetter) -> None:
    sent = wire.dead_letter_message(letter)
    assert (sent.topic, sent.key) == (topics.DEAD_LETTERS, letter.id)
    assert wire.read_json(arrived(sent), DeadLetter) == letter
    holds("dead-letter", sent)


@given(strategies.pages)
def test_the_schema_of_pages_describes_them(page: Page) -> None:
    VALIDATORS["page"].validate(msgspec.json.decode(msgspec.json.encode(page)))


def holds(name: str, sent: Outgoing) -> None:
    """One line of JSON, as its schema says."""
    assert sent.value is not None
    assert b"\n" not in sent.value
    VALIDATORS[name].validate(msgspec.json.decode(sent.value))


def test_a_withdrawn_alert_is_a_tombstone() -> None:
    sent = wire.withdrawal("ab" * 16, "quilt")
    assert (sent.topic, sent.key, sent.value) == (topics.ALERTS, "ab" * 16, None)
    assert dict(sent.headers)["schema"] == b"alert/1"
    assert dict(sent.headers)["ce_id"] == b"ab" * 16
    assert dict(sent.headers)["ce_type"] == b"reusewatch.alert.quilt"
    message = Message(Partition(topics.ALERTS, 0), 0, sent.key, sent.value, sent.headers, 1000)
    found = wire.read_finding(message)
    assert isinstance(found, Withdrawn)
    assert found.kind == "quilt"


@pytest.mark.parametrize("headers", [(), (("ce_type", b"reusewatch.alert.odd"),)])
def test_a_tombstone_of_somebody_else_is_a_withdrawal_of_some_kind(
    headers: tuple[tuple[str, bytes], ...],
) -> None:
    message = Message(Partition(topics.ALERTS, 0), 0, "ab" * 16, None, headers, 1000)
    found = wire.read_finding(message)
    assert isinstance(found, Withdrawn)
    assert (found.id, found.kind, found.withdrawn_at.timestamp()) == ("ab" * 16, None, 1.0)


@pytest.mark.parametrize(("key", "at"), [("", 0), ("ab", 1 << 62)])
def test_a_tombstone_without_a_key_or_with_no_time_is_refused(key: str, at: int) -> None:
    message = Message(Partition(topics.ALERTS, 0), 0, key, None, (), at)
    with pytest.raises(wire.Malformed, match=r"withdrawal|no time"):
        wire.read_finding(message)


@given(st.lists(strategies.rows, max_size=20))
def test_a_block_arrives_as_it_was(rows: list[dict[str, Any]]) -> None:
    for sent in block_messages(block(rows), SCHEME) if rows else ():
        assert sent.key == rows[0]["site"]
        assert dict(sent.headers)["schema"] == b"fingerprints/2"
        assert dict(sent.headers)["content-type"] == b"application/vnd.apache.arrow.stream"
        assert dict(sent.headers)[PAGES_HEADER] == b"%d" % len(rows)
        assert page_facts(sent) == rows


@given(st.lists(strategies.rows, min_size=1, max_size=30), st.integers(30_000, 60_000))
def test_blocks_keep_under_the_limit_and_lose_no_page(
    rows: list[dict[str, Any]], limit: int
) -> None:
    # Text that cannot be compressed away.
    rng = random.Random(len(rows))
    rows = [{**one, "excerpt": rng.randbytes(300).hex()} for one in rows]
    sent = list(block_messages(block(rows), SCHEME, 3, limit=limit, headers=(("received", b"1"),)))
    assert all(len(message.value or b"") <= limit for message in sent)
    assert {message.partition for message in sent} == {3}
    assert all(("received", b"1") in message.headers for message in sent)
    assert all(message.topic == topics.FINGERPRINTS for message in sent)
    assert [one for message in sent for one in page_facts(message)] == rows


def test_many_pages_make_several_blocks() -> None:
    rng = random.Random(1)
    rows = [row(excerpt=rng.randbytes(300).hex()) for _ in range(100)]
    assert len(list(block_messages(block(rows), SCHEME, limit=40_000))) > 2


def test_a_page_too_large_for_any_block_is_said_to_be() -> None:
    huge = row(title=random.Random(1).randbytes(20_000).hex())
    with pytest.raises(BadPage, match="too-large") as refused:
        list(block_messages(block([row(), huge]), SCHEME, limit=16_000))
    assert "16000" in refused.value.detail


def test_a_block_of_another_scheme_is_refused_with_both_names() -> None:
    theirs = HashScheme(42)
    (sent,) = block_messages(block([row()]), theirs)
    with pytest.raises(SchemeMismatch) as refused:
        read_block(arrived(sent), SCHEME)
    assert theirs.name in str(refused.value)
    assert SCHEME.name in str(refused.value)


def test_a_block_of_no_pages_is_empty() -> None:
    value = encode(block([]), SCHEME)
    message = written(topics.FINGERPRINTS, "fingerprints/2", value)
    assert read_block(message, SCHEME).num_rows == 0


@pytest.mark.parametrize("value", [b"", b"\0" * 40, BLOCK[:-40]])
def test_a_damaged_block_is_malformed(value: bytes) -> None:
    with pytest.raises(wire.Malformed, match="not a fingerprint block"):
        read_block(written(topics.FINGERPRINTS, "fingerprints/2", value), SCHEME)


@pytest.mark.parametrize("topic", topics.TOPICS)
def test_a_newer_version_is_refused_and_told_what_to_do(topic: str) -> None:
    name = topics.TOPICS[topic].schema
    ours = VERSIONS[name]
    with pytest.raises(wire.NewerSchema) as refused:
        wire.check_schema(written(topic, f"{name}/{ours + 1}"))
    assert refused.value.reason == "newer-schema"
    for part in (f"{name}/{ours + 1}", f"up to {name}/{ours}", "upgrade"):
        assert part in str(refused.value)


WRONG = ["alert", "alert/", "alert/x", "alert/-1", "order/1", "\xff/1", f"alert/{'9' * 5000}"]


@pytest.mark.parametrize("schema", [*WRONG, "alert/\u0661", "a" * 100_000])
def test_another_schema_is_malformed(schema: str) -> None:
    with pytest.raises(wire.Malformed, match="alert/1 is expected"):
        wire.check_schema(written(topics.ALERTS, schema))


def test_a_message_without_a_schema_is_malformed() -> None:
    with pytest.raises(wire.Malformed, match="no `schema` header"):
        wire.check_schema(replace(written(topics.ALERTS, ""), headers=()))


@pytest.mark.parametrize("topic", OF_TOPIC)
@pytest.mark.parametrize(
    "value", [b"", b"\xff", b"[]", b"{}", b'{"id": 3}', b'{"x":' + b"[" * 100_000]
)
def test_json_that_is_no_record_is_malformed(topic: str, value: bytes) -> None:
    message = written(topic, f"{topics.TOPICS[topic].schema}/1", value)
    with pytest.raises(wire.Malformed, match=f"not a {OF_TOPIC[topic].__name__}"):
        wire.read_json(message, OF_TOPIC[topic])


NOT_UTF8 = b"\x81\xa2id\xa1\xff"
NESTED = b"\x81\xa1x" + b"\x91" * 100_000


@pytest.mark.parametrize("value", [b"", b"\xc1", b"\x80", b"\x91\x01", NOT_UTF8, NESTED])
def test_msgpack_that_is_no_page_is_malformed(value: bytes) -> None:
    with pytest.raises(wire.Malformed, match="not a page"):
        wire.read_page(written(topics.PAGES, "page/1", value))


@given(strategies.pages, st.data())
def test_a_page_with_damage_is_malformed_or_another_page(page: Page, data: st.DataObject) -> None:
    value = bytearray(wire.page_message(page).value or b"")
    for _ in range(data.draw(st.integers(1, 4))):
        value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    with suppress(wire.Malformed):
        assert isinstance(wire.read_page(written(topics.PAGES, "page/1", bytes(value))), Page)


@given(strategies.alerts, st.data())
def test_an_alert_with_damage_is_malformed_or_another_alert(
    alert: Alert, data: st.DataObject
) -> None:
    value = bytearray(msgspec.json.encode(alert))
    value[data.draw(st.integers(0, len(value) - 1))] = data.draw(st.integers(0, 255))
    with suppress(wire.Malformed):
        found = wire.read_json(written(topics.ALERTS, "alert/1", bytes(value)), Alert)
        assert isinstance(found, Alert)


def test_a_block_whose_names_are_no_text_is_malformed() -> None:
    value = BLOCK.replace(b"excerpt", b"excer\xff\xfe")
    assert value != BLOCK
    with pytest.raises(wire.Malformed, match="not a fingerprint block"):
        read_block(written(topics.FINGERPRINTS, "fingerprints/2", value), SCHEME)


@given(st.data())
def test_a_block_with_damage_is_refused_or_another_block(data: st.DataObject) -> None:
    value = bytearray(BLOCK)
    value[data.draw(st.integers(0, len(value) - 1))] ^= data.draw(st.integers(1, 255))
    message = written(topics.FINGERPRINTS, "fingerprints/2", bytes(value))
    with suppress(wire.Malformed, wire.NewerSchema, SchemeMismatch):
        read_block(message, SCHEME)
    as_sent = written(topics.FINGERPRINTS, "fingerprints/2", BLOCK).headers
    with pytest.raises(wire.Malformed, match="checksum"):
        read_block(replace(message, headers=as_sent), SCHEME)


def test_a_block_without_a_checksum_is_malformed() -> None:
    (sent,) = block_messages(block([row()]), SCHEME)
    headers = tuple(one for one in sent.headers if one[0] != "checksum")
    with pytest.raises(wire.Malformed, match="without the header"):
        read_block(replace(arrived(sent), headers=headers), SCHEME)


def test_a_block_without_a_column_is_malformed() -> None:
    batch = read_block(written(topics.FINGERPRINTS, "fingerprints/2", BLOCK), SCHEME)
    sink = pa.BufferOutputStream()
    less = batch.drop_columns(["tokens"])
    with pa.ipc.new_stream(sink, less.schema) as writer:
        writer.write_batch(less)
    value = sink.getvalue().to_pybytes()
    with pytest.raises(wire.Malformed, match="without tokens"):
        read_block(written(topics.FINGERPRINTS, "fingerprints/2", value), SCHEME)


@given(strategies.alerts)
def test_fields_of_a_later_minor_version_are_ignored(alert: Alert) -> None:
    later = msgspec.json.encode(wire.to_builtins(alert) | {"mood": "sunny"})
    assert wire.read_json(written(topics.ALERTS, "alert/1", later), Alert) == alert
