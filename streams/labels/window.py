"""The pages that a bus holds the fingerprints of, for looks before something is decided.

Read from the log, in pieces; the last version of a page counts, and the last pages of the window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from detector.errors import SchemeMismatch
from detector.hashing import HashScheme, hex_of
from detector.label_table import ABSENT
from detector.labels import LabeledDataset
from detector.stop_chunks import Counted, Proposal, StopChunks, proposals
from streams import topics
from streams.blocks import read_block
from streams.bus import Bus
from streams.records import Origin
from streams.wire import WireError

EXAMPLES = 10
# 2^24 counters: chunks that share one are counted exactly in the second reading.
_COUNTERS = 1 << 24
Say = Callable[[str], None]


def blocks(bus: Bus, scheme: HashScheme) -> Iterator[pa.RecordBatch]:
    """The blocks on the bus, but for those that cannot be read: the index has buried them."""
    for message in bus.read(topics.FINGERPRINTS):
        try:
            yield read_block(message, scheme)
        except (WireError, SchemeMismatch):
            continue


class ReadText(Protocol):
    """Reads a page's body again, if it is still there."""

    def __call__(self, origin: Origin) -> tuple[bytes, str] | None: ...


@dataclass(frozen=True, slots=True)
class _Judged:
    url: str
    site: str
    contains: float
    file: bool
    flagged: bool
    before: bool
    names: tuple[str, ...]


def preview(
    bus: Bus,
    scheme: HashScheme,
    dataset: LabeledDataset,
    stops: StopChunks,
    *,
    threshold: float,
    max_pages: int,
) -> dict[str, Any]:
    """What a dataset would flag of the pages in the window, and what is flagged already."""
    window: dict[int, _Judged | None] = {}
    for block in blocks(bus, scheme):
        found = _judged(block, dataset, stops, threshold)
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
        "labeled_content": sum(judged.contains >= threshold > 0 for judged in flagged),
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
    block: pa.RecordBatch, dataset: LabeledDataset, stops: StopChunks, threshold: float
) -> Iterator[_Judged | None]:
    """For each page what would be said of it; None where nothing matches."""
    offsets, hashes = _column(block, "chunks")
    stopped = stops.has_chunks(hashes)
    labeled = dataset.match("chunks", hashes)
    labeled[stopped] = ABSENT
    files = block.column("file_hash").to_numpy()
    file_sets = dataset.match("files", files)
    file_sets[stops.has_files(files)] = ABSENT
    urls, sites = block.column("url"), block.column("site")
    before, before_files = block.column("labeled"), block.column("file_labels")
    for page in range(len(block)):
        mine = slice(int(offsets[page]), int(offsets[page + 1]))
        sets = labeled[mine][labeled[mine] != ABSENT]
        whole = int(file_sets[page])
        if not len(sets) and whole == ABSENT:
            yield None
            continue
        total = int(np.count_nonzero(~stopped[mine]))
        numbers = {*sets.tolist()} | ({whole} - {ABSENT})
        share = len(sets) / total if total else 0.0
        yield _Judged(
            urls[page].as_py(), sites[page].as_py(), share, whole != ABSENT,
            whole != ABSENT or (len(sets) > 0 and share >= threshold),
            bool(len(before[page]) or len(before_files[page])),
            tuple(sorted({name for number in numbers for name in dataset.labels_of(number)})),
        )  # fmt: skip


def _column(block: pa.RecordBatch, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """A list column as offsets and values."""
    column = block.column(name)
    offsets = column.offsets.to_numpy() - column.offsets[0].as_py()
    return offsets, column.flatten().to_numpy(zero_copy_only=False)


@dataclass(slots=True)
class _Seen:
    pages: int
    sites: set[str]
    length: int
    origin: Origin
    start: int
    end: int


def stop_proposals(
    bus: Bus,
    scheme: HashScheme,
    known: StopChunks,
    *,
    min_sites: int,
    max_length: int,
    limit: int,
    read_text: ReadText,
) -> Iterator[dict[str, Any]]:
    """Chunks that are short and on many sites, best first, with what they say.

    The log is read twice: first how often hashes may occur, then exactly those that may be enough.
    """
    counters = np.zeros(_COUNTERS, np.uint32)
    for block in blocks(bus, scheme):
        _, hashes = _column(block, "chunks")
        np.add.at(counters, hashes % _COUNTERS, 1)
    seen: dict[int, _Seen] = {}
    for block in blocks(bus, scheme):
        _count(block, counters, min_sites, max_length, seen)
    counted = [Counted(h, one.pages, len(one.sites), one.length) for h, one in seen.items()]
    best = proposals(counted, known, min_sites=min_sites, max_length=max_length, limit=limit)
    yield from (_shown(proposal, seen[proposal.counted.hash], read_text) for proposal in best)


def _count(
    block: pa.RecordBatch,
    counters: NDArray[np.uint32],
    min_sites: int,
    max_length: int,
    seen: dict[int, _Seen],
) -> None:
    offsets, hashes = _column(block, "chunks")
    _, lengths = _column(block, "chunk_lengths")
    _, starts = _column(block, "chunk_starts")
    _, ends = _column(block, "chunk_ends")
    maybe = (counters[hashes % _COUNTERS] >= min_sites) & (lengths <= max_length)
    places = np.flatnonzero(maybe)
    pages = np.searchsorted(offsets, places, "right") - 1
    on_page: set[tuple[int, int]] = set()
    for place, page in zip(places.tolist(), pages.tolist(), strict=True):
        value = int(hashes[place])
        if (page, value) in on_page:
            continue
        on_page.add((page, value))
        found = seen.get(value)
        if found is None:
            origin = Origin(
                source=block.column("source")[page].as_py(),
                offset=block.column("offset")[page].as_py(),
            )
            found = seen[value] = _Seen(
                0, set(), int(lengths[place]), origin, int(starts[place]), int(ends[place])
            )
        found.pages += 1
        found.sites.add(block.column("site")[page].as_py())


def _shown(proposal: Proposal, seen: _Seen, read_text: ReadText) -> dict[str, Any]:
    counted = proposal.counted
    return {
        "hash": hex_of(counted.hash),
        "pages": counted.pages,
        "sites": counted.sites,
        "length": counted.length,
        "score": round(proposal.score, 1),
        "text": _text(seen, read_text),
    }


def _text(seen: _Seen, read_text: ReadText) -> str | None:
    from detector.page_chunks import plain_text

    found = read_text(seen.origin) if seen.origin.offset is not None else None
    if found is None:
        return None
    body, charset = found
    return plain_text(body[seen.start : seen.end], charset)


def as_list(proposed: Sequence[dict[str, Any]]) -> str:
    """Proposals as a list of one's own: TOML, to be read and cut before it is used."""
    lines = ["# Proposed from the window: read it, and take out what is no stop chunk."]
    for row in proposed:
        if row["text"]:
            text = row["text"].replace("\\", "\\\\").replace('"', '\\"')
            lines += ["", "[[chunks]]",
                      f'reason = "on {row["pages"]} pages of {row["sites"]} sites"',
                      f'texts = ["{text}"]']  # fmt: skip
    return "\n".join(lines)
