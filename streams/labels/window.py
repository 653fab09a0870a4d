"""The pages that a bus holds the fingerprints of, for looks before something is decided.

Read from the log, in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.bus import Bus
from reusewatch.streams.wire import WireError


def blocks(bus: Bus, scheme: HashScheme) -> Iterator[pa.RecordBatch]:
    """The blocks on the bus, but for those that cannot be read: the index has buried them."""
    for message in bus.read(topics.FINGERPRINTS):
        try:
            yield read_block(message, scheme)
        except (WireError, SchemeMismatch):
            continue


def column_of(block: pa.RecordBatch, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A list column as offsets and values."""
    column = block.column(name)
    offsets = column.offsets.to_numpy() - column.offsets[0].as_py()
    return offsets, column.flatten().to_numpy(zero_copy_only=False)
