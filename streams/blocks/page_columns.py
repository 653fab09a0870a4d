"""What a fingerprint block says of its pages beside their sketches: a column for each thing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


class PageColumns(NamedTuple):
    """Its fields are the columns that `PAGE_FIELDS`, `CLAIM_FIELDS`, `ORIGIN_FIELDS` and
    `LINK_FIELDS` list, in this order, each with a value a page."""

    page: Sequence[int] | NDArray[np.uint64]
    url: Sequence[str]
    site: Sequence[str]
    host: Sequence[str]
    ip: Sequence[str | None]
    fetched_at: Sequence[datetime]
    status: Sequence[int | None]
    content_type: Sequence[str]
    charset: Sequence[str | None]
    source: Sequence[str]
    offset: Sequence[int | None]
    title: Sequence[str]
    excerpt: Sequence[str]
    text_start: Sequence[int]
    text_end: Sequence[int]
    truncated: Sequence[bool]
    overlong: Sequence[bool]
    salvaged: Sequence[bool]
    file_hash: Sequence[int]
    revisit_of: Sequence[int | None]
    revisit_at: Sequence[datetime | None]
    canonical: Sequence[int | None]
    record_id: Sequence[str | None]
    links: Sequence[Sequence[int]] | pa.ListArray
    link_sites: Sequence[Sequence[int]] | pa.ListArray
    link_starts: Sequence[Sequence[int]] | pa.ListArray
