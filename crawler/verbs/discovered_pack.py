"""What `labels discover` found, as a label pack that `labels push` takes.

It names the page that each was shown on. Of its paragraphs there are no grams: what many pages
share is common as a whole, and not by the sentence.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.console import say
from reusewatch.streams.stages.discovering import LABEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reusewatch.crawler.verbs.discovered_content import Samples
    from reusewatch.detector.labels.building import LabelBuilder
    from reusewatch.detector.labels.stop_chunks import Counted


def write_pack(
    common: dict[str, list[Counted]],
    samples: Samples,
    path: Path,
    *,
    scheme: HashScheme,
    spool: Path,
) -> None:
    """A label pack of what is common. Unreachable where the file cannot be written."""
    from reusewatch.detector.labels.building import LabelBuilder
    from reusewatch.detector.labels.format import SHORTEST, PackLabel
    from reusewatch.detector.ragged import Ragged
    from reusewatch.detector.sketching.chunks import Chunks

    hashes = {u: np.array([c.hash for c in found], np.uint64) for u, found in common.items()}
    lengths = np.array([one.length for one in common["chunk"]], np.uint32)
    nowhere = np.zeros(len(lengths), np.uint32)
    with closing(LabelBuilder(spool, scheme, min_length=0, places=True)) as builder:
        shortest = max(int(lengths.min(initial=SHORTEST + 1)) - 1, 0)
        label = builder.label(PackLabel(name=LABEL, severity="info", longer_than=shortest))
        chunks = Ragged.of([hashes["chunk"]])
        stood = _stood(common, samples, builder, label)
        builder.add_chunks(label, Chunks(chunks, lengths, nowhere, nowhere), stood["chunk"])
        builder.add_files(label, hashes["file"], stood["file"])
        try:
            builder.build(path)
        except OSError as error:
            raise Unreachable(f"{path} cannot be written: {error.strerror}") from error
    say(f"{path}: {len(hashes['chunk'])} chunks, {len(hashes['file'])} files")


def _stood(
    common: dict[str, list[Counted]], samples: Samples, builder: LabelBuilder, label: int
) -> dict[str, NDArray[np.void]]:
    """Where each was shown; of a file, that it is the whole page."""
    from reusewatch.detector.labels.labeled_page import LabeledPage
    from reusewatch.detector.labels.stood import nowhere

    pages: dict[str, int] = {}
    found = {unit: nowhere(len(counted)) for unit, counted in common.items()}
    for unit, counted in common.items():
        for at, one in enumerate(counted):
            if (sample := samples.get((unit, one.hash))) is None:
                continue
            if sample.url not in pages:
                origin = sample.origin
                named = LabeledPage(sample.url, origin.source, origin.offset, sample.file_hash)
                pages[sample.url] = builder.page(label, named)
            chunk = unit == "chunk"
            place = (sample.start, sample.end - sample.start) if chunk else (0, 0)
            found[unit][at] = (pages[sample.url], *place)
    return found
