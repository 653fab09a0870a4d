"""A partition as files: an append-only log in segments, each frame with its length and CRC.

A crash leaves at most a torn frame at the end, which the next writer cuts off: it was never
acknowledged. Damage anywhere else is an error with its place, never skipped.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

import crc32c
import msgspec

from reusewatch.detector.labels.replacing import sync_directory
from reusewatch.streams.bus import BusBroken, Parted, PastRetention
from reusewatch.streams.disk import replace_file, write_pieces

SEGMENT_BYTES = 64 << 20
_FRAME = struct.Struct("<II")
_SUFFIX = ".log"
# A frame's memory is kept for the next one, unless it has more bytes.
_LARGE_FRAME = 1 << 18
_ENTRY_BEGINS = b"\x94"  # msgpack: an array of four
_encoder = msgspec.msgpack.Encoder()


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """What a frame holds."""

    key: str
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    timestamp_ms: int


_decoder = msgspec.msgpack.Decoder(Entry)


class _Appended(NamedTuple):
    """The last entry that a writer of this process appended to a log: its segment, its offset, and
    the bytes of that segment from which and to which it stands."""

    segment: int
    offset: int
    begin: int
    end: int
    entry: Entry


_LAST: dict[Path, _Appended] = {}
"""By the directory. What was just written need not be read back by who waits for it."""


def bases(directory: Path) -> list[int]:
    """The first offset of every segment, in order."""
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return []
    return sorted(int(name.removesuffix(_SUFFIX)) for name in names if name.endswith(_SUFFIX))


def first_offset(directory: Path) -> int:
    """The first offset that is still there."""
    return next(iter(bases(directory)), 0)


def _path(directory: Path, base: int) -> Path:
    return directory / f"{base:020d}{_SUFFIX}"


def _weight_path(directory: Path, base: int) -> Path:
    return _path(directory, base).with_suffix(".weight")


class LogReader:
    """Reads a log from an offset on; another process may be appending to it."""

    def __init__(self, directory: Path, offset: int | None = None) -> None:
        self._directory = directory
        self._segment = -1
        self._file: BinaryIO | None = None
        begin = first_offset(directory)
        self.offset = begin if offset is None else offset
        if self.offset < begin:
            raise PastRetention(
                f"{directory}: offset {offset} is gone, the log begins at {begin}: pages between "
                "two runs were lost. Move the state directory away and replay into a new one"
            )

    def read(self, limit: int) -> list[tuple[int, Entry]]:
        """Up to `limit` entries; fewer where the log ends, as it does behind what was handed."""
        handed = self._handed() if limit else None
        if handed is not None:
            return [(self.offset - 1, handed)]
        found: list[tuple[int, Entry]] = []
        while len(found) < limit and (payload := self._next()) is not None:
            found.append((self.offset - 1, _decoder.decode(payload)))
        return found

    def _handed(self) -> Entry | None:
        """The entry where this reader stands, if it has waited for it, and this process wrote it
        last."""
        last = _LAST.get(self._directory)
        if last is None or self._file is None:
            return None
        where = self._segment, self.offset, self._file.tell()
        if where != last[:3]:
            return None
        self._file.seek(last.end)
        self.offset += 1
        return last.entry

    def skip(self, count: int) -> None:
        """Pass over so many entries of the segment where it stands, without reading them."""
        if self._file is None and not self._open_at_offset():
            return
        for _ in range(count):
            if self._file is None or not _skip_frame(self._file):
                return
            self.offset += 1

    def skip_to_end(self) -> int:
        """Stand behind the last entry; returns that offset."""
        known = bases(self._directory)
        if known and known[-1] > self.offset:
            self._open(known[-1])
        while self._next() is not None:
            pass
        return self.offset

    def _next(self) -> bytes | None:
        if self._file is None and not self._open_at_offset():
            return None
        while True:
            payload = _read_frame(self._file) if self._file else None
            later = self._later() if payload is None else None
            if later is not None and self._file is not None:
                # Once there is a later segment this one is final: look again, for between the
                # two looks the writer may have appended here.
                payload = _read_frame(self._file)
            if payload is not None:
                self.offset += 1
                return payload
            if later is None:
                self._check_end()
                return None
            self._roll(later)

    def _check_end(self) -> None:
        """BusBroken where it is damage that ends the log: what is behind it would be missed."""
        if self._file is None:
            return
        at = self._file.tell()
        rest = self._file.read()
        self._file.seek(at)
        # A writer may have ended the frame between the two looks.
        if not rest or _is_torn(rest) or _read_frame(self._file) is not None:
            self._file.seek(at)
            return
        raise BusBroken(
            f"{_path(self._directory, self._segment)}: damaged at offset {self.offset} (byte {at})."
            " Put back a copy of the whole directory, or run `reusewatch replay … --restart`: it"
            " sets aside what is there, and begins with an empty bus"
        )

    def _open_at_offset(self) -> bool:
        wanted = self.offset
        known = [base for base in bases(self._directory) if base <= wanted]
        if not known:
            return False
        self._open(known[-1])
        while self.offset < wanted:
            if self._file is None or _read_frame(self._file) is None:
                self.close()
                self.offset = wanted
                return False
            self.offset += 1
        return True

    def _later(self) -> int | None:
        """The segment after this one."""
        return next((base for base in bases(self._directory) if base > self._segment), None)

    def _roll(self, later: int) -> None:
        """Go on to the segment that begins where this one ends."""
        if later != self.offset:
            path = _path(self._directory, self._segment)
            raise BusBroken(
                f"{path}: damaged at offset {self.offset}; the log goes on at {later}. Move the "
                "state directory away and replay into a new one"
            )
        self._open(later)

    def _open(self, segment: int) -> None:
        self.close()
        self._file = _path(self._directory, segment).open("rb", buffering=0)
        self._segment, self.offset = segment, segment

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class LogWriter:
    """Appends to a log; one process at a time."""

    def __init__(self, directory: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        # A log that stood here before was another one.
        _LAST.pop(directory, None)
        self._segment_bytes = segment_bytes
        # Written anew for each entry: a block is half a megabyte, and was copied three times.
        self._frame = bytearray()
        self._base = next(reversed(bases(directory)), 0)
        self._open()
        self.end = self._base
        while _read_frame(self._file) is not None:
            self.end += 1
        self._cut_torn_frame()

    def _cut_torn_frame(self) -> None:
        at = self._file.tell()
        rest = self._file.read()
        if not _is_torn(rest):
            self._file.close()
            raise BusBroken(
                f"{self._file.name}: damaged at offset {self.end} (byte {at}). Move the state "
                "directory away and replay into a new one"
            )
        self._file.truncate(at)
        self._bytes = at

    def _open(self) -> None:
        # Unbuffered: after a failed write nothing of it may be left to be written at close.
        self._file: BinaryIO = _path(self._directory, self._base).open("ab+", buffering=0)
        # Kept, not asked of the system at each append: each call there gives Python's lock away,
        # and a crawl that runs beside takes its time to give it back.
        self._bytes = self._file.seek(0, os.SEEK_END)
        self._file.seek(0)
        sync_directory(self._directory)

    @property
    def base(self) -> int:
        """The first offset of the segment that is written to."""
        return self._base

    def append(self, entry: Entry) -> int:
        """Write one entry and return its offset; it is safe after `sync`."""
        if self._bytes >= self._segment_bytes:
            self._roll()
        _encoder.encode_into(entry, self._frame, _FRAME.size)
        payload = memoryview(self._frame)[_FRAME.size :]
        _FRAME.pack_into(self._frame, 0, len(payload), crc32c.crc32c(payload))
        payload.release()
        size = len(self._frame)
        try:
            write_pieces(self._file, self._frame)
        except OSError:
            # A full disk: what stands is sound again when the half-written frame is gone.
            self._file.truncate(self._bytes)
            self._frame = bytearray()  # whoever keeps the error keeps a view of this one
            raise
        if size > _LARGE_FRAME:
            self._frame = bytearray()
        _LAST[self._directory] = _Appended(
            self._base, self.end, self._bytes, self._bytes + size, entry
        )  # fmt: skip
        self._bytes += size
        self.end += 1
        return self.end - 1

    def forget_last(self) -> None:
        """Nobody here reads the last entry any more; who does after all finds it in the file."""
        _LAST.pop(self._directory, None)

    def _roll(self) -> None:
        """Go on in a new segment; where none can be made, everything is as it was."""
        self.sync()
        full, base, size = self._file, self._base, self._bytes
        self._base = self.end
        try:
            self._open()
        except OSError:
            self._file, self._base, self._bytes = full, base, size
            raise
        full.close()

    def cut(self, end: int) -> None:
        """Forget the entries from this offset on."""
        if end >= self.end:
            return
        self._check_there()
        _LAST.pop(self._directory, None)
        for base in reversed(bases(self._directory)):
            if base < end or base == first_offset(self._directory):
                break
            self._file.close()
            _path(self._directory, base).unlink()
            _weight_path(self._directory, base).unlink(missing_ok=True)
        self._file.close()
        self._base = next(reversed(bases(self._directory)))
        # It is written to again: what it weighed is no longer what it weighs.
        _weight_path(self._directory, self._base).unlink(missing_ok=True)
        self._open()
        self.end = self._base
        while self.end < end and _skip_frame(self._file):
            self.end += 1
        self._bytes = self._file.truncate(self._file.tell())
        self.sync()

    def sync(self) -> None:
        """Return when all that was appended is on disk."""
        os.fsync(self._file.fileno())
        self._check_there()

    def _check_there(self) -> None:
        if not os.fstat(self._file.fileno()).st_nlink:
            raise Parted(
                f"{self._file.name} was removed while it was written to: what it held is lost. Run "
                "`reusewatch replay … --restart`: it sets aside what is there, and begins anew"
            )

    def retain(self, wanted: int, weigh: Callable[[Entry], int]) -> None:
        """Keep the newest segments that together weigh at least `wanted`, and the open one."""
        kept = 0
        for base in reversed(bases(self._directory)[:-1]):
            if kept >= wanted:
                _path(self._directory, base).unlink()
                _weight_path(self._directory, base).unlink(missing_ok=True)
            else:
                kept += self._weight(base, weigh)

    def _weight(self, base: int, weigh: Callable[[Entry], int]) -> int:
        """Of a segment that is not written to any more: weighed once, and noted beside it."""
        noted = _weight_path(self._directory, base)
        if not noted.exists():
            with _path(self._directory, base).open("rb", buffering=0) as file:
                frames = iter(lambda: _read_frame(file), None)
                weight = sum(weigh(_decoder.decode(frame)) for frame in frames)
            replace_file(noted, str(weight).encode())
        return int(noted.read_text() or 0)

    def close(self) -> None:
        """Sync, and release the file."""
        try:
            self.sync()
        finally:
            _LAST.pop(self._directory, None)
            self._file.close()


def _read_frame(file: BinaryIO) -> bytes | None:
    """The sound frame where the file stands; without one it stays there."""
    before = file.tell()
    head = file.read(_FRAME.size)
    if len(head) == _FRAME.size:
        length, checksum = _FRAME.unpack(head)
        payload = file.read(length)
        # Not even a frame of nothing has no bytes: zeros are what a power cut leaves.
        if 0 < length == len(payload) and crc32c.crc32c(payload) == checksum:
            return payload
    file.seek(before)
    return None


def _skip_frame(file: BinaryIO) -> bool:
    """Pass over the frame where the file stands, unread; without a whole one it stays there."""
    before = file.tell()
    head = file.read(_FRAME.size)
    length = _FRAME.unpack(head)[0] if len(head) == _FRAME.size else 0
    if length and before + _FRAME.size + length <= os.fstat(file.fileno()).st_size:
        file.seek(length, os.SEEK_CUR)
        return True
    file.seek(before)
    return False


def _is_torn(rest: bytes) -> bool:
    """Whether what follows the last sound frame is the beginning of one, or what a power cut left.

    A frame that was damaged has its full length, or, where its length is what was damaged, sound
    frames after it.
    """
    if not rest.strip(b"\0"):
        return True
    if len(rest) >= _FRAME.size and len(rest) >= _FRAME.size + _FRAME.unpack_from(rest)[0]:
        return False
    at = rest.find(_ENTRY_BEGINS, _FRAME.size + 1)
    while at >= 0:
        length, checksum = _FRAME.unpack_from(rest, at - _FRAME.size)
        payload = memoryview(rest)[at : at + length]
        if 0 < length == len(payload) and crc32c.crc32c(payload) == checksum:
            return False
        at = rest.find(_ENTRY_BEGINS, at + 1)
    return True
