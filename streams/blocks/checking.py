"""Whether what a fingerprint block says can be: before anything of it is taken in.

A block that was changed on its way has another checksum than its header says. One that somebody
made can have any checksum, so its values are checked against each other as well: page, host and
site follow from the URL, weights are numbers, and what begins ends behind its beginning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import xxhash

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Message
from reusewatch.streams.urls import placed
from reusewatch.streams.wire import Malformed

CHECKSUM_HEADER = "checksum"


def checksum_of(value: bytes) -> bytes:
    """What the header of a block says of its bytes."""
    return xxhash.xxh3_64_hexdigest(value).encode()


def check_bytes(message: Message) -> None:
    """Malformed where the bytes are not those that were sent."""
    said = dict(message.headers).get(CHECKSUM_HEADER)
    if said is None:
        raise Malformed(f"a fingerprint block without the header `{CHECKSUM_HEADER}`")
    if said != checksum_of(message.value or b""):
        raise Malformed("a fingerprint block that does not match its checksum")


def check_values(block: pa.RecordBatch, scheme: HashScheme) -> None:
    """Malformed where a value contradicts another one, or is none; of columns that are there."""
    _check_places(block, scheme)
    there = frozenset(block.schema.names)
    for name in there.intersection(("term_weights", "terms_total")):
        values = _values(block.column(name))
        if not np.isfinite(values).all() or (values < 0).any():
            raise Malformed(f"a fingerprint block whose {name} are no weights")
    for start, end in (("text_start", "text_end"), ("chunk_starts", "chunk_ends")):
        if there.issuperset((start, end)):
            _check_order(block, start, end)


def _check_places(block: pa.RecordBatch, scheme: HashScheme) -> None:
    """Two schemes of one name may have two keys; a page that stands elsewhere is nobody's."""
    try:
        rows = zip(*(block.column(name).to_pylist() for name in PLACE_COLUMNS), strict=True)
        for page, url, host, site in rows:
            if placed(url, scheme) != (page, host, site):
                raise Malformed(f"a fingerprint block that places {url[:200]!r} on {site[:200]!r}")
    except BadPage as error:
        raise Malformed(f"a fingerprint block with a value that no page has: {error}") from error


PLACE_COLUMNS = ("page", "url", "host", "site")


def _check_order(block: pa.RecordBatch, start: str, end: str) -> None:
    starts, ends = _values(block.column(start)), _values(block.column(end))
    if len(starts) != len(ends) or (starts < 0).any() or (starts > ends).any():
        raise Malformed(f"a fingerprint block whose {start} are not before its {end}")


def _values(column: pa.Array) -> np.ndarray[Any, Any]:
    """The numbers of a column, or of the lists in it."""
    if pa.types.is_list(column.type):
        column = column.flatten()
    found: np.ndarray[Any, Any] = column.to_numpy(zero_copy_only=False)
    return found
