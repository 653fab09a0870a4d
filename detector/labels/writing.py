"""Writing a label pack from sorted pairs: one pass, whatever its size.

No reader ever sees half a pack (the format is in `format`). Never sorts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from reusewatch.detector.labels.format import (
    ALIGNMENT,
    MOST_LABELS,
    NEEDED,
    SECTIONS,
    Directory,
    PackLabel,
    Section,
    write_directory,
)
from reusewatch.detector.labels.gram_filter import filter_of
from reusewatch.detector.labels.hash_table import bucket_index
from reusewatch.detector.labels.label_sets import LabelSets, members
from reusewatch.detector.labels.pack import KINDS, Kind
from reusewatch.detector.labels.pairs import Pairs
from reusewatch.detector.labels.replacing import replacing
from reusewatch.detector.labels.stood import NO_PAGE, PLACE, PageSpool, shortened

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Written:
    """A pack that was written, and what is in it: distinct hashes of each kind, and pages; and the
    bytes of its sections."""

    path: Path
    version: str
    labels: tuple[PackLabel, ...]
    files: int
    chunks: int
    grams: int
    pages: int
    sizes: Mapping[str, int]


class _Sections:
    """Sections of a file that is being written, each with its place and checksum."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.done: dict[str, Section] = {}
        file.write(bytes(ALIGNMENT))

    def write(self, name: str, pieces: Iterator[NDArray[Any]]) -> Section:
        """Write a section piece by piece."""
        offset, size, running = self._file.tell(), 0, xxhash.xxh3_128()
        for piece in pieces:
            data = np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data
            self._file.write(data)
            running.update(data)
            size += len(data)
        padding = bytes(-size % ALIGNMENT)
        self._file.write(padding)
        running.update(padding)
        self._file.flush()
        self.done[name] = section = Section(
            offset, size, running.hexdigest(), SECTIONS[name], name in NEEDED
        )
        return section


