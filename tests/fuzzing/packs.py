"""Label packs: opened, looked up, merged into a dataset and read from end to end.

A file is a pack or it is refused with what to do (`BadPack`, `SchemeMismatch`); a look-up in one
that opened finds labels that are there or `DamagedPack`, whatever its arrays hold. Checksums are
made right again after each change, as whoever forges a pack would.
"""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import msgspec
import numpy as np
import xxhash

from reusewatch.detector.errors import BadPack, SchemeMismatch
from reusewatch.detector.labels.format import (
    ALIGNMENT,
    Directory,
    Section,
    read_directory,
    write_directory,
)
from reusewatch.detector.labels.pack import KINDS, open_pack, verify
from tests.detector.labels.strategies import NAMES, SCHEME, Entries, asked, built, twin_of
from tests.fuzzing import changes

_DIRECTORY = Path(mkdtemp())
_PATH = _DIRECTORY / "fuzzed.pack"
_PRELUDE = struct.Struct("<8sIIQQQ16s")
_NUMBERS = (0, 1, 2, 7, 255, 0xFFFF, 0xFFFFFFFF, 1 << 62, (1 << 64) - 1)


@cache
def _entries() -> Entries:
    files: Entries = [("files", value, NAMES[value % 3]) for value in range(1, 40, 3)]
    return files + [("chunks", value << 58, NAMES[at % 3]) for at, value in enumerate(range(60))]


def seeds() -> Iterator[bytes]:
    """A pack of nothing, of little, and one whose hashes fill several buckets."""
    for number, entries in enumerate(([], _entries()[:3], _entries())):
        path = _DIRECTORY / f"{number}.pack"
        built(path, entries)
        yield path.read_bytes()


def changed(data: bytes, seed: int) -> bytes:
    """Bytes of a section, or what the directory says, changed; checksums are right again."""
    random = Random(seed)
    with contextlib.suppress(BadPack, ValueError, msgspec.MsgspecError, OverflowError, TypeError):
        directory = read_directory(data, "x")
        body = bytearray(data[: _PRELUDE.unpack(data[: _PRELUDE.size])[4]])
        for _ in range(random.choice([0, 1, 3])):
            _spoil(body, random)
        said = msgspec.to_builtins(_resealed(directory, body))
        for _ in range(random.choice([0, 1, 2])):
            said = changes.changed(said, random)
        return _written(body, said)
    return data[: random.randrange(len(data) + 1)]


def _spoil(body: bytearray, random: Random) -> None:
    if len(body) > ALIGNMENT:
        at = random.randrange(ALIGNMENT, len(body), random.choice([1, 4, 8]))
        value = random.choice(_NUMBERS).to_bytes(8, "little")[: random.choice([1, 4, 8])]
        body[at : at + len(value)] = value[: len(body) - at]


def _resealed(directory: Directory, body: bytearray) -> Directory:
    sections = {
        name: msgspec.structs.replace(one, checksum=_sum(one, body))
        for name, one in directory.sections.items()
    }
    return msgspec.structs.replace(directory, sections=sections)


def _sum(section: Section, body: bytearray) -> str:
    return xxhash.xxh3_128_hexdigest(bytes(body[section.offset : section.offset + section.padded]))


def _written(body: bytearray, said: object) -> bytes:
    """A pack with this directory, if it is one, and with these bytes, if it is none."""
    encoded = msgspec.json.encode(said)
    try:
        file = io.BytesIO(bytes(body))
        file.seek(len(body))
        write_directory(file, msgspec.json.decode(encoded, type=Directory))
        return file.getvalue()
    except (msgspec.MsgspecError, ValueError):
        at, total = len(body), len(body) + len(encoded)
        checksum = xxhash.xxh3_128_digest(encoded)
        prelude = _PRELUDE.pack(b"rwlabels", 2, 0, total, at, len(encoded), checksum)
        whole = prelude + xxhash.xxh3_64_digest(prelude)
        return whole + bytes(body[len(whole) :]) + encoded


def once(data: bytes) -> None:
    """One file."""
    _PATH.write_bytes(data)
    said = verify(_PATH)
    try:
        pack = open_pack(_PATH, SCHEME)
    except (BadPack, SchemeMismatch):
        assert said or _is_of_another_scheme()
        return
    values = np.array(asked(twin_of(_entries())), np.uint64)
    for kind in KINDS:
        with contextlib.suppress(BadPack):
            found = pack.find(kind, values)
            for number in found[found >= 0].tolist():
                assert pack.labels_of(number)
        if not said:
            _is_sorted(pack.source(kind).read(0, len(pack.of(kind))).hashes)


def _is_of_another_scheme() -> bool:
    return open_pack(_PATH, None).scheme != SCHEME.name


def _is_sorted(hashes: np.ndarray) -> None:  # type: ignore[type-arg]
    assert bool(np.all(hashes[1:] >= hashes[:-1]))
