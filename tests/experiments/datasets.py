"""The labeled datasets of the experiments: L_expert, what somebody who has the site labels, and
L_blind, what is discovered when it was copied (Ardi, Heidemann 2014, §3.2, §5.2, §5.3).

L_expert goes through a label pack, L_blind through deltas, as what a crawl discovers does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from reusewatch.detector.discovery.offline import ExactCounts
from reusewatch.detector.labels.building import MIN_LENGTH, LabelBuilder
from reusewatch.detector.labels.dataset import Delta, LabeledDataset
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.occurrences import SplitByHash
from reusewatch.detector.labels.pack import open_pack
from reusewatch.detector.labels.stop_chunks import StopChunks, shipped
from reusewatch.detector.scanning.scan import Source, scan_batch
from reusewatch.detector.sketching.chunks import Chunks
from reusewatch.detector.sketching.fingerprint import tokens_of
from reusewatch.detector.sketching.tokens import TokenBatch
from tests.experiments.corpus import SCHEME

# A chunk is discovered where copies × pages that have it > threshold: only the ratio matters.
THRESHOLD = 20
_TWENTIETH, _HALF = 1, 11


@dataclass(frozen=True, slots=True, eq=False)
class Labeled:
    """L by name, and how many distinct chunks it has."""

    name: str
    dataset: LabeledDataset
    size: int


@lru_cache(maxsize=1)
def stop_chunks() -> StopChunks:
    """The list that the project ships."""
    return StopChunks.of(shipped(), SCHEME, _tokenize)


def _tokenize(texts: Sequence[str]) -> TokenBatch:
    sources = [Source(text.encode(), "", "", "", False) for text in texts]
    return tokens_of(scan_batch(sources, key=SCHEME.key))


def labeled_datasets(site: Chunks, directory: Path) -> list[Labeled]:
    """All that the experiments on detection compare."""
    return [
        expert("expert", site, directory, min_length=0),
        expert("expert, over 100", site, directory, min_length=MIN_LENGTH),
        blind("blind, T/2", site, copies=_HALF),
        blind("blind, T/20", site, copies=_TWENTIETH),
    ]


def expert(name: str, site: Chunks, directory: Path, *, min_length: int) -> Labeled:
    """All the site's chunks but stop chunks, and but short ones, from a pack.

    The paper labeled all; `labels build` by default only those over 100 characters.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=directory) as folder:
        path = Path(folder) / "pack"
        with closing(
            LabelBuilder(Path(folder), SCHEME, min_length=min_length, stops=stop_chunks())
        ) as made:
            made.add_chunks(made.label(PackLabel(name="expert")), site)
            made.build(path)
        # The mapping outlives the name of the file.
        pack = open_pack(path, SCHEME)
    return Labeled(name, LabeledDataset(SCHEME, pack), len(pack.chunks))


def blind(name: str, site: Chunks, *, copies: int) -> Labeled:
    """What is discovered when the site stands on so many hosts, at a threshold of 20 pages."""
    pages = np.repeat(np.arange(len(site.hashes), dtype=np.uint64), site.hashes.counts)
    with TemporaryDirectory() as folder, closing(SplitByHash(Path(folder))) as files:
        counts = ExactCounts(files)
        for copy in range(copies):
            sites = np.full(len(pages), copy, np.uint64)
            ids = pages + np.uint64(copy * len(site.hashes))
            counts.add(site.hashes.values, ids, sites, site.lengths)
        found = np.array([one.hash for one in counts.over(THRESHOLD)], np.uint64)
    found = found[~stop_chunks().has_chunks(found)]
    dataset = LabeledDataset(SCHEME)
    names = frozenset({"discovered"})
    dataset.apply(Delta("chunks", value, names) for value in found.tolist())
    return Labeled(name, dataset, len(found))
