"""The file format of label packs: what is said once, at the front and at the end.

    prelude     64 bytes: magic, format, where the directory is, checksums, length of the file
    sections    arrays, little-endian, each begun at a multiple of 64 bytes, padded with zeros
    directory   JSON: scheme, version, labels, and each section's place, size and checksum

The prelude is written last, so that a pack cut short has none. The checksums of the prelude and of
the directory are compared at every opening, those of the sections by `verify`: reading a gigabyte
would be no opening in a tenth of a second. Neither maps nor interprets the sections.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO, Literal

import msgspec
import xxhash

from reusewatch.detector.errors import BadPack, DamagedPack, NewerPack

FORMAT = 1
MAGIC = b"rwlabels"
ALIGNMENT = 64
MOST_LABELS = 10_000
_LONGEST_NAME = 200
_LONGEST_TEXT = 10_000
_MOST_DIRECTORY = 1 << 28
_PRELUDE = struct.Struct("<8sIIQQQ16s")  # magic, format, 0, file, directory at, its length and sum

Severity = Literal["info", "warning", "critical"]


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """A name under which hashes stand in L, and how many do."""

    name: str
    source: str = ""
    note: str = ""
    severity: Severity = "warning"
    files: int = 0
    chunks: int = 0

    def __post_init__(self) -> None:
        check_name(self.name)
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
    """Where an array stands: its padding belongs to it, so that no byte is without a checksum."""

    offset: int
    size: int
    checksum: str

    @property
    def padded(self) -> int:
        """Bytes up to the next section."""
        return self.size + -self.size % ALIGNMENT


class Directory(msgspec.Struct, frozen=True, kw_only=True):
    """What a pack says of itself; `counts` are distinct hashes, `width` bytes of a set number."""

    scheme: str
    version: str
    labels: tuple[Label, ...]
    counts: dict[str, int]
    width: Literal[1, 2, 4]
    sections: dict[str, Section]


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
    return directory


def _read_prelude(data: Any, where: str) -> tuple[int, int, bytes]:
    size = _PRELUDE.size
    if data[:8] != MAGIC:
        raise BadPack(f"{where} is no label pack: build one with `labels build`")
    if len(data) < ALIGNMENT:
        raise DamagedPack(where, f"it ends after {len(data)} bytes")
    _, version, zero, total, at, length, checksum = _PRELUDE.unpack(data[:size])
    if version > FORMAT:
        raise NewerPack(where, version, FORMAT)
    if xxhash.xxh3_64_digest(bytes(data[:size])) != data[size:ALIGNMENT] or zero:
        raise DamagedPack(where, "its first 64 bytes do not match their checksum")
    if total != len(data):
        raise DamagedPack(where, f"it has {len(data)} bytes and should have {total}")
    if at + length != total or length > _MOST_DIRECTORY:
        raise DamagedPack(where, "its directory is not at its end")
    return at, length, checksum
