"""The labeled dataset that is in force while a replay is measured.

Most of its chunks are on no page, as most of an encyclopedia's are; the others are those of one
document in a hundred. What several of these share is their templates', and is not labeled, as in a
real dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.pack import open_pack
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.sketching.chunks import Chunks
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.streams.labels.pushing import Desk
from reusewatch.streams.local import LocalBus
from reusewatch.streams.running.label_settings import label_store
from reusewatch.streams.settings import Settings
from tests.benchmarks.documents import Document as Source
from tests.benchmarks.labels_speed import hashes

_EVERY = 100


def build(documents: Sequence[Source], path: Path, made_up: int) -> Path:
    """Write the pack: of some of the documents, and of so many chunks that no page has."""
    scheme = HashScheme()
    with (
        TemporaryDirectory(dir=path.parent) as spill,
        closing(LabelBuilder(Path(spill), scheme)) as builder,
    ):
        elsewhere = builder.label(PackLabel(name="elsewhere", source="made up"))
        builder.add_chunks(elsewhere, _made_up(made_up))
        here = builder.label(PackLabel(name="here", source=f"one document in {_EVERY}"))
        builder.add_chunks(here, _own(documents[::_EVERY], scheme))
        builder.build(path)
    return path


def _own(chosen: Sequence[Source], scheme: HashScheme) -> Chunks:
    """The chunks that stand in one of these documents alone."""
    made = [fingerprints([Document(one.html)], scheme).sketches.chunks for one in chosen]
    found = np.concatenate([np.unique(chunks.hashes.values) for chunks in made])
    lengths = dict[int, int]()
    for chunks in made:
        lengths |= zip(chunks.hashes.values.tolist(), chunks.lengths.tolist(), strict=True)
    hashes_of, seen = np.unique(found, return_counts=True)
    column = hashes_of[seen == 1]
    long = np.array([lengths[value] for value in column.tolist()], np.uint32)
    return Chunks(Ragged(column, page_offsets([len(column)])), long, long, long)


def _made_up(count: int) -> Chunks:
    column = hashes(1, count)
    long = np.full(count, 200, np.uint32)
    return Chunks(Ragged(column, page_offsets([count])), long, long, long)


def put_in_force(pack: Path, settings: Settings) -> None:
    """As `labels push` does on a local bus."""
    bus = LocalBus(settings.bus.removeprefix("local:"))
    desk = Desk(bus, label_store(settings), settings.scheme, lambda text: None)
    desk.push(pack, open_pack(pack, settings.scheme))
    bus.close()
