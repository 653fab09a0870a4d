"""The file format of label packs: what is said once, at the front and at the end.

    prelude     64 bytes: magic, format, where the directory is, checksums, length of the file
    sections    arrays, little-endian, each begun at a multiple of 64 bytes, padded with zeros
    directory   JSON: scheme, version, labels, and of each section its place, size, checksum,
                version and whether it is needed

What a pack holds grows by sections, and the format stays: a reader skips a section whose name, or
whose version, it does not know (`Directory.known`), unless the section is `needed` to understand
the others, or the pack at all: then the pack is refused, and an update asked for. Fields that the
directory, or a label in it, has beyond those that are known are skipped as well. So something new
comes as a section with a name of its own in `SECTIONS`, not needed where the rest is right without
it; and a section that is written in another way gets the next version. These are there:

    files.hashes   chunks.hashes    L_f and L_c: distinct 64-bit hashes, rising
    files.buckets  chunks.buckets   where in them each range of hashes begins: `hash_table`
    files.sets     chunks.sets      the number of each hash's set of labels, `width` bytes
    sets                            the sets: parent and label of each: `label_sets`
    grams.hashes   grams.buckets    the same of grams, runs of five words: `gram_filter`
    grams.sets     grams.filter
    files.places   chunks.places    where each hash stood: page, first byte and length: `stood`
    grams.places
    pages.rows     pages.ends       those pages, a row of bytes each, and where it ends
    pages.labels                    the label that each page came under

The prelude is written last, so that a pack cut short has none. The checksums of the prelude and of
the directory are compared at every opening, those of the sections by `verify`, whether they are
known or not: reading a gigabyte would be no opening in a tenth of a second. Neither maps nor
interprets the sections.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, Literal

import msgspec
import xxhash

from reusewatch.detector.errors import BadPack, DamagedPack, NewerPack, OlderPack

FORMAT = 2
MAGIC = b"rwlabels"
ALIGNMENT = 64
MOST_LABELS = 10_000
_LONGEST_NAME = 200
_LONGEST_TEXT = 10_000
MOST_HOMES = 1000
_MOST_DIRECTORY = 1 << 28
_PRELUDE = struct.Struct("<8sIIQQQ16s")  # magic, format, 0, file, directory at, its length and sum

# The sections that this version knows, and the version of each that it reads and writes.
SECTIONS: Mapping[str, int] = {
    "files.hashes": 1,
    "files.buckets": 1,
    "files.sets": 1,
    "chunks.hashes": 1,
    "chunks.buckets": 1,
    "chunks.sets": 1,
    "sets": 1,
    "grams.hashes": 1,
    "grams.buckets": 1,
    "grams.sets": 1,
    "grams.filter": 1,
    "grams.places": 1,
    "files.places": 1,
    "chunks.places": 1,
    "pages.rows": 1,
    "pages.ends": 1,
    "pages.labels": 1,
}
# Without these a pack says nothing.
NEEDED = frozenset(
    name for name in SECTIONS if name == "sets" or name.partition(".")[0] in ("files", "chunks")
) - {"files.places", "chunks.places"}

# Characters that a chunk has more of, if nothing else is said (Ardi, Heidemann 2014, §5.1).
SHORTEST = 100
Severity = Literal["info", "warning", "critical"]


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """How a label was built, so that it can be built again under another hash scheme: its sources
    as they were named, or that it is of what was crawled, and what was chosen of them."""

    sources: tuple[str, ...] = ()
    unit: Literal["text", "raw"] = "text"
    urls: tuple[str, ...] | None = None
    from_bus: bool = False
    site: str | None = None
    under: str | None = None
    gram_share: float = 1.0


class PackLabel(msgspec.Struct, frozen=True, kw_only=True):
    """A name under which hashes stand in L, and how many do; chunks of more characters than
    `longer_than`, so that it is known which chunks of a page could match at all; of the grams of
    its pages the share that was kept, chosen by value, 0 where none was."""

    name: str
    source: str = ""
    note: str = ""
    severity: Severity = "warning"
    # Where the content is at home: domains, hosts or beginnings of URLs, whose pages this label,
    # and no other one, leaves alone.
    homes: tuple[str, ...] = ()
    files: int = 0
    chunks: int = 0
    longer_than: int = SHORTEST
    grams: int = 0
    gram_share: float = 0.0
    built: Built | None = None

    def __post_init__(self) -> None:
        check_name(self.name)
        if not 0 <= self.gram_share <= 1:
            raise ValueError(f"a share of the grams is from 0 to 1, not {self.gram_share}")
        if len(self.homes) > MOST_HOMES:
            raise ValueError(f"a label has up to {MOST_HOMES} homes, not {len(self.homes)}")
        for home in self.homes:
            if not home.isprintable() or not 1 <= len(home) <= _LONGEST_NAME:
                raise ValueError(
                    f"a home has 1 to {_LONGEST_NAME} printable characters: {home[:50]!r}"
                )
        for text in (self.source, self.note):
            # What is not printable might not be encodable, and would fail a build at its end.
            if not text.isprintable() or len(text) > _LONGEST_TEXT:
                raise ValueError(
                    f"source and note of a label have up to {_LONGEST_TEXT} printable characters"
                )


def check_name(name: str) -> None:
    """Refuse what cannot name a label: names are shown in terminals, and kept in lists."""
    if not name.isprintable() or not 1 <= len(name) <= _LONGEST_NAME:
        raise ValueError(
            f"a label's name has 1 to {_LONGEST_NAME} printable characters: {name[:50]!r}"
        )


class Section(msgspec.Struct, frozen=True):
    """Where an array stands: its padding belongs to it, so that no byte is without a checksum.

    `needed`: who does not know this version of it must refuse the pack, and not skip the section.
    """

    offset: int
    size: int
    checksum: str
    version: int
    needed: bool

    @property
    def padded(self) -> int:
        """Bytes up to the next section."""
        return self.size + -self.size % ALIGNMENT


class Directory(msgspec.Struct, frozen=True, kw_only=True):
    """What a pack says of itself; `counts` are distinct hashes, and pages; `width` bytes of a set
    number. What is not in `counts` is not in the pack."""

    scheme: str
    version: str
    labels: tuple[PackLabel, ...]
    counts: dict[str, int]
    width: Literal[1, 2, 4]
    sections: dict[str, Section]

    def known(self, name: str) -> Section | None:
        """A section, if it is there in the version that is read here."""
        found = self.sections.get(name)
        return found if found is not None and found.version == SECTIONS.get(name) else None

    def skipped(self) -> tuple[str, ...]:
        """The sections that are not known here."""
        return tuple(sorted(name for name in self.sections if self.known(name) is None))


def write_directory(file: BinaryIO, directory: Directory) -> None:
    """Finish a pack: the directory behind the sections, then the prelude at the front."""
    data = msgspec.json.encode(directory)
    at = file.tell()
    file.write(data)
    checksum = xxhash.xxh3_128_digest(data)
    prelude = _PRELUDE.pack(MAGIC, FORMAT, 0, at + len(data), at, len(data), checksum)
    file.seek(0)
    file.write(prelude + xxhash.xxh3_64_digest(prelude))


def read_directory(data: Any, where: str) -> Directory:
    """What a mapped pack says of itself; `where` names it in errors."""
    at, length, checksum = _read_prelude(data, where)
    found = bytes(data[at : at + length])
    if xxhash.xxh3_128_digest(found) != checksum:
        raise DamagedPack(where, "its directory does not match its checksum")
    try:
        directory = msgspec.json.decode(found, type=Directory)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DamagedPack(where, f"its directory cannot be read ({error})") from error
    if len(directory.labels) > MOST_LABELS:
        raise DamagedPack(where, f"{len(directory.labels)} labels; the limit is {MOST_LABELS}")
    for name in directory.skipped():
        if directory.sections[name].needed:
            told = f"section {name[:_LONGEST_NAME]!r}/{directory.sections[name].version}"
            raise NewerPack(where, told)
    return directory


def _read_prelude(data: Any, where: str) -> tuple[int, int, bytes]:
    size = _PRELUDE.size
    if data[:8] != MAGIC:
        raise BadPack(f"{where} is no label pack: build one with `labels build`")
    if len(data) < ALIGNMENT:
        raise DamagedPack(where, f"it ends after {len(data)} bytes")
    _, version, zero, total, at, length, checksum = _PRELUDE.unpack(data[:size])
    if version > FORMAT:
        raise NewerPack(where, f"format {version}")
    if version < FORMAT:
        raise OlderPack(where, version, FORMAT)
    if xxhash.xxh3_64_digest(bytes(data[:size])) != data[size:ALIGNMENT] or zero:
        raise DamagedPack(where, "its first 64 bytes do not match their checksum")
    if total != len(data):
        raise DamagedPack(where, f"it has {len(data)} bytes and should have {total}")
    if at + length != total or length > _MOST_DIRECTORY:
        raise DamagedPack(where, "its directory is not at its end")
    return at, length, checksum
