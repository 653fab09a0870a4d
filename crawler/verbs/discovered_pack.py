"""What `labels discover` found, as a label pack that `labels push` takes."""

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
    from reusewatch.detector.labels.stop_chunks import Counted


def write_pack(
    common: dict[str, list[Counted]], path: Path, *, scheme: HashScheme, spool: Path
) -> None:
    """A label pack of what is common. Unreachable where the file cannot be written."""
    from reusewatch.detector.labels.building import LabelBuilder
    from reusewatch.detector.labels.format import SHORTEST, Label
    from reusewatch.detector.ragged import Ragged
    from reusewatch.detector.sketching.chunks import Chunks

    hashes = {u: np.array([c.hash for c in found], np.uint64) for u, found in common.items()}
    lengths = np.array([one.length for one in common["chunk"]], np.uint32)
    nowhere = np.zeros(len(lengths), np.uint32)
    with closing(LabelBuilder(spool, scheme, min_length=0)) as builder:
        shortest = max(int(lengths.min(initial=SHORTEST + 1)) - 1, 0)
        label = builder.label(Label(name=LABEL, severity="info", longer_than=shortest))
        chunks = Ragged.of([hashes["chunk"]])
        builder.add_chunks(label, Chunks(chunks, lengths, nowhere, nowhere))
        builder.add_files(label, hashes["file"])
        try:
            builder.build(path)
        except OSError as error:
            raise Unreachable(f"{path} cannot be written: {error.strerror}") from error
    say(f"{path}: {len(hashes['chunk'])} chunks, {len(hashes['file'])} files")
