"""Stop chunks that the window proposes: short, and on many sites (Ardi, Heidemann 2014, §5.1: the
authors looked at the most frequent chunks by hand). Proposes only; people decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.labels.page_chunks import plain_text
from reusewatch.detector.labels.stop_chunks import Counted, Proposal, StopChunks, proposals
from reusewatch.streams.bus import Bus
from reusewatch.streams.labels.window import blocks, column_of
from reusewatch.streams.records import Origin

# Chunks that share a counter are told apart in the second reading.
_COUNTERS = 1 << 24


class ReadText(Protocol):
    """Reads a page's body again, with its charset, if it is still there."""

    def __call__(self, origin: Origin) -> tuple[bytes, str] | None: ...


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
        _, hashes = column_of(block, "chunks")
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
    offsets, hashes = column_of(block, "chunks")
    _, lengths = column_of(block, "chunk_lengths")
    _, starts = column_of(block, "chunk_starts")
    _, ends = column_of(block, "chunk_ends")
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
            # A stranger's text: what does not print says nothing, and a terminal might obey it.
            text = "".join(char if char.isprintable() else " " for char in row["text"])
            text = text.replace("\\", "\\\\").replace('"', '\\"')
            lines += ["", "[[chunks]]",
                      f'reason = "on {row["pages"]} pages of {row["sites"]} sites"',
                      f'texts = ["{text}"]']  # fmt: skip
    return "\n".join(lines)
