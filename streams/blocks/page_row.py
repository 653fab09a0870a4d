"""What a fingerprint block says of one page beside its sketches: a value for each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class PageRow:
    """Its fields are the columns that `PAGE_FIELDS`, `CLAIM_FIELDS`, `ORIGIN_FIELDS` and
    `LINK_FIELDS` list."""

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
