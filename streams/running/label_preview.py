"""What a push of labels would flag of the pages whose fingerprints a bus holds.

The last version of a page counts, and the last pages of the window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.streams.blocks.columns import LONGER_THAN
from reusewatch.streams.blocks.for_quilts import has_grams
from reusewatch.streams.blocks.for_window import times_of
from reusewatch.streams.blocks.label_columns import LABEL_FIELDS, label_columns
from reusewatch.streams.bus import Bus
from reusewatch.streams.labels.gram_marks import KeptGrams
from reusewatch.streams.labels.matching import Hashed, Matching
from reusewatch.streams.labels.window import blocks, column_of
from reusewatch.streams.stages.labeled import Labeled, LabeledPages
from reusewatch.streams.times import moment
from reusewatch.streams.url_sets import UrlSet

EXAMPLES = 10


@dataclass(frozen=True, slots=True)
class _Judged:
    url: str
    site: str
    said: Labeled
    before: bool

    @property
    def kinds(self) -> set[str]:
        return {alert.kind for alert in self.said.alerts}

    @property
    def contains(self) -> float:
        return self.said.contains or 0.0

    @property
    def file(self) -> bool:
        return "labeled-page" in self.kinds


def preview(
    bus: Bus,
    scheme: HashScheme,
    matching: Matching,
    judging: LabeledPages,
    *,
    owned: UrlSet,
    max_pages: int,
) -> dict[str, Any]:
    """What a dataset would flag of the pages in the window, and what is flagged already.

    The blocks are marked and judged as those after a push are. Only where the bus has a sample of
    a long page's grams is the share of its labeled grams an estimate.
    """
    window: dict[int, _Judged | None] = {}
    for block in blocks(bus, scheme):
        for page, judged in _judged(block, matching, judging, owned):
            window.pop(page, None)  # anew at the end, where the newest stand
            window[page] = judged
            if len(window) > max_pages:
                del window[next(iter(window))]
    touched = [judged for judged in window.values() if judged is not None]
    flagged = [judged for judged in touched if judged.said.alerts]
    counts: dict[str, int] = {}
    for judged in flagged:
        for name in judged.said.labels:
            counts[name] = counts.get(name, 0) + 1
    flagged.sort(key=lambda judged: (not judged.file, -judged.contains, judged.url))
    return {
        "pages": len(window),
        "labeled": len(flagged),
        "share": len(flagged) / len(window) if window else 0.0,
        "labeled_pages": sum(judged.file for judged in flagged),
        "labeled_content": sum("labeled-content" in judged.kinds for judged in flagged),
        "touched": len(touched),
        "already": sum(judged.before for judged in flagged),
        "sites": len({judged.site for judged in flagged}),
        "threshold": judging.threshold,
        "by_label": dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
        "examples": [
            {"url": judged.url, "contains": judged.contains, "file": judged.file,
             "labels": list(judged.said.labels)}
            for judged in flagged[:EXAMPLES]
        ],
    }  # fmt: skip


def _judged(
    block: pa.RecordBatch, matching: Matching, judging: LabeledPages, owned: UrlSet
) -> Iterator[tuple[int, _Judged | None]]:
    """What judging would say of each page, were these labels in force; None where it has none."""
    said = judging.judge_block(_marked(block, matching), datetime.now(UTC), owned.of(block))
    urls, sites = block.column("url"), block.column("site")
    before, before_files = block.column("labeled"), block.column("file_labels")
    for at, (page, one) in enumerate(zip(block.column("page").to_pylist(), said, strict=True)):
        if not one.labels:
            yield page, None
            continue
        had = bool(len(before[at]) or len(before_files[at]))
        yield page, _Judged(urls[at].as_py(), sites[at].as_py(), one, had)


def _marked(block: pa.RecordBatch, matching: Matching) -> pa.RecordBatch:
    """The block with the label columns that it would have, were these labels in force."""
    offsets, hashes = column_of(block, "chunks")
    fetched = [moment(at or 0) for at in times_of(block, "fetched_at")]
    pages = Hashed(
        Ragged(hashes, offsets), block.column("file_hash").to_numpy(),
        block.column("url").to_pylist(), fetched, lambda page, chunk: "",
    )  # fmt: skip
    columns = dict(zip(block.schema.names, block.columns, strict=True))
    marks = label_columns(matching.marks_of_kept(pages, _kept_grams(block)))
    columns |= {field.name: column for field, column in zip(LABEL_FIELDS, marks, strict=True)}
    said = {**(block.schema.metadata or {}), LONGER_THAN: str(matching.shortest)}
    return pa.record_batch([*columns.values()], schema=block.schema.with_metadata(said))


def _kept_grams(block: pa.RecordBatch) -> KeptGrams | None:
    if not has_grams(block):
        return None
    offsets, grams = column_of(block, "grams")
    whole = block.column("grams_are_all").fill_null(False).to_numpy(zero_copy_only=False)
    return KeptGrams(Ragged(grams, offsets), whole)
