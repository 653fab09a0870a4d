"""The pages that a bus holds the fingerprints of, for looks before something is decided.

Read from the log, in pieces; the last version of a page counts, and the last pages of the window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from reusewatch.detector.errors import SchemeMismatch
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.contains import per_page
from reusewatch.detector.labels.dataset import LabeledDataset
from reusewatch.detector.labels.gram_containment import least_grams
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.labels.stop_chunks import StopChunks
from reusewatch.detector.sketching.grams import in_sample
from reusewatch.streams import topics
from reusewatch.streams.blocks.for_quilts import has_grams
from reusewatch.streams.blocks.for_window import is_judged
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.bus import Bus
from reusewatch.streams.url_sets import UrlSet
from reusewatch.streams.wire import WireError

EXAMPLES = 10
SAMPLE = 1 / 8
"""Of the grams of long pages, what a bus has with `grams = "sampled"`."""
_NONE = np.empty(0, np.int64)


def blocks(bus: Bus, scheme: HashScheme) -> Iterator[pa.RecordBatch]:
    """The blocks on the bus, but for those that cannot be read: the index has buried them."""
    for message in bus.read(topics.FINGERPRINTS):
        try:
            yield read_block(message, scheme)
        except (WireError, SchemeMismatch):
            continue


@dataclass(frozen=True, slots=True)
class _Judged:
    url: str
    site: str
    contains: float
    file: bool
    flagged: bool
    before: bool
    names: tuple[str, ...]
    # Whether enough of its grams are labeled, as far as the bus has them.
    grams: bool


def preview(
    bus: Bus,
    scheme: HashScheme,
    dataset: LabeledDataset,
    stops: StopChunks,
    *,
    threshold: float,
    max_pages: int,
    homes: Mapping[str, UrlSet] | None = None,
    grams: float = 1.0,
) -> dict[str, Any]:
    """What a dataset would flag of the pages in the window, and what is flagged already.

    From a share of `grams` on a page is flagged for them: of long pages an estimate, where the bus
    has a sample of their grams.
    """
    window: dict[int, _Judged | None] = {}
    for block in blocks(bus, scheme):
        found = _judged(block, dataset, stops, threshold, homes or {}, grams)
        for page, judged in zip(block.column("page").to_pylist(), found, strict=True):
            window.pop(page, None)  # anew at the end, where the newest stand
            window[page] = judged
            if len(window) > max_pages:
                del window[next(iter(window))]
    seen = [judged for judged in window.values() if judged is not None]
    flagged = [judged for judged in seen if judged.flagged]
    counts: dict[str, int] = {}
    for judged in flagged:
        for name in judged.names:
            counts[name] = counts.get(name, 0) + 1
    flagged.sort(key=lambda judged: (-judged.file, -judged.contains, judged.url))
    return {
        "pages": len(window),
        "labeled": len(flagged),
        "share": len(flagged) / len(window) if window else 0.0,
        "labeled_pages": sum(judged.file for judged in flagged),
        "labeled_content": sum(
            judged.grams or judged.contains >= threshold > 0 for judged in flagged
        ),
        "touched": len(seen),
        "already": sum(judged.before for judged in flagged),
        "sites": len({judged.site for judged in flagged}),
        "threshold": threshold,
        "by_label": dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        "examples": [
            {"url": judged.url, "contains": judged.contains, "file": judged.file,
             "labels": list(judged.names)}
            for judged in flagged[:EXAMPLES]
        ],
    }  # fmt: skip


def _judged(
    block: pa.RecordBatch,
    dataset: LabeledDataset,
    stops: StopChunks,
    threshold: float,
    homes: Mapping[str, UrlSet],
    least_share: float,
) -> Iterator[_Judged | None]:
    """For each page what would be said of it; None where nothing matches, or it is not judged."""
    offsets, hashes = column_of(block, "chunks")
    stopped = stops.has_chunks(hashes)
    labeled = dataset.match("chunks", hashes)
    labeled[stopped] = ABSENT
    files = block.column("file_hash").to_numpy()
    file_sets = dataset.match("files", files)
    file_sets[stops.has_files(files)] = ABSENT
    urls, sites = block.column("url"), block.column("site")
    by_grams = _by_grams(block, dataset, stops, least_share)
    before, before_files = block.column("labeled"), block.column("file_labels")
    for page, counts in enumerate(is_judged(block).tolist()):
        mine = slice(int(offsets[page]), int(offsets[page + 1]))
        sets = labeled[mine][labeled[mine] != ABSENT]
        whole = int(file_sets[page])
        in_grams = by_grams.get(page, _NONE)
        if not counts or (not len(sets) and whole == ABSENT and not len(in_grams)):
            yield None
            continue
        total = int(np.count_nonzero(~stopped[mine]))
        url = urls[page].as_py()
        numbers = {*sets.tolist(), *in_grams.tolist()} | ({whole} - {ABSENT})
        names = {
            number: [name for name in dataset.labels_of(number) if not _at_home(name, url, homes)]
            for number in numbers
        }
        sets = sets[[bool(names[number]) for number in sets.tolist()]]
        whole = whole if names.get(whole) else ABSENT
        by_gram = any(names[number] for number in in_grams.tolist())
        if not len(sets) and whole == ABSENT and not by_gram:
            yield None
            continue
        share = len(sets) / total if total else 0.0
        yield _Judged(
            url, sites[page].as_py(), share, whole != ABSENT,
            whole != ABSENT or by_gram or (len(sets) > 0 and share >= threshold),
            bool(len(before[page]) or len(before_files[page])),
            tuple(sorted({name for inside in names.values() for name in inside})), by_gram,
        )  # fmt: skip


def _by_grams(
    block: pa.RecordBatch, dataset: LabeledDataset, stops: StopChunks, least_share: float
) -> dict[int, NDArray[np.int64]]:
    """The pages of which enough grams are labeled, and under which sets."""
    sample = dataset.gram_share
    if not sample or not has_grams(block):
        return {}
    if not pc.all(block.column("grams_are_all")).as_py():
        sample = min(sample, SAMPLE)
    offsets, grams = column_of(block, "grams")
    sets = dataset.match("grams", grams)
    sets[stops.has_grams(grams) | ~in_sample(grams, sample)] = ABSENT
    total = per_page(in_sample(grams, sample), offsets)
    hits = per_page(sets != ABSENT, offsets)
    enough = (hits >= least_grams(sample)) & (hits >= least_share * total)
    found = {}
    for page in np.flatnonzero(enough).tolist():
        mine = sets[int(offsets[page]) : int(offsets[page + 1])]
        found[page] = np.unique(mine[mine != ABSENT])
    return found


def _at_home(name: str, url: str, homes: Mapping[str, UrlSet]) -> bool:
    return name in homes and homes[name].has(url)


def column_of(block: pa.RecordBatch, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A list column as offsets and values."""
    column = block.column(name)
    offsets = column.offsets.to_numpy() - column.offsets[0].as_py()
    return offsets, column.flatten().to_numpy(zero_copy_only=False)
