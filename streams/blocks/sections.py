"""The sections of a fingerprint block: groups of columns, each with a version of its own.

Workers of two versions share a topic while a deployment is updated. So a block says which sections
it has; who reads it skips those that he does not know, and takes those that he knows and that are
not there for empty, except where one is needed: then the block is refused, and says whom to update.
Something new comes as a section with a name of its own, not needed where the rest is right without
it; columns that change, or that come to a section, get it the next version.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from reusewatch.streams.wire import Malformed, NewerSchema

HEADER = b"sections"
_SECTION = re.compile("([a-z0-9-]{1,40})/([0-9]{1,4})(!?)")
_MOST_SECTIONS = 100
_LONGEST_TOLD = 100


@dataclass(frozen=True, slots=True)
class Section:
    """Columns that belong together; `needed`: nobody may go on without them."""

    name: str
    version: int
    fields: tuple[pa.Field, ...]
    needed: bool = True


def said(sections: Sequence[Section]) -> str:
    """The sections as a block's metadata names them.

    >>> said([Section("page", 1, ()), Section("donors", 2, (), needed=False)])
    'page/1! donors/2'
    """
    return " ".join(f"{one.name}/{one.version}{'!' * one.needed}" for one in sections)


def known(table: pa.Table, sections: Sequence[Section]) -> pa.Table:
    """The columns of these sections, as they are said to be in a table that somebody else wrote.

    Malformed or NewerSchema where a section is needed, here or there, and cannot be had.
    """
    found = _versions(table)
    ours = {one.name: one for one in sections}
    for name, (version, needed) in found.items():
        if needed and (name not in ours or ours[name].version < version):
            raise NewerSchema(
                f"a fingerprint block with section {name}/{version}, which this reusewatch does "
                "not know: upgrade this process"
            )
    for one in sections:
        version, _ = found.get(one.name, (0, False))
        if version == one.version:
            continue
        if one.needed:
            raise Malformed(
                f"a fingerprint block with section {one.name}/{version} where {one.name}/"
                f"{one.version} is needed: an older reusewatch wrote it; upgrade that one, and "
                "replay what it wrote"
            )
        table = _emptied(table, one)
    columns = [field.name for one in sections for field in one.fields]
    for name in columns:
        if table.schema.get_field_index(name) < 0:  # there is none, or there are two
            raise Malformed(f"a fingerprint block without {name}")
    return table.select(columns)


def _versions(table: pa.Table) -> dict[str, tuple[int, bool]]:
    """What a block says of its sections."""
    text = (table.schema.metadata or {}).get(HEADER)
    if text is None:
        raise Malformed("a fingerprint block that names no sections: an older reusewatch wrote it")
    parts = text.decode("utf-8", "replace").split()
    read = [_SECTION.fullmatch(part) for part in parts[:_MOST_SECTIONS]]
    found = {one[1]: (int(one[2]), bool(one[3])) for one in read if one}
    if len(found) < len(parts):
        told = text[:_LONGEST_TOLD].decode("utf-8", "replace")
        raise Malformed(f"a fingerprint block whose sections are {told!r}")
    return found


def _emptied(table: pa.Table, section: Section) -> pa.Table:
    """The table with nothing in a section: what stands under its names is of another version."""
    names = [field.name for field in section.fields]
    table = table.select([i for i, name in enumerate(table.column_names) if name not in names])
    for field in section.fields:
        table = table.append_column(field, _nothing(field, len(table)))
    return table


def _nothing(field: pa.Field, rows: int) -> pa.Array:
    if field.nullable:
        return pa.nulls(rows, field.type)
    return pa.array([[]] * rows, field.type)