class _Writer:
    """One pack on its way to disk."""

    def __init__(
        self, file: BinaryIO, partial: Path, spool: Path, labels: int, *, placed: bool
    ) -> None:
        self._sections = _Sections(file)
        self._partial = partial
        self._spool = spool
        self._placed = placed
        self._sets = LabelSets(labels)
        self.counts: dict[str, int] = {}

    def hashes(self, kind: Kind, pieces: Iterator[Pairs]) -> None:
        """Write the hashes and the index of one kind, and where they stood; set numbers wait until
        all are known."""
        with self._spool_of(kind).open("wb") as sets, self._places_of(kind).open("wb") as places:
            section = self._sections.write(f"{kind}.hashes", self._split(pieces, sets, places))
        count = self.counts[kind] = section.size // 8
        hashes = _column(self._partial, section.offset, np.dtype(np.uint64), count)
        self._sections.write(f"{kind}.buckets", iter([bucket_index(hashes)]))
        if kind == "grams":
            self._sections.write("grams.filter", iter([filter_of(hashes)]))
        if self._placed:
            stood = _column(self._places_of(kind), 0, PLACE, count)
            self._sections.write(f"{kind}.places", _stored(kind, stood))
        self._places_of(kind).unlink()

    def _split(
        self, pieces: Iterator[Pairs], sets: BinaryIO, places: BinaryIO
    ) -> Iterator[NDArray[np.uint64]]:
        for piece in pieces:
            starts = np.flatnonzero(np.append(True, piece.hashes[1:] != piece.hashes[:-1]))
            sets.write(self._sets.unions(piece.labels, starts).data)
            if self._placed:
                places.write(_first_places(piece, starts).tobytes())
            yield piece.hashes[starts]

    def pages(self, spool: PageSpool) -> None:
        """Write the pages that places are on."""
        self.counts["pages"] = len(spool)
        self._sections.write("pages.rows", spool.rows())
        self._sections.write("pages.ends", iter([spool.ends()]))
        self._sections.write("pages.labels", iter([spool.labels()]))

    def finish(self, labels: Sequence[PackLabel]) -> tuple[tuple[PackLabel, ...], int]:
        """Write set numbers and sets; the labels with their counts, and the width of a number."""
        rows = self._sets.rows()
        width = 1 if len(rows) <= 1 << 8 else 2 if len(rows) <= 1 << 16 else 4
        found = {kind: np.zeros(len(rows), np.int64) for kind in KINDS}
        for kind in self._kinds():
            self._sections.write(f"{kind}.sets", self._numbers(kind, width, found[kind]))
        self._sections.write("sets", iter([rows.reshape(-1)]))
        counts = {kind: _per_label(rows, found[kind], len(labels)) for kind in KINDS}
        counted = (
            msgspec.structs.replace(label, **{kind: counts[kind][at] for kind in KINDS})
            for at, label in enumerate(labels)
        )
        return tuple(counted), width

    def _numbers(self, kind: Kind, width: int, found: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
        numbers = _column(self._spool_of(kind), 0, np.dtype(np.uint32), self.counts[kind])
        for start in range(0, len(numbers), _BLOCK):
            piece = numbers[start : start + _BLOCK]
            found += np.bincount(piece, minlength=len(found))
            yield piece.astype(f"<u{width}")

    def directory(self, scheme: str, version: str | None, labels: Sequence[PackLabel]) -> Directory:
        """What the pack says of itself; without a version, its content names it."""
        counted, width = self.finish(labels)
        sections = self._sections.done
        if version is None:
            content = msgspec.json.encode((scheme, counted, sections))
            version = xxhash.xxh3_64_hexdigest(content)
        return Directory(scheme=scheme, version=version, labels=counted, counts=self.counts,
                         width=width, sections=sections)  # type: ignore[arg-type]  # fmt: skip

    def _kinds(self) -> list[Kind]:
        return [kind for kind in KINDS if kind in self.counts]

    def _spool_of(self, kind: Kind) -> Path:
        return self._spool.with_name(f"{self._spool.name}.{kind}")

    def _places_of(self, kind: Kind) -> Path:
        return self._spool.with_name(f"{self._spool.name}.{kind}.places")

    def clean(self) -> None:
        """Take the waiting set numbers away."""
        for kind in KINDS:
            self._spool_of(kind).unlink(missing_ok=True)
            self._places_of(kind).unlink(missing_ok=True)


def write_pack(
    path: Path,
    *,
    scheme: str,
    labels: Sequence[PackLabel],
    pairs: Mapping[Kind, Iterator[Pairs]],
    pages: PageSpool | None = None,
    version: str | None = None,
    spool: Path | None = None,
    written: Callable[[Kind, int], None] | None = None,
) -> Written:
    """Write a pack of sorted pairs; their labels are places in `labels`. With `pages` it says where
    its hashes stood. A kind that `pairs` is without is not in it.

    `spool` is a directory for 4 bytes a hash while the pack is written: where the pack goes, unless
    said otherwise. `written` is told how many pairs of a kind were read so far.
    """
    check_labels(labels)
    with replacing(path) as file:
        partial = Path(file.name)
        waiting = (spool or path.parent) / partial.name
        writer = _Writer(file, partial, waiting, len(labels), placed=pages is not None)
        try:
            for kind in KINDS:
                if kind in pairs:
                    writer.hashes(kind, _told(pairs[kind], kind, written))
            if pages is not None:
                writer.pages(pages)
            directory = writer.directory(scheme, version, labels)
        finally:
            writer.clean()
        write_directory(file, directory)
    counts = directory.counts
    return Written(
        path, directory.version, directory.labels, counts["files"], counts["chunks"],
        counts.get("grams", 0), counts.get("pages", 0),
        {name: section.size for name, section in directory.sections.items()},
    )  # fmt: skip


def check_labels(labels: Sequence[PackLabel]) -> None:
    """Refuse names that occur twice, and more labels than a pack may have."""
    if len({label.name for label in labels}) != len(labels):
        raise ValueError("two labels of a pack have the same name")
    if len(labels) > MOST_LABELS:
        raise ValueError(f"{len(labels)} labels; a pack has {MOST_LABELS} at most")


def _told(
    pieces: Iterator[Pairs], kind: Kind, written: Callable[[Kind, int], None] | None
) -> Iterator[Pairs]:
    count = 0
    for piece in pieces:
        yield piece
        count += len(piece)
        if written is not None:
            written(kind, count)


def _first_places(piece: Pairs, starts: NDArray[np.int64]) -> NDArray[np.void]:
    """Of each run of pairs the first place that is known."""
    stood = piece.placed()
    rows = np.arange(len(stood))
    rows[stood["page"] == NO_PAGE] += len(stood)  # behind all that are known
    firsts: NDArray[np.void] = stood[np.minimum.reduceat(rows, starts) % len(stood)]
    return firsts


def _stored(kind: Kind, stood: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    for start in range(0, len(stood), _BLOCK):
        piece = stood[start : start + _BLOCK]
        yield shortened(piece) if kind == "grams" else piece


def _per_label(rows: NDArray[np.uint32], found: NDArray[np.int64], labels: int) -> list[int]:
    counts = [0] * labels
    for number, times in enumerate(found.tolist()):
        for label in members(rows, number) if times else ():
            counts[label] += times
    return counts


def _column(path: Path, offset: int, kind: np.dtype[Any], count: int) -> NDArray[Any]:
    if not count:  # nothing can be mapped of nothing
        return np.empty(0, kind)
    return np.asarray(np.memmap(path, kind, "r", offset, (count,)))
