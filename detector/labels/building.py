"""Building a labeled dataset from what an expert knows (Ardi, Heidemann 2014, §3.2 informed, §7).

Takes chunks and files as they come, in any order and any number: what does not fit in memory is
sorted in runs, spilled, and merged into the pack. By default only chunks over 100 characters are
kept, as the paper did with Wikipedia: a short one is seldom anybody's own. Reads no sources.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.format import Label
from reusewatch.detector.labels.pack import KINDS, Kind, LabelPack
from reusewatch.detector.labels.pairs import Pairs, Run, Source, merged, sorted_pairs, spill
from reusewatch.detector.labels.writing import Written, check_labels, write_pack
from reusewatch.detector.sketching.chunks import Chunks

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


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a build is: what it was given, then how many distinct pairs it has written."""

    added: int
    merged: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What went into a pack. `short` and `stopped` were left out; `repeated` came again."""

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

    def add(self, hashes: NDArray[np.uint64], label: int) -> None:
        """Take hashes of one label."""
        if not len(hashes):
            return
        self._parts.append(Pairs(hashes, np.full(len(hashes), label, np.uint32)))
        self._waiting += len(hashes)
        if self._waiting >= self._limit:
            self._spill()

    def _spill(self) -> None:
        pairs = sorted_pairs(Pairs.joined(self._parts))
        self._parts, self._waiting = [], 0
        path = self._stem.with_name(f"{self._stem.name}.{len(self._runs)}")
        # Listed before it is written: a run that the disk was too full for is taken away too.
        self._runs.append(Run(path, len(pairs)))
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
    """A labeled dataset in the making; `directory` is where runs are spilled, ours alone."""

    def __init__(
        self,
        directory: Path,
        scheme: HashScheme,
        *,
        min_length: int = MIN_LENGTH,
        stops: Stops | None = None,
        run_pairs: int = RUN_PAIRS,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self._scheme = scheme
        self._min_length = min_length
        self._stops = stops
        self._progress = progress
        self._labels: list[Label] = []
        self._runs = {kind: _Runs(directory / f"run.{kind}", run_pairs) for kind in KINDS}
        self._directory = directory
        self._taken = dict.fromkeys(KINDS, 0)
        self._merged = dict.fromkeys(KINDS, 0)
        self._short = self._stopped = 0

    def label(self, label: Label) -> int:
        """A name to add content under; the number stands for it."""
        check_labels([*self._labels, label])
        self._labels.append(label)
        return len(self._labels) - 1

    def add_chunks(self, label: int, chunks: Chunks) -> None:
        """Put chunks of any number of pages into L_c, but for short ones and stop chunks."""
        hashes = chunks.hashes.values
        long = chunks.lengths > self._min_length
        kept = hashes[long]
        stopped = self._stopped_of("chunks", kept)
        self._short += len(hashes) - len(kept)
        self._add("chunks", label, kept, stopped, len(hashes))

    def add_files(self, label: int, hashes: NDArray[np.uint64]) -> None:
        """Put files into L_f, but for stop files."""
        stopped = (hashes == NO_FILE) | self._stopped_of("files", hashes)
        self._add("files", label, hashes, stopped, len(hashes))

    def add_pack(self, label: int, pack: LabelPack) -> None:
        """Put all that a pack holds under this label, but for stop chunks and stop files."""
        self._scheme.require(pack.scheme, f"label pack {pack.path}")
        for kind in KINDS:
            hashes = pack.of(kind).table.hashes
            for start in range(0, len(hashes), _PACK_BLOCK):
                piece = np.array(hashes[start : start + _PACK_BLOCK])
                stopped = self._stopped_of(kind, piece)
                self._add(kind, label, piece, stopped, len(piece))

    def _stopped_of(self, kind: Kind, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if self._stops is None:
            return np.zeros(len(hashes), np.bool_)
        has = self._stops.has_files if kind == "files" else self._stops.has_chunks
        return has(hashes)

    def _add(
        self, kind: Kind, label: int, hashes: NDArray[np.uint64], stopped: NDArray[np.bool_], n: int
    ) -> None:
        if not 0 <= label < len(self._labels):
            raise ValueError(f"there is no label {label}")
        self._stopped += int(stopped.sum())
        self._taken[kind] += n
        self._runs[kind].add(hashes[~stopped], label)
        self._tell()

    def _tell(self) -> None:
        if self._progress is not None:
            self._progress(Progress(sum(self._taken.values()), sum(self._merged.values())))

    def _told(self, kind: Kind, pairs: int) -> None:
        self._merged[kind] = pairs
        self._tell()

    def build(self, path: Path, *, version: str | None = None) -> BuildReport:
        """Write the pack. Without a version, its content names it."""
        pairs = {kind: merged(self._runs[kind].sources()) for kind in KINDS}
        pack = write_pack(path, scheme=self._scheme.name, labels=self._labels, pairs=pairs,
                          version=version, spool=self._directory, written=self._told)  # fmt: skip
        files, chunks = self._taken["files"], self._taken["chunks"]
        kept = sum(label.files + label.chunks for label in pack.labels)
        repeated = files + chunks - self._short - self._stopped - kept
        return BuildReport(pack, files, chunks, self._short, self._stopped, repeated)

    def close(self) -> None:
        """Take what was spilled away."""
        for runs in self._runs.values():
            runs.clean()
