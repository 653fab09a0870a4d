"""Rows of pages as the columns that a block is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reusewatch.streams.blocks.page_columns import PageColumns

# What a row of a test need not say.
_UNSAID: Mapping[str, Any] = {
    "canonical": None, "record_id": None, "links": (), "link_sites": (), "link_starts": (),
}  # fmt: skip


def page_columns(rows: Sequence[Mapping[str, Any]]) -> PageColumns:
    """The columns; a name that there is none of is refused."""
    assert all(row.keys() <= set(PageColumns._fields) for row in rows)
    full = [{**_UNSAID, **row} for row in rows]
    return PageColumns(*([row[name] for row in full] for name in PageColumns._fields))
