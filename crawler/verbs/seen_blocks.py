"""Fingerprints that are on a bus, into a label pack: who only crawls has no archive to label from.

Takes hashes as they are, so the blocks must be of the scheme and of the kind of chunks that the
pack is to be matched by; reads no page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reusewatch.crawler.errors import SourceError
from reusewatch.crawler.labeling.packing import Kept
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.blocks.columns import unit_of
from reusewatch.streams.blocks.for_quilts import has_grams
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.blocks.occurrences import countable, lists_of
from reusewatch.streams.bus import Bus
from reusewatch.streams.stages.fingerprinting import GRAM_SAMPLES

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

    def __call__(
        self, builder: LabelBuilder, label: int, kept: Kept, sites: Counter[str]
    ) -> Iterator[int]:
        """Put them there, a block at a time; how many pages each had. Counts chunks by site.

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
            if len(found):
                _add(builder, label, found, kept, sites)
            yield len(found)


def _add(
    builder: LabelBuilder, label: int, block: pa.RecordBatch, kept: Kept, sites: Counter[str]
) -> None:
    """Put the chunks, files and grams of these pages under a label."""
    from reusewatch.detector.labels.contains import per_page
    from reusewatch.detector.labels.stood import places, whole_pages
    from reusewatch.detector.ragged import Ragged
    from reusewatch.detector.sketching.chunks import Chunks

    numbers = _pages(builder, label, block)
    hashes, offsets = lists_of(block.column("chunks"))
    lengths, starts, ends = (
        lists_of(block.column(name))[0] for name in ("chunk_lengths", "chunk_starts", "chunk_ends")
    )
    short = starts.astype("uint32"), ends.astype("uint32")
    long = builder.add_chunks(
        label, Chunks(Ragged(hashes, offsets), lengths, *short),
        places(numbers, offsets, starts, ends),
    )  # fmt: skip
    counts = per_page(long, offsets).tolist()
    for site, count in zip(block.column("site").to_pylist(), counts, strict=True):
        sites[site] += count
    builder.add_files(label, block.column("file_hash").to_numpy(), whole_pages(numbers))
    if kept.gram_share:
        _add_grams(builder, label, block, numbers, kept.gram_share)


def _pages(builder: LabelBuilder, label: int, block: pa.RecordBatch) -> NDArray[np.uint32]:
    from reusewatch.detector.labels.labeled_page import LabeledPage

    columns = (block.column(name).to_pylist() for name in ("url", "source", "offset", "file_hash"))
    return np.array(
        [builder.page(label, LabeledPage(*row)) for row in zip(*columns, strict=True)], np.uint32
    )


def _add_grams(
    builder: LabelBuilder,
    label: int,
    block: pa.RecordBatch,
    numbers: NDArray[np.uint32],
    share: float,
) -> None:
    """Put grams under a label, as far as the block has them: of long pages it may have a sample."""
    from reusewatch.detector.labels.stood import places
    from reusewatch.detector.sketching.grams import in_sample

    if not has_grams(block):
        return
    grams, offsets = lists_of(block.column("grams"))
    starts, ends = (lists_of(block.column(name))[0] for name in ("gram_starts", "gram_ends"))
    if not pc.all(block.column("grams_are_all")).as_py():
        share = min(share, GRAM_SAMPLES["sampled"])
    stood = places(numbers, offsets, starts, ends)
    some = in_sample(grams, share)
    builder.add_grams(label, grams[some], stood[some], share=share)
