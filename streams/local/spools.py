"""Spools of a local bus: what each writer brings, kept until one process has judged it.

`DIR/spools/NAME/` is a log (`streams.segments`) of one writer: a spider, or a replay beside
spiders. The writer holds a lock in it as long as it lives, so whoever judges knows when nothing
more will come, after a kill -9 as well. How far a spool was judged stands in the database of the
bus, written together with what came of it. Judges nothing itself, and starts no process.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import zstandard

from reusewatch.detector.labels.replacing import sync_directory
from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, Message, Outgoing, Partition
from reusewatch.streams.local.database import now_ms, told
from reusewatch.streams.segments import Entry, LogReader, LogWriter, bases

SPOOLS = "spools"
# Held by the one process that judges, or replays.
LOCK = "lock"
# Small: a page is found again by reading over the heads of those before it in its segment.
SEGMENT_BYTES = 16 << 20
Kind = Literal["live", "replay"]
_LOCK = "writer"
_TOPIC = "topic"
_ENCODING = "content-encoding"
_NAME = re.compile(r"[0-9]{20}-[0-9a-f]{8}-(live|replay)")
# A spool that is being made: nobody looks into it before its writer holds the lock.
_NEW = "new-"
# Larger than any message of a topic: more than that is no page of ours.
_MOST_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class Spool:
    """A spool by its place."""

    directory: Path

    @property
    def name(self) -> str:
        """By which positions and origins know it."""
        return self.directory.name

    @property
    def is_live(self) -> bool:
        """Whether its pages can be read again nowhere else."""
        return self.name.endswith("-live")

    def is_written(self) -> bool:
        """Whether its writer lives."""
        try:
            with (self.directory / _LOCK).open("rb") as lock:
                return not _taken(lock)
        except FileNotFoundError:
            return False

    def mend(self) -> None:
        """Cut what a killed writer left torn. BusBroken where it is damaged."""
        LogWriter(self.directory, SEGMENT_BYTES).close()

    def segments(self) -> list[tuple[int, int, float]]:
        """First offset, bytes and time of the last change of each segment, in order."""
        found = []
        for base in bases(self.directory):
            stat = (self.directory / f"{base:020d}.log").stat()
            found.append((base, stat.st_size, stat.st_mtime))
        return found

    def drop(self, base: int) -> None:
        """Give up a segment."""
        (self.directory / f"{base:020d}.log").unlink(missing_ok=True)

    def remove(self) -> None:
        """Give up all of it."""
        shutil.rmtree(self.directory, ignore_errors=True)


def spools_of(directory: Path) -> list[Spool]:
    """The spools of a bus, the oldest first."""
    below = directory / SPOOLS
    try:
        names = os.listdir(below)
    except FileNotFoundError:
        return []
    return [Spool(below / name) for name in sorted(names) if _NAME.fullmatch(name)]


def spool_named(directory: Path, name: str) -> Spool | None:
    """A spool by its name; None where there is none, or the name can be none."""
    found = Spool(directory / SPOOLS / name)
    return found if _NAME.fullmatch(name) and found.directory.is_dir() else None


class SpoolWriter:
    """Appends what one process brings; safe after `sync`."""

    def __init__(self, directory: Path, kind: Kind = "live") -> None:
        name = f"{time.time_ns():020d}-{secrets.token_hex(4)}-{kind}"
        made = directory / SPOOLS / f"{_NEW}{name}"
        self.spool = Spool(made.with_name(name))
        self._bus = directory
        self._pack = zstandard.ZstdCompressor(level=1)
        with told(directory):
            made.mkdir(parents=True)
            # Locked before it has its name: a spool without a living writer is one that is done.
            self._lock: IO[bytes] = (made / _LOCK).open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            made.rename(self.spool.directory)
            sync_directory(self.spool.directory.parent)
            self._log = LogWriter(self.spool.directory, SEGMENT_BYTES)

    @property
    def end(self) -> int:
        """How many were appended."""
        return self._log.end

    def append(self, message: Outgoing) -> None:
        """Take a message; a full disk raises and leaves the spool as it was."""
        headers = (
            *message.headers, (_TOPIC, message.topic.encode()), (_ENCODING, b"zstd"),
        )  # fmt: skip
        value = self._pack.compress(message.value or b"")
        with told(self._bus):
            self._log.append(Entry(message.key, value, headers, now_ms()))

    def sync(self) -> None:
        """Return when all that was appended is on disk."""
        with told(self._bus):
            self._log.sync()

    def close(self) -> None:
        """Sync, and say that nothing more will come."""
        try:
            with told(self._bus):
                self._log.close()
        finally:
            self._lock.close()


class SpoolReader:
    """Reads a spool from an offset on; its writer may be appending to it."""

    def __init__(self, spool: Spool, offset: int | None) -> None:
        self._spool = spool
        self._log = LogReader(spool.directory, offset)
        self._unpack = zstandard.ZstdDecompressor()

    @property
    def offset(self) -> int:
        """Where it stands."""
        return self._log.offset

    def read(self, limit: int) -> list[Message]:
        """The next messages; fewer where the spool ends."""
        return [self._message(offset, entry) for offset, entry in self._log.read(limit)]

    def _message(self, offset: int, entry: Entry) -> Message:
        headers = dict(entry.headers)
        topic = headers.get(_TOPIC, b"").decode("ascii", "replace")
        if topic not in topics.TOPICS:
            raise BusBroken(f"{self._spool.directory}: offset {offset} is for no topic of ours")
        try:
            value = self._unpack.decompress(entry.value or b"", max_output_size=_MOST_BYTES)
        except zstandard.ZstdError as error:
            raise BusBroken(f"{self._spool.directory}: offset {offset}: {error}") from error
        kept = tuple(pair for pair in entry.headers if pair[0] not in (_TOPIC, _ENCODING))
        return Message(Partition(topic, 0), offset, entry.key, value, kept, entry.timestamp_ms)

    def close(self) -> None:
        """Release the file."""
        self._log.close()


def message_at(spool: Spool, offset: int) -> Message | None:
    """One message read again; None where it is not kept any more."""
    known = [base for base in bases(spool.directory) if base <= offset]
    if not known:
        return None
    reader = SpoolReader(spool, known[-1])
    try:
        reader._log.skip(offset - known[-1])
        found = reader.read(1)
    finally:
        reader.close()
    return found[0] if found and found[0].offset == offset else None


def is_locked(directory: Path) -> bool:
    """Whether some process has the bus: it judges, or replays."""
    try:
        with (directory / LOCK).open("rb") as lock:
            return not _taken(lock)
    except FileNotFoundError:
        return False


def holder_of(directory: Path) -> tuple[str, str]:
    """Who has the bus, as the lock says: its process id, and what it does."""
    try:
        pid, _, does = (directory / LOCK).read_text("ascii").strip().partition(" ")
    except (FileNotFoundError, UnicodeDecodeError):
        pid, does = "", ""
    return pid or "unknown", does


def _taken(lock: IO[bytes]) -> bool:
    """Whether nobody else held it; it is let go when the file is closed."""
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unjudged(directory: Path, judged: dict[str, int]) -> Iterator[Spool]:
    """Spools in which something waits, after a look at each of their logs."""
    for spool in spools_of(directory):
        reader = LogReader(spool.directory)
        try:
            if reader.skip_to_end() > judged.get(spool.name, 0):
                yield spool
        finally:
            reader.close()
