"""A block as the index stage takes it: read wholly, before anything of it is judged.

All that may be wrong with a block is found here, while nothing has changed. A part of a block is
read as a block of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from reusewatch.streams.blocks.for_links import check_links
from reusewatch.streams.blocks.for_quilts import check_grams
from reusewatch.streams.blocks.for_window import (
    counts,
    is_judged,
    only,
    sightings_of,
    subjects_of,
    times_of,
)
from reusewatch.streams.blocks.occurrences import check_marks
from reusewatch.streams.blocks.subject import Subject
from reusewatch.streams.origins import Origins
from reusewatch.streams.stages.similarity import Similarity
from reusewatch.streams.url_sets import UrlSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reusewatch.detector.similar.weighted_pages import WeightedPages
    from reusewatch.detector.window.sightings import Sightings


@dataclass(frozen=True, slots=True, eq=False)
class Brought:
    """The pages of a block; of those that are pages by themselves, what the window takes."""

    block: pa.RecordBatch
    subjects: list[Subject]
    # Of each page the one that it is a revisit of, and when that was seen.
    revisit_of: list[int | None]
    revisited: list[int | None]
    judged: NDArray[np.bool_]
    # Those that are judged.
    batch: pa.RecordBatch
    mine: list[Subject]
    owned: NDArray[np.bool_]
    sightings: Sightings
    # The terms of those that count for others.
    weighted: WeightedPages | None


def parts_of(block: pa.RecordBatch, parts: list[range]) -> list[pa.RecordBatch]:
    """A block in parts: views, of which nobody keeps anything but copies."""
    return [block.slice(part.start, len(part)) for part in parts] if len(parts) > 1 else [block]


def brought(
    block: pa.RecordBatch,
    origins: Origins,
    owned: UrlSet,
    site_of: Callable[[Subject], int],
    similarity: Similarity | None,
    *,
    made: bool = False,
) -> Brought:
    """A block, read. Malformed where it has a value that no page has; of one that was `made` here
    what belongs together is not held against itself."""
    if not made:
        check_marks(block)
        check_grams(block)
        check_links(block)
    subjects, judged = subjects_of(block, origins), is_judged(block)
    batch, mine = block, subjects
    if not judged.all():
        batch = only(block, judged)
        mine = [subject for subject, one in zip(subjects, judged, strict=True) if one]
    owns = owned.of(batch)
    own = only(block, counts(block)) if similarity else batch
    return Brought(
        block,
        subjects,
        revisit_of=block.column("revisit_of").to_pylist(),
        revisited=times_of(block, "revisit_at"),
        judged=judged,
        batch=batch,
        mine=mine,
        owned=owns,
        sightings=sightings_of(batch, mine, site_of, owns),
        weighted=similarity.weighted(own) if similarity and len(own) else None,
    )
