"""Snapshots of a stage's state: raw arrays with what they are, and a checksum of each.

Written under a temporary name, synced, renamed; the two newest are kept. What one says of itself
is written last: what the bus is by then. A damaged one is found before it is used, and the one
before it is taken; one of another scheme or of a newer version is refused with the reason. What can
be wrong with one is in `stages.errors`.

Who only asks reads what answers it: the other arrays are neither checked nor in memory, and those
that are read stand where the file is mapped. What is written to them never reaches the file.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import IO, Any, BinaryIO

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from reusewatch.detector.errors import BadPage, SchemeMismatch
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.replacing import replacing
from reusewatch.streams.bus import Bus, Offsets, Partition, Unreachable
from reusewatch.streams.disk import write_pieces
from reusewatch.streams.stages.errors import Damaged, Incompatible, what_to_do

VERSION = 17
KEEP = 2
_MAGIC = b"reusewatch snapshot\n"
_LENGTH = struct.Struct("<Q")
_SUM = 16
_PIECE = 1 << 20
_MARK_BYTES = 64
# Errors of a stage that restores a state which no stage has saved; BadState is a ValueError.
_UNSOUND = (ValueError, KeyError, BadPage, msgspec.ValidationError)


@dataclass(frozen=True, slots=True)
class State:
    """What a stage remembers: arrays, and small facts as JSON types."""

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def by_head(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The arrays, those together whose names begin alike up to a slash, by what follows it."""
        found: dict[str, dict[str, NDArray[Any]]] = {}
        for name, array in self.arrays.items():
            head, _, rest = name.partition("/")
            found.setdefault(head, {})[rest] = array
        return found


class _Array(msgspec.Struct, frozen=True):
    name: str
    dtype: str
    shape: tuple[int, ...]


class _Version(msgspec.Struct, frozen=True):
    version: int


