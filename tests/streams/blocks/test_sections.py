"""Blocks of workers of other versions: what is not known is skipped, what is needed, asked for."""

from __future__ import annotations

import pyarrow as pa
import pytest

from reusewatch.streams.blocks.checking import CHECKSUM_HEADER, checksum_of
from reusewatch.streams.blocks.columns import SCHEMA, SECTIONS
from reusewatch.streams.blocks.format import encode, read_block, take_as_made
from reusewatch.streams.blocks.sections import HEADER, Section, known, said
from reusewatch.streams.bus import Message
from reusewatch.streams.wire import Malformed, NewerSchema
from tests.pages import SCHEME, Fetch
from tests.streams.stages.making import as_message, blocks_of

DONORS = Section("donors", 2, (pa.field("donor", pa.list_(pa.string()), nullable=False),
                               pa.field("place", pa.int64())), needed=False)  # fmt: skip


def block() -> tuple[Message, pa.Table]:
    (sent,) = blocks_of([Fetch(0, 0, 0, 1)])
    return as_message(sent), pa.ipc.open_stream(sent.value or b"").read_all()


def written(table: pa.Table, sections: str | None) -> Message:
    """A block as somebody else writes it."""
    message, _ = block()
    metadata = {k: v for k, v in (table.schema.metadata or {}).items() if k != HEADER}
    if sections is not None:
        metadata[HEADER] = sections.encode()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema.with_metadata(metadata)) as writer:
        writer.write_table(table.replace_schema_metadata(metadata))
    value = sink.getvalue().to_pybytes()
    headers = dict(message.headers) | {CHECKSUM_HEADER: checksum_of(value)}
    return Message(message.partition, 0, message.key, value, tuple(headers.items()), 0)


def test_a_block_names_its_sections() -> None:
    message, table = block()
    assert table.schema.metadata[HEADER].decode() == said(SECTIONS)
    assert read_block(message, SCHEME).schema.names == SCHEMA.names


def test_a_section_that_is_not_known_is_skipped() -> None:
    message, table = block()
    more = table.append_column("home", pa.array([["one.example"]]))
    found = read_block(written(more, said(SECTIONS) + " home/3"), SCHEME)
    assert found.equals(read_block(message, SCHEME))


NEWER = f"page/{SECTIONS[0].version + 1}!"


@pytest.mark.parametrize("more", ["later/3!", NEWER])
def test_a_section_that_is_needed_and_not_known_asks_for_an_upgrade(more: str) -> None:
    _, table = block()
    with pytest.raises(NewerSchema, match=f"section {more[:-1]}, which .* upgrade this process"):
        read_block(written(table, said(SECTIONS[1:]) + f" {more}"), SCHEME)


@pytest.mark.parametrize(
    ("sections", "told"),
    [
        (None, "names no sections: an older reusewatch"),
        (said(SECTIONS[1:]), "section page/0 where page/"),
        (f"page/0! {said(SECTIONS[1:])}", "section page/0 where page/"),
        (f"{said(SECTIONS)} x", "whose sections are"),
        (f"{said(SECTIONS)} {said(SECTIONS)}", "whose sections are"),
        ("page/2 " * 200, "whose sections are"),
    ],
)
def test_a_block_without_what_is_needed_is_refused(sections: str | None, told: str) -> None:
    _, table = block()
    with pytest.raises(Malformed, match=told):
        read_block(written(table, sections), SCHEME)


@pytest.mark.parametrize("version", [None, 1, 3])
def test_a_section_that_may_be_missing_is_empty_where_it_is_of_another_version(
    version: int | None,
) -> None:
    table = pa.table({"place": ["x"]}) if version else pa.table({"other": ["x"]})
    told = f"donors/{version}" if version else ""
    found = known(table.replace_schema_metadata({HEADER: told}), [DONORS])
    assert found.to_pylist() == [{"donor": [], "place": None}]


def test_two_columns_of_one_name_are_none() -> None:
    table = pa.Table.from_arrays([pa.array([[""]]), pa.array([1]), pa.array([2])],
                                 names=["donor", "place", "place"])  # fmt: skip
    with pytest.raises(Malformed, match="without place"):
        known(table.replace_schema_metadata({HEADER: said([DONORS])}), [DONORS])


def test_columns_of_now_are_read_again_as_they_were_written() -> None:
    message, _ = block()
    found = read_block(message, SCHEME)
    assert encode(found, SCHEME) == message.value


def test_a_block_that_was_just_made_elsewhere_is_read_as_any_other() -> None:
    (sent,), (other,) = blocks_of([Fetch(0, 0, 0, 1)]), blocks_of([Fetch(1, 1, 1, 2)])
    assert read_block(as_message(other), SCHEME)  # what was made here last is another one by now
    wanted = read_block(as_message(sent), SCHEME)
    read_block(as_message(other), SCHEME)
    take_as_made(sent, SCHEME)
    taken = read_block(as_message(sent), SCHEME)
    assert taken.equals(wanted)
    assert taken.schema.equals(wanted.schema)
    assert taken is read_block(as_message(sent), SCHEME)


NAMES = ("labeled", "url", "page", "host", "site", "chunks")


def test_some_columns_are_read_as_they_stand_in_the_whole() -> None:
    message, table = block()
    more = table.append_column("home", pa.array([["one.example"]]))
    turned = written(more.select(more.column_names[::-1]), said(SECTIONS))
    blocks_of([Fetch(1, 1, 1, 2)])  # what was made here last is another one by now
    for sent in (message, turned):
        some = read_block(sent, SCHEME, NAMES)
        assert set(some.schema.names) == set(NAMES)
        whole = read_block(sent, SCHEME)
        assert whole.schema.names == SCHEMA.names
        assert some.equals(whole.select(some.schema.names))
        assert read_block(sent, SCHEME, NAMES) is whole


@pytest.mark.parametrize("name", NAMES)
def test_some_columns_are_refused_as_the_whole_is(name: str) -> None:
    _, table = block()
    at = table.schema.get_field_index(name)
    others = (
        table.remove_column(at),
        table.append_column(name, table.column(at)),
        table.set_column(at, name, pa.array([{"a": 1}])),
        table.set_column(at, name, pa.array([None], table.schema.field(at).type)),
    )
    for other in others:
        with pytest.raises(Malformed):
            read_block(written(other, said(SECTIONS)), SCHEME, NAMES)
    with pytest.raises(NewerSchema):
        read_block(written(table, said(SECTIONS) + " later/3!"), SCHEME, NAMES)
