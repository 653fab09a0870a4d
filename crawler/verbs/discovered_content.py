"""What `labels discover` finds: counted on disk and not in memory, and shown on a page that has it.

The blocks are read twice. What is over the thresholds is known only at the end of the first
reading; the second one finds a page for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.streams.blocks.occurrences import chunks_of, files_of, owners_of
from reusewatch.streams.page_text import texts_of
from reusewatch.streams.records import Origin, Page
from reusewatch.streams.sites import Sites

if TYPE_CHECKING:
    from reusewatch.detector.discovery.offline import ExactCounts
    from reusewatch.detector.discovery.online import Occurrences
    from reusewatch.detector.labels.stop_chunks import Counted, StopChunks

_UNITS = ("chunk", "file")
_FACTS = ("url", "source", "offset", "file_hash")
Blocks = Callable[[], Iterator[pa.RecordBatch]]
Samples = dict[tuple[str, int], "Sample"]


@dataclass(frozen=True, slots=True)
class Sample:
    """A page that has something, and where; the text where the page could be read again."""

    url: str
    origin: Origin
    file_hash: int
    start: int
    end: int
    text: str | None


@dataclass(frozen=True, slots=True)
class Rules:
    """Content is common on more `pages` than this, of at least so many `sites`; chunks count above
    `length` characters.
    """

    pages: int
    sites: int
    length: int


class Discovery:
    """Counts, then samples of what is over the thresholds."""

    def __init__(self, scheme: HashScheme, rules: Rules, spool: Path, known: StopChunks) -> None:
        self._scheme = scheme
        self._rules = rules
        self._spool = spool
        self._known = known

    def count(self, blocks: Blocks) -> dict[str, list[Counted]]:
        """What is common, by unit."""
        from reusewatch.detector.discovery.offline import ExactCounts
        from reusewatch.detector.labels.occurrences import SplitByHash

        with ExitStack() as stack:
            counts: dict[str, ExactCounts] = {}
            for unit in _UNITS:
                (self._spool / unit).mkdir()
                files = stack.enter_context(closing(SplitByHash(self._spool / unit)))
                counts[unit] = ExactCounts(files)
            for block in blocks():
                for unit, seen in self._seen(block).items():
                    _add(counts[unit], seen)
            over = {
                unit: list(counts[unit].over(self._rules.pages, min_sites=self._rules.sites))
                for unit in _UNITS
            }
        return {"chunk": self._unstopped(over["chunk"]), "file": over["file"]}

    def _unstopped(self, found: list[Counted]) -> list[Counted]:
        stopped = self._known.has_chunks(np.array([one.hash for one in found], np.uint64))
        return [one for one, stop in zip(found, stopped.tolist(), strict=True) if not stop]

    def _seen(self, block: pa.RecordBatch) -> dict[str, Occurrences]:
        sites = Sites(self._scheme).hashes(owners_of(block.column("site")))
        return {
            "chunk": chunks_of(block, sites, min_length=self._rules.length),
            "file": files_of(block, sites, is_stop=self._known.has_files),
        }

    def shown(
        self,
        common: dict[str, list[Counted]],
        blocks: Blocks,
        read_origin: Callable[[Origin], Page],
    ) -> tuple[list[dict[str, Any]], Samples]:
        """A line for each, the most frequent first, with a page that has it; and those pages."""
        wanted = {unit: {one.hash for one in found} for unit, found in common.items()}
        samples: Samples = {}
        if any(wanted.values()):
            for block in blocks():
                for unit, seen in self._seen(block).items():
                    self._sample(unit, seen, wanted[unit], block, read_origin, samples)
                if not any(wanted.values()):
                    break
        rows: list[dict[str, Any]] = [
            {"unit": unit, "hash": hex_of(one.hash), "pages": one.pages, "sites": one.sites,
             "url": samples[unit, one.hash].url, "text": samples[unit, one.hash].text}
            for unit, found in common.items() for one in found if (unit, one.hash) in samples
        ]  # fmt: skip
        rows.sort(key=lambda row: (-row["pages"], row["unit"], row["hash"]))
        return rows, samples

    def _sample(
        self, unit: str, seen: Occurrences, wanted: set[int], block: pa.RecordBatch,
        read_origin: Callable[[Origin], Page], samples: Samples,
    ) -> None:  # fmt: skip
        values = seen.hashes.values
        for at in np.flatnonzero(np.isin(values, np.array([*wanted], np.uint64)) & ~seen.skipped):
            value = int(values[at])
            if value not in wanted:
                continue
            wanted.remove(value)
            row = int(np.searchsorted(seen.hashes.offsets, at, "right")) - 1
            page = block.slice(row, 1).select(_FACTS).to_pylist()[0]
            origin = Origin(source=page["source"], offset=page["offset"])
            span = int(seen.starts[at]), int(seen.ends[at])
            (text,) = texts_of(
                read_origin, origin, [span], file_hash=page["file_hash"], scheme=self._scheme
            )
            samples[unit, value] = Sample(page["url"], origin, page["file_hash"], *span, text)


def _add(counts: ExactCounts, seen: Occurrences) -> None:
    kept = ~seen.skipped
    of = np.repeat(np.arange(len(seen.pages)), seen.hashes.counts)[kept]
    lengths = (seen.ends - seen.starts)[kept]
    counts.add(seen.hashes.values[kept], seen.pages[of], seen.sites[of], lengths)
