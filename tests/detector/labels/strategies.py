"""Hypothesis strategies for labeled datasets, and their twin: a dict from hash to names."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.building import LabelBuilder
from reusewatch.detector.labels.dataset import LabeledDataset
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.pack import Kind, LabelPack, open_pack
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.sketching.chunks import Chunks

SCHEME = HashScheme()
NAMES = ("wikipedia", "bank", "leak")
EDGES = (1, 2, (1 << 32) - 1, 1 << 63, (1 << 64) - 1)
hashes = st.sampled_from(EDGES) | st.integers(1, 60) | st.integers(1, (1 << 64) - 1)
names = st.sampled_from(NAMES)
kinds = st.sampled_from(["files", "chunks"])
entries = st.lists(st.tuples(kinds, hashes, names), max_size=120)

Entries = list[tuple[Kind, int, str]]
Twin = dict[tuple[Kind, int], set[str]]


def words(values: list[int]) -> NDArray[np.uint64]:
    return np.array(values, np.uint64)


def chunks_of(values: list[int], length: int = 200) -> Chunks:
    """Chunks of one page, all of one length."""
    column = np.full(len(values), length, np.uint32)
    return Chunks(Ragged(words(values), page_offsets([len(values)])), column, column, column)


def twin_of(entries: Entries) -> Twin:
    twin: Twin = defaultdict(set)
    for kind, value, name in entries:
        twin[kind, value].add(name)
    return twin


def built(
    path: Path,
    entries: Entries,
    *,
    run_pairs: int = 7,
    version: str = "1",
    scheme: HashScheme = SCHEME,
) -> LabelPack:
    """A pack of these entries, sorted in runs of a few pairs."""
    with (
        TemporaryDirectory(dir=path.parent) as spill,
        closing(LabelBuilder(Path(spill), scheme, run_pairs=run_pairs)) as builder,
    ):
        numbers = {name: builder.label(PackLabel(name=name)) for name in NAMES}
        for kind, value, name in entries:
            if kind == "files":
                builder.add_files(numbers[name], words([value]))
            else:
                builder.add_chunks(numbers[name], chunks_of([value]))
        builder.build(path, version=version)
        builder.close()
        assert not list(Path(spill).iterdir())
    return open_pack(path, scheme)


def matched(dataset: LabeledDataset | LabelPack, kind: Kind, values: list[int]) -> list[set[str]]:
    """The names that each hash stands under."""
    match = dataset.match if isinstance(dataset, LabeledDataset) else dataset.find
    found = match(kind, words(values)).tolist()
    return [set(dataset.labels_of(number)) if number >= 0 else set() for number in found]


def asked(twin: Twin) -> list[int]:
    """Hashes to ask for: all that are there, and their neighbours."""
    known = {value for _, value in twin}
    near = {(value + step) % (1 << 64) for value in (*known, *EDGES) for step in (-1, 0, 1)}
    return sorted(near)


def same(dataset: LabeledDataset | LabelPack, twin: Twin) -> None:
    for kind in ("files", "chunks"):
        values = asked(twin)
        wanted = [twin.get((kind, value), set()) for value in values]
        assert matched(dataset, kind, values) == wanted
