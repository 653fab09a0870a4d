"""Fingerprints that are on a bus, into a label pack: who only crawls has no archive to label from.

Takes hashes as they are, so the blocks must be of the scheme and of the kind of chunks that the
pack is to be matched by; reads no page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from reusewatch.crawler.errors import SourceError
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import read_block, unit_of
from reusewatch.streams.blocks.occurrences import countable, lists_of
from reusewatch.streams.bus import Bus

if TYPE_CHECKING:
    from reusewatch.detector.labels.building import LabelBuilder
    from reusewatch.detector.sketching.chunks import Unit


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of the pages: those of a site, those whose URL begins so; None is any."""

    site: str | None = None
    under: str | None = None

    def of(self, block: pa.RecordBatch) -> pa.RecordBatch:
        """The pages of a block that are wanted."""
        if self.site is not None:
            block = block.filter(pc.equal(block.column("site"), self.site))
        if self.under is not None:
            block = block.filter(pc.starts_with(block.column("url"), self.under))
        return block


@dataclass(frozen=True, slots=True)
class Seen:
    """The pages on a bus that are wanted, to be put under a label."""

    bus: Bus
    scheme: HashScheme
    unit: Unit
    wanted: Wanted

    def __call__(self, builder: LabelBuilder, label: int) -> Iterator[int]:
        """Put them there, a block at a time; how many pages each had.

        SchemeMismatch or SourceError where their hashes could never match those of pages to come.
        """
        for message in self.bus.read(topics.FINGERPRINTS):
            block = read_block(message, self.scheme)
            if unit_of(block) != self.unit:
                raise SourceError(
                    f"the fingerprints on the bus have {unit_of(block)} chunks, and --chunks (the "
                    f"setting `chunks`) says {self.unit}: give the one they were made with"
                )
            found = self.wanted.of(countable(block))
            _add(builder, label, found)
            yield len(found)


def _add(builder: LabelBuilder, label: int, block: pa.RecordBatch) -> None:
    """Put the chunks and files of these pages under a label."""
    from reusewatch.detector.ragged import Ragged
    from reusewatch.detector.sketching.chunks import Chunks

    hashes, offsets = lists_of(block.column("chunks"))
    lengths, starts, ends = (
        lists_of(block.column(name))[0].astype("uint32")
        for name in ("chunk_lengths", "chunk_starts", "chunk_ends")
    )
    builder.add_chunks(label, Chunks(Ragged(hashes, offsets), lengths, starts, ends))
    builder.add_files(label, block.column("file_hash").to_numpy())
