"""A label pack: one immutable file with a labeled dataset, shared by all processes of a machine.

L_f and L_c of Ardi, Heidemann 2014 (§3.1 step 3), pushed to every crawler (§3.6). The file is
mapped, not read: opening takes no longer for 75 million chunks than for ten, and its memory is the
machine's page cache, once for all workers. Never writes a pack; a pack that is replaced must be
replaced by renaming, since a mapped file that shrinks kills those who read it.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xxhash
from numpy.typing import NDArray

from reusewatch.detector.errors import BadPack, DamagedPack
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.format import ALIGNMENT, Directory, PackLabel, read_directory
from reusewatch.detector.labels.gram_filter import filter_of, filter_words
from reusewatch.detector.labels.hash_table import HashTable, bucket_count
from reusewatch.detector.labels.label_sets import members
from reusewatch.detector.labels.labeled_page import LabeledPage, Stood
from reusewatch.detector.labels.pairs import Pairs
from reusewatch.detector.labels.places import ABSENT
from reusewatch.detector.labels.stood import (
    NO_PAGE,
    NOWHERE,
    PLACE,
    SHORT_PLACE,
    PackPages,
    lengthened,
    nowhere,
)

Kind = Literal["files", "chunks", "grams"]
KINDS: tuple[Kind, ...] = ("files", "chunks", "grams")
_BLOCK = 1 << 24
_EMPTY = HashTable.of(np.empty(0, np.uint64))
NO_PAGES = PackPages(np.empty(0, np.uint8), np.empty(0, np.uint64), np.empty(0, np.uint32))


@dataclass(frozen=True, slots=True, eq=False)
class LabeledHashes:
    """L_f or L_c, or grams: a table of hashes, which set of labels each stands under, and where it
    stood, if that was kept."""

    table: HashTable
    sets: NDArray[Any]
    places: NDArray[np.void] | None = None

    def __len__(self) -> int:
        return len(self.table)

    def find(self, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The number of each hash's set of labels; `ABSENT` where it is in none."""
        places = self.table.find(hashes)
        hits = np.flatnonzero(places != ABSENT)
        places[hits] = self.sets[places[hits]]
        return places

    def stood(self, hashes: NDArray[np.uint64]) -> NDArray[np.void]:
        """Where each hash stood; `NOWHERE` where that is not known."""
        found = nowhere(len(hashes))
        if self.places is not None:
            at = self.table.find(hashes)
            hits = np.flatnonzero(at != ABSENT)
            found[hits] = lengthened(self.places[at[hits]])
        return found


