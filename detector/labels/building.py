"""Building a labeled dataset from what an expert knows (Ardi, Heidemann 2014, §3.2 informed, §7).

Takes chunks and files as they come, in any order and any number: what does not fit in memory is
sorted in runs, spilled, and merged into the pack. By default only chunks over 100 characters are
kept, as the paper did with Wikipedia: a short one is seldom anybody's own. Reads no sources.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.format import PackLabel
from reusewatch.detector.labels.labeled_page import LabeledPage
from reusewatch.detector.labels.pack import KINDS, Kind, LabelPack
from reusewatch.detector.labels.pairs import Pairs, Run, Source, merged, sorted_pairs, spill
from reusewatch.detector.labels.stood import NO_PAGE, PageSpool, lengthened
from reusewatch.detector.labels.writing import Written, check_labels, write_pack
from reusewatch.detector.sketching.chunks import Chunks
from reusewatch.detector.sketching.grams import in_sample

MIN_LENGTH = 100
RUN_PAIRS = 1 << 23
_PACK_BLOCK = 1 << 20
NO_FILE = 0
"""Hash of a file without bytes, which is nobody's."""


class Stops(Protocol):
    """What is too common to be labeled: see `stop_chunks`."""

    def has_chunks(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of these are stop chunks."""
        ...

    def has_files(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of these are stop files."""
        ...

    def has_grams(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Which of these are grams of stop chunks."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is: what it was given, then how many distinct pairs it has written."""

    added: int
    merged: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What went into a pack. `short` and `stopped` were left out; `repeated` came again. Grams are
    counted apart, in `pack`."""

    pack: Written
    files: int
    chunks: int
    short: int
    stopped: int
    repeated: int


class _Runs:
    """Pairs of one kind: the ones in memory, and the runs on disk."""

    def __init__(self, stem: Path, limit: int) -> None:
        self._stem = stem
        self._limit = limit
        self._parts: list[Pairs] = []
        self._waiting = 0
        self._runs: list[Run] = []

    def add(self, hashes: NDArray[np.uint64], label: int, places: NDArray[np.void] | None) -> None:
        """Take hashes of one label, and where they stood."""
        if not len(hashes):
            return
        self._parts.append(Pairs(hashes, np.full(len(hashes), label, np.uint32), places))
        self._waiting += len(hashes)
        if self._waiting >= self._limit:
            self._spill()

    def _spill(self) -> None:
        pairs = sorted_pairs(Pairs.joined(self._parts))
        self._parts, self._waiting = [], 0
        path = self._stem.with_name(f"{self._stem.name}.{len(self._runs)}")
        # Listed before it is written: a run that the disk was too full for is taken away too.
        self._runs.append(Run(path, len(pairs), pairs.places is not None))
        spill(pairs, path)

    def sources(self) -> list[Source]:
        """All pairs as sorted runs."""
        if self._waiting:
            self._spill()
        return [*self._runs]

    def clean(self) -> None:
        """Take the runs away."""
        for run in self._runs:
            run.path.unlink(missing_ok=True)
        self._runs = []


class LabelBuilder:
    """A labeled dataset in the making; `directory` is where runs are spilled, ours alone.

    Without `places` the pack says of no hash where it stood, and names no page.
    """

    def __init__(
        self,
        directory: Path,
        scheme: HashScheme,
        *,
        min_length: int = MIN_LENGTH,
        stops: Stops | None = None,
        places: bool = False,
        run_pairs: int = RUN_PAIRS,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._scheme = scheme
        self._min_length = min_length
        self._stops = stops
        self._progress = progress
        self._labels: list[PackLabel] = []
        self._runs = {kind: _Runs(directory / f"run.{kind}", run_pairs) for kind in KINDS}
        self._directory = directory
        self._pages = PageSpool(directory / "pages") if places else None
        self._taken = dict.fromkeys(KINDS, 0)
        self._merged = dict.fromkeys(KINDS, 0)
        self._short = self._stopped = 0

    def label(self, label: PackLabel) -> int:
        """A name to add content under; the number stands for it."""
        check_labels([*self._labels, label])
        self._labels.append(label)
        return len(self._labels) - 1

    def page(self, label: int, page: LabeledPage) -> int:
        """A page that content of this label stood on; the number stands for it in places."""
        self._check(label)
        return NO_PAGE if self._pages is None else self._pages.add(label, page)

    def add_chunks(
        self, label: int, chunks: Chunks, places: NDArray[np.void] | None = None
    ) -> NDArray[np.bool_]:
        """Put chunks of any number of pages into L_c, but for short ones and stop chunks; which of
        them were put there."""
        hashes = chunks.hashes.values
        long = chunks.lengths > self._min_length
        kept = hashes[long]
        stopped = self._stopped_of("chunks", kept)
        self._short += len(hashes) - len(kept)
        self._stopped += int(stopped.sum())
        stood = None if places is None else places[long]
        self._add("chunks", label, kept, ~stopped, len(hashes), stood)
        taken = long.copy()
        taken[long] = ~stopped
        return taken

    def add_files(
        self, label: int, hashes: NDArray[np.uint64], places: NDArray[np.void] | None = None
    ) -> None:
        """Put files into L_f, but for stop files."""
        stopped = (hashes == NO_FILE) | self._stopped_of("files", hashes)
        self._stopped += int(stopped.sum())
        self._add("files", label, hashes, ~stopped, len(hashes), places)

    def add_grams(
        self,
        label: int,
        hashes: NDArray[np.uint64],
        places: NDArray[np.void] | None = None,
        *,
        share: float,
    ) -> None:
        """Put grams under a label, but for those of stop chunks; of all that were given in its name
        the least `share` counts, by which they were chosen from those of their pages."""
        self._check(label)
        before = self._labels[label].gram_share
        least = min(before, share) if before else share
        self._labels[label] = msgspec.structs.replace(self._labels[label], gram_share=least)
        self._add("grams", label, hashes, ~self._stopped_of("grams", hashes), len(hashes), places)

    def add_pack(self, label: int, pack: LabelPack, *, gram_share: float = 1.0) -> None:
        """Put all that a pack holds under this label, but for stop chunks and stop files; of its
        grams at most this share."""
        self._scheme.require(pack.scheme, f"label pack {pack.path}")
        numbers = self._copied_pages(label, pack)
        for kind in KINDS:
            if kind == "grams" and not gram_share:
                continue
            found = pack.of(kind)
            for start in range(0, len(found), _PACK_BLOCK):
                piece = np.array(found.table.hashes[start : start + _PACK_BLOCK])
                kept = ~self._stopped_of(kind, piece)
                if kind == "grams":
                    kept &= in_sample(piece, gram_share)
                else:
                    self._stopped += int((~kept).sum())
                places = None
                if numbers is not None and found.places is not None:
                    places = lengthened(found.places[start : start + _PACK_BLOCK])
                    places["page"] = numbers[places["page"].clip(0, len(numbers) - 1)]
                self._add(kind, label, piece, kept, len(piece), places)
        self._share_of(label, pack, gram_share)

    def _share_of(self, label: int, pack: LabelPack, gram_share: float) -> None:
        shares = [x.gram_share for x in pack.labels if x.gram_share]
        mine = self._labels[label].gram_share
        if shares and gram_share:
            least = min([gram_share, *shares, *([mine] if mine else [])])
            self._labels[label] = msgspec.structs.replace(self._labels[label], gram_share=least)

    def _copied_pages(self, label: int, pack: LabelPack) -> NDArray[np.uint32] | None:
        """The numbers that a pack's pages have here, and last that of no page."""
        if self._pages is None or not len(pack.pages):
            return None
        here = np.full(len(pack.labels), label, np.uint32)
        numbers = self._pages.copy(pack.pages, here, dropped=NO_PAGE)
        return np.append(numbers, np.uint32(NO_PAGE))

    def _stopped_of(self, kind: Kind, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if self._stops is None:
            return np.zeros(len(hashes), np.bool_)
        stops = self._stops
        has = {"files": stops.has_files, "chunks": stops.has_chunks, "grams": stops.has_grams}
        return has[kind](hashes)

    def _check(self, label: int) -> None:
        if not 0 <= label < len(self._labels):
            raise ValueError(f"there is no label {label}")

    def _add(
        self,
        kind: Kind,
        label: int,
        hashes: NDArray[np.uint64],
        kept: NDArray[np.bool_],
        count: int,
        places: NDArray[np.void] | None,
    ) -> None:
        self._check(label)
        self._taken[kind] += count
        stood = places[kept] if places is not None and self._pages is not None else None
        self._runs[kind].add(hashes[kept], label, stood)
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(Progress(sum(self._taken.values()), sum(self._merged.values())))

    def _told(self, kind: Kind, pairs: int) -> None:
        self._merged[kind] = pairs
        self._tell()

    def build(self, path: Path, *, version: str | None = None) -> BuildReport:
        """Write the pack. Without a version, its content names it."""
        kinds: Sequence[Kind] = [kind for kind in KINDS if kind != "grams" or self._taken[kind]]
        pairs = {kind: merged(self._runs[kind].sources()) for kind in kinds}
        pack = write_pack(path, scheme=self._scheme.name, labels=self._labels, pairs=pairs,
                          pages=self._pages, version=version, spool=self._directory,
                          written=self._told)  # fmt: skip
        files, chunks = self._taken["files"], self._taken["chunks"]
        kept = sum(label.files + label.chunks for label in pack.labels)
        repeated = files + chunks - self._short - self._stopped - kept
        return BuildReport(pack, files, chunks, self._short, self._stopped, repeated)

    def close(self) -> None:
        """Take what was spilled away."""
        for runs in self._runs.values():
            runs.clean()
        if self._pages is not None:
            self._pages.close()