class _Header(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    stage: str
    scheme: str
    # Of the bus that it stands beside: see `Bus.mark`.
    bus: str
    offsets: list[tuple[str, int, int]]
    facts: dict[str, Any]
    arrays: list[_Array]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The newest sound snapshot, and what was found wrong with newer ones."""

    state: State | None
    offsets: Offsets
    rejected: tuple[str, ...]
    written_at: float | None = None


class Snapshots:
    """The snapshots of one stage in a directory. Without a bus whoever asks only looks at them."""

    def __init__(
        self, directory: Path, stage: str, scheme: HashScheme, bus: Bus | None = None
    ) -> None:
        self._bus = bus
        self._directory = directory
        self._stage = stage
        self._scheme = scheme

    def paths(self) -> list[Path]:
        """All snapshots, the newest first."""
        return sorted(self._directory.glob(f"{self._stage}-*.snapshot"), reverse=True)

    def save(
        self, state: State, offsets: Offsets, flush: Callable[[], None] = lambda: None
    ) -> Path:
        """Write one; it is on disk when this returns. It has a name after `flush` only: it says
        what was sent."""
        newest = next(iter(self.paths()), None)
        number = int(newest.stem.rpartition("-")[2]) + 1 if newest else 1
        path = self._directory / f"{self._stage}-{number:012d}.snapshot"
        try:
            self._replace(path, state, offsets, flush)
        except OSError as error:
            raise Unreachable(
                f"the snapshot {path} cannot be written: {error.strerror}: {what_to_do(error)} "
                "and start again; nothing was committed past the last one"
            ) from error
        return path

    def _replace(
        self, path: Path, state: State, offsets: Offsets, flush: Callable[[], None]
    ) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        # A process that was killed while it wrote one left as much behind.
        for left in self._directory.glob(f".{self._stage}-*.partial"):
            left.unlink(missing_ok=True)
        with replacing(path) as file:
            self._write(file, state, offsets, flush)
        for old in self.paths()[KEEP:]:
            old.unlink()

    def _write(
        self, file: BinaryIO, state: State, offsets: Offsets, flush: Callable[[], None]
    ) -> None:
        arrays = {name: np.ascontiguousarray(array) for name, array in state.arrays.items()}
        header = _Header(
            version=VERSION,
            stage=self._stage,
            scheme=self._scheme.name,
            bus="",
            offsets=[(*part, offset) for part, offset in offsets.items()],
            facts=dict(state.facts),
            arrays=[_Array(n, a.dtype.str, a.shape) for n, a in arrays.items()],
        )
        size = len(msgspec.json.encode(header)) + _MARK_BYTES
        # Arrays begin at multiples of eight: they are used in place.
        size += -(len(_MAGIC) + _LENGTH.size + size) % 8
        file.seek(len(_MAGIC) + _LENGTH.size + size + _SUM)
        sums = [_written(file, _parts(array)) for array in arrays.values()]
        file.write(b"".join(sums))
        flush()
        # With all rows that were sent: an older database beside it would be taken for this one.
        mark = "" if self._bus is None else self._bus.mark()
        file.seek(0)
        said = msgspec.json.encode(msgspec.structs.replace(header, bus=mark)).ljust(size)
        file.write(_written(file, (_MAGIC, _LENGTH.pack(size), said)))

    def load(
        self,
        needs: Callable[[str], bool] | None = None,
        take_up: Callable[[State], None] = lambda state: None,
    ) -> Loaded:
        """The newest sound snapshot. Another scheme, or a newer version, is refused outright. Of
        what a question `needs`, by name, arrays can be written to and stand in no other memory.
        One whose state does not hold together, as `take_up` finds, is rejected like a damaged one:
        a checksum does not say who wrote it."""
        rejected: list[str] = []
        for path in self.paths():
            try:
                state, offsets = self._read(path, needs)
                take_up(state)
            except Damaged as error:
                rejected.append(str(error))
                continue
            except _UNSOUND as error:
                why = f"{type(error).__name__}: {error}"
                rejected.append(f"{path} is damaged: it does not hold together ({why})")
                continue
            return Loaded(state, offsets, tuple(rejected), path.stat().st_mtime)
        return Loaded(None, {}, tuple(rejected))

    def _read(self, path: Path, needs: Callable[[str], bool] | None) -> tuple[State, Offsets]:
        with path.open("rb") as file:
            header, begin = self._described(path, file)
            places = _places(begin, header.arrays)
            if os.fstat(file.fileno()).st_size != places[-1] + len(header.arrays) * _SUM:
                raise Damaged(f"{path} is cut short, or longer than it says")
            needed = [needs is None or needs(array.name) for array in header.arrays]
            _check(path, file, places, needed)
            access = mmap.ACCESS_READ if needs is None else mmap.ACCESS_COPY
            data = memoryview(mmap.mmap(file.fileno(), 0, access=access))
        rows = zip(header.arrays, places[:-1], needed, strict=True)
        found = {array.name: _array(data, at, array) for array, at, here in rows if here}
        offsets = {Partition(topic, number): at for topic, number, at in header.offsets}
        return State(found, header.facts), offsets

    def _described(self, path: Path, file: IO[bytes]) -> tuple[_Header, int]:
        """What a snapshot says of itself, and where its arrays begin."""
        start = len(_MAGIC) + _LENGTH.size
        begin = file.read(start)
        if not begin.startswith(_MAGIC) or len(begin) < start:
            raise Damaged(f"{path} is no snapshot")
        (length,) = _LENGTH.unpack(begin[len(_MAGIC) :])
        if start + length + _SUM > os.fstat(file.fileno()).st_size:
            raise Damaged(f"{path} is cut short")
        described = file.read(length)
        sound = xxhash.xxh3_128_digest(begin + described) == file.read(_SUM)
        version = VERSION if sound else _version_of(described)
        if version > VERSION:
            # One changed byte may say so, too: an older snapshot that is sound is taken then.
            raise Damaged(
                f"{path} says that a newer reusewatch wrote it (snapshot version {version}, this "
                f"one reads {VERSION}), or is damaged: upgrade this process"
            )
        if not sound and version == VERSION:
            raise Damaged(f"{path} is damaged: its checksum does not hold")
        return self._header(path, described), start + length + _SUM

    def _header(self, path: Path, described: bytes) -> _Header:
        # The version before the rest: what a newer one says beside it may not be known here.
        version = msgspec.json.decode(described, type=_Version).version
        if version > VERSION:
            raise Incompatible(
                f"{path} was written by a newer reusewatch (snapshot version {version}, "
                f"this one reads {VERSION}): upgrade this process, or give --state another place"
            )
        if version < VERSION:
            raise Damaged(f"{path} was written by an older reusewatch, and is not read any more")
        header = msgspec.json.decode(described, type=_Header)
        if header.bus and self._bus is not None:
            # It remembers what was sent: on another bus that would never be said.
            self._bus.require(header.bus, str(path))
        try:
            self._scheme.require(header.scheme, str(path))
        except SchemeMismatch as error:
            raise Incompatible(str(error)) from error
        return header


def _parts(array: NDArray[Any]) -> Iterator[bytes | memoryview]:
    """The bytes of an array, and what fills it up. Of what is mapped from a file one part is in
    memory at a time: with all of it a replay would have its most memory at its end."""
    data = array.reshape(-1).view(np.uint8)
    for begin in range(0, len(data), _PIECE):
        part = data[begin : begin + _PIECE]
        yield part.data
        _let_go(part)
    yield bytes(-len(data) % 8)


def _written(file: IO[bytes], pieces: Iterable[bytes | memoryview]) -> bytes:
    """Write these; their checksum."""
    checksum = xxhash.xxh3_128()
    for piece in pieces:
        checksum.update(piece)
        write_pieces(file, piece)
    return checksum.digest()


def _version_of(described: bytes) -> int:
    """By which version it says that it was written; ours where it says nothing. Others may have
    checksums of other parts of it."""
    try:
        return msgspec.json.decode(described, type=_Version).version
    except msgspec.DecodeError:
        return VERSION


def _check(path: Path, file: IO[bytes], places: list[int], needed: list[bool]) -> None:
    """Read the arrays that are needed, and not where they are mapped: they would all be in memory
    at once."""
    file.seek(places[-1])
    sums = file.read()
    for at, (begin, end) in enumerate(pairwise(places)):
        checksum, left = xxhash.xxh3_128(), end - begin if needed[at] else 0
        file.seek(begin)
        while left and (piece := file.read(min(left, _PIECE))):
            checksum.update(piece)
            left -= len(piece)
        if needed[at] and checksum.digest() != sums[at * _SUM : (at + 1) * _SUM]:
            raise Damaged(f"{path} is damaged: a checksum does not hold")


def _places(begin: int, described: list[_Array]) -> list[int]:
    """Where each array begins, and where the last one ends, with what fills it up."""
    sizes = (_count(one) * np.dtype(one.dtype).itemsize for one in described)
    return list(accumulate((-(-size // 8) * 8 for size in sizes), initial=begin))


def _count(array: _Array) -> int:
    return int(np.prod(array.shape, dtype=np.int64))


def _array(data: memoryview, at: int, array: _Array) -> NDArray[Any]:
    found = np.frombuffer(data, array.dtype, _count(array), at)
    return found.reshape(array.shape)


def _let_go(array: NDArray[Any]) -> None:
    """What was mapped from a file only to be written is in memory no longer."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    mapped = getattr(base, "obj", base)
    if not isinstance(mapped, mmap.mmap) or array.flags.writeable or not array.nbytes:
        return
    if not memoryview(mapped).readonly:
        return  # memory that is no file's would be zeros from now on
    # Of this array alone: others of the same file may be looked at all the time.
    begin = _address(array) - _address(np.frombuffer(mapped, np.uint8))
    start = begin - begin % mmap.PAGESIZE
    mapped.madvise(mmap.MADV_DONTNEED, start, begin + array.nbytes - start)


def _address(array: NDArray[Any]) -> int:
    found: int = array.__array_interface__["data"][0]
    return found