@dataclass(frozen=True, slots=True, eq=False)
class LabelPack:
    """An open pack. `scheme` is the name of the hash scheme that it was built under; `skipped` are
    sections that this version does not know, which are in no pack that is made of this one."""

    path: Path
    scheme: str
    version: str
    labels: tuple[PackLabel, ...]
    files: LabeledHashes
    chunks: LabeledHashes
    grams: LabeledHashes
    sets: NDArray[np.uint32]
    pages: PackPages
    # What every gram of the pack passes, and few others.
    gram_filter: NDArray[np.uint64]
    skipped: tuple[str, ...] = ()

    def of(self, kind: Kind) -> LabeledHashes:
        """L_f or L_c, or the grams."""
        return {"files": self.files, "chunks": self.chunks, "grams": self.grams}[kind]

    def find(self, kind: Kind, hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The number of each hash's set of labels; `ABSENT` where it is not in the pack."""
        found = self.of(kind).find(hashes)
        # A forged number would be taken for a set of another pack, or of none.
        if found.size and int(found.max()) >= len(self.sets):
            raise DamagedPack(str(self.path), f"{kind} name sets of labels that are not there")
        return found

    def labels_of(self, number: int) -> tuple[str, ...]:
        """The names in a set of labels."""
        try:
            return tuple(self.labels[label].name for label in members(self.sets, number))
        except (ValueError, IndexError) as error:
            raise DamagedPack(str(self.path), str(error)) from error

    def stood(self, kind: Kind, hashes: NDArray[np.uint64]) -> NDArray[np.void]:
        """Where each hash stood; `NOWHERE` where that is not known, or it is not in the pack."""
        found = self.of(kind).stood(hashes)
        known = found["page"] != NO_PAGE
        if known.any() and int(found["page"][known].max()) >= len(self.pages):
            raise DamagedPack(str(self.path), f"{kind} stood on pages that are not there")
        return found

    def page(self, number: int) -> tuple[LabeledPage, str]:
        """A labeled page, and the label that it came under."""
        try:
            return self.pages.page(number), self.labels[int(self.pages.labels[number])].name
        except (ValueError, IndexError) as error:
            raise DamagedPack(str(self.path), str(error)) from error

    def stood_at(self, kind: Kind, hashes: NDArray[np.uint64]) -> list[Stood | None]:
        """The same for people, of few hashes."""
        return [
            None if number == NO_PAGE else Stood(*self.page(number), start, start + length)
            for number, start, length in self.stood(kind, hashes).tolist()
        ]

    def source(self, kind: Kind) -> PackSource:
        """L_f or L_c, or the grams, as sorted pairs, to merge or compare."""
        return PackSource(self, kind)


class PackSource:
    """The pairs of hash and label of a pack, in order, read in pieces."""

    def __init__(self, pack: LabelPack, kind: Kind) -> None:
        self._hashes = pack.of(kind)
        self._pages = pack.pages
        self._members = lru_cache(maxsize=1 << 16)(lambda number: members(pack.sets, number))

    def __len__(self) -> int:
        return len(self._hashes)

    def read(self, start: int, count: int) -> Pairs:
        """The pairs of these rows."""
        hashes = self._hashes.table.hashes[start : start + count]
        distinct, which = np.unique(self._hashes.sets[start : start + count], return_inverse=True)
        groups = [self._members(number) for number in distinct.tolist()]
        sizes = np.array([len(group) for group in groups], np.int64)[which]
        flat = np.array([label for group in groups for label in group], np.uint32)
        begins = np.cumsum([0, *(len(group) for group in groups)])[:-1][which]
        steps = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        labels = flat[np.repeat(begins, sizes) + steps]
        return Pairs(np.repeat(hashes, sizes), labels, self._places(start, count, sizes, labels))

    def _places(
        self, start: int, count: int, sizes: NDArray[np.int64], labels: NDArray[np.uint32]
    ) -> NDArray[np.void] | None:
        """Where each pair stood: a place is that of the label whose page it is on, and of no other,
        since a label that is left out takes its pages with it."""
        if self._hashes.places is None:
            return None
        found = np.repeat(lengthened(self._hashes.places[start : start + count]), sizes)
        known = np.flatnonzero(found["page"] < len(self._pages))
        theirs = np.full(len(found), -1, np.int64)
        theirs[known] = self._pages.labels[found["page"][known]]
        found[theirs != labels] = NOWHERE
        return found


def open_pack(path: Path, scheme: HashScheme | None) -> LabelPack:
    """Map a pack. Another scheme is refused; without one, the pack is only looked at."""
    data = _mapped(path)
    directory = read_directory(data, str(path))
    if scheme is not None:
        scheme.require(directory.scheme, f"label pack {path}")
    return _pack(path, data, directory)


def _mapped(path: Path) -> mmap.mmap | bytes:
    with path.open("rb") as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # nothing can be mapped of an empty file
            return b""


def _pack(path: Path, data: mmap.mmap | bytes, directory: Directory) -> LabelPack:
    def array(name: str, kind: str, count: int) -> NDArray[Any]:
        return _array(data, directory, name, np.dtype(kind), count)

    def labeled(kind: Kind) -> LabeledHashes:
        count = directory.counts[kind]
        hashes = array(f"{kind}.hashes", "<u8", count)
        buckets = array(f"{kind}.buckets", "<u4", bucket_count(count))
        sets = array(f"{kind}.sets", f"<u{directory.width}", count)
        places = None
        if directory.known(f"{kind}.places"):
            stored = SHORT_PLACE if kind == "grams" else PLACE
            places = _array(data, directory, f"{kind}.places", stored, count)
        return LabeledHashes(HashTable(hashes, buckets), sets, places)

    def labeled_grams() -> tuple[LabeledHashes, NDArray[np.uint64]]:
        """Sections that a pack may be without, and be a pack."""
        if directory.known("grams.hashes") is None:
            return LabeledHashes(_EMPTY, np.empty(0, np.uint8)), filter_of(_EMPTY.hashes)
        words = filter_words(directory.counts["grams"])
        return labeled("grams"), array("grams.filter", "<u8", words)

    def labeled_pages() -> PackPages:
        if directory.known("pages.rows") is None:
            return NO_PAGES
        count = directory.counts["pages"]
        rows = array("pages.rows", "u1", directory.sections["pages.rows"].size)
        ends, labels = array("pages.ends", "<u8", count), array("pages.labels", "<u4", count)
        return PackPages(rows, ends, labels)

    try:
        rows = array("sets", "<u4", directory.sections["sets"].size // 4).reshape(-1, 2)
        files, chunks = labeled("files"), labeled("chunks")
        grams, passed = labeled_grams()
        return LabelPack(path, directory.scheme, directory.version, directory.labels, files, chunks,
                         grams, rows, labeled_pages(), passed, directory.skipped())  # fmt: skip
    except (KeyError, ValueError) as error:
        raise DamagedPack(str(path), f"its directory contradicts itself ({error})") from error


def _array(
    data: mmap.mmap | bytes, directory: Directory, name: str, kind: np.dtype[Any], count: int
) -> NDArray[Any]:
    section = directory.known(name)
    if section is None:
        raise ValueError(f"section {name} is missing")
    if section.size != count * kind.itemsize or section.offset % ALIGNMENT:
        raise ValueError(f"section {name}")
    return np.frombuffer(data, kind, count, section.offset)


def verify(path: Path, progress: Callable[[int, int], None] | None = None) -> tuple[str, ...]:
    """Read a pack from end to end: what is damaged, in words; nothing if it is sound.

    `progress` is told how many bytes were read, and of how many.
    """
    try:
        data = _mapped(path)
        directory = read_directory(data, str(path))
        pack = _pack(path, data, directory)
    except BadPack as error:
        return (str(error),)
    damaged = [*_damaged(data, directory, progress)]
    return tuple(damaged) or tuple(_contradictions(pack))


def _damaged(
    data: mmap.mmap | bytes, directory: Directory, progress: Callable[[int, int], None] | None
) -> Iterator[str]:
    at = ALIGNMENT
    for name, section in sorted(directory.sections.items(), key=lambda item: item[1].offset):
        if section.offset != at:
            yield f"section {name} is not where the one before it ends"
        at = section.offset + section.padded
        running = xxhash.xxh3_128()
        for start in range(section.offset, at, _BLOCK):
            running.update(data[start : min(start + _BLOCK, at)])
            if progress is not None:
                progress(min(start + _BLOCK, at), len(data))
        if running.hexdigest() != section.checksum:
            yield f"section {name} (bytes {section.offset} to {at}) does not match its checksum"


def _contradictions(pack: LabelPack) -> Iterator[str]:
    """What no checksum finds: a pack that was forged, or written by a program that errs."""
    for kind in KINDS:
        hashes, sets = pack.of(kind).table.hashes, pack.of(kind).sets
        for start in range(0, len(hashes), _BLOCK):
            piece = hashes[start : start + _BLOCK + 1]
            if np.any(piece[1:] <= piece[:-1]):
                yield f"the hashes of {kind} are not in order"
                break
        if not np.array_equal(HashTable.of(hashes).buckets, pack.of(kind).table.buckets):
            yield f"the bucket index of {kind} does not fit its hashes"
        if len(sets) and int(sets.max()) >= len(pack.sets):
            yield f"{kind} name sets of labels that are not there"
        places = pack.of(kind).places
        if places is not None and np.any(
            (places["page"] >= len(pack.pages)) & (places["page"] != NO_PAGE)
        ):
            yield f"{kind} stood on pages that are not there"
    if not np.array_equal(filter_of(pack.grams.table.hashes), pack.gram_filter):
        yield "the filter of grams does not fit them"
    try:
        for number in range(len(pack.pages)):
            pack.page(number)
        for number in range(len(pack.sets)):
            pack.labels_of(number)
    except DamagedPack as error:
        yield error.detail
