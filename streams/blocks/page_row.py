"""What a fingerprint block says of one page beside its sketches: a value for each column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple


class PageRow(NamedTuple):
    """Its fields are the columns that `PAGE_FIELDS`, `CLAIM_FIELDS`, `ORIGIN_FIELDS` and
    `LINK_FIELDS` list, in this order: rows are turned into columns all at once."""

    page: int
    url: str
    site: str
    host: str
    ip: str | None
    fetched_at: datetime
    status: int | None
    content_type: str
    charset: str | None
    source: str
    offset: int | None
    title: str
    excerpt: str
    text_start: int
    text_end: int
    truncated: bool
    overlong: bool
    salvaged: bool
    file_hash: int
    revisit_of: int | None
    revisit_at: datetime | None
    canonical: int | None = None
    record_id: str | None = None
    links: Sequence[int] = ()
    link_sites: Sequence[int] = ()
    link_starts: Sequence[int] = ()
