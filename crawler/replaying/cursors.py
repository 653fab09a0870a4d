"""How far a replay came, so that an interrupted one goes on instead of beginning again.

One small file a replay, replaced as a whole; what it says is safe is safe on the bus. A replay
that ends removes its own: run again, it replays again.

Where a bus makes all that was brought safe at one moment, the cursor that stands for it is written
beside the other one just before, under a number that the bus notes in that moment. So a replay that
is killed, at whatever instruction, brings no page twice.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec
import xxhash

from reusewatch.streams.bus import Unreachable
from reusewatch.streams.disk import replace_file
from reusewatch.streams.wire import UNREADABLE

DIRECTORY = "replays"
# As many as a database has room for.
_NUMBER_BITS = 63


class Tally(msgspec.Struct, kw_only=True):
    """What a replay has seen so far."""

    records: int = 0
    pages: int = 0
    skipped: dict[str, int] = {}
    damaged: dict[str, int] = {}
    dead_letters: int = 0
    alerts: int | None = 0
    unverified: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def add(self, other: Tally) -> None:
        """Count what was seen by another; seconds, letters and alerts are those of a run."""
        self.records += other.records
        self.pages += other.pages
        self.unverified += other.unverified
        self.bytes += other.bytes
        for mine, more in ((self.skipped, other.skipped), (self.damaged, other.damaged)):
            for name, count in more.items():
                mine[name] = mine.get(name, 0) + count

    def since(self, before: Tally) -> Tally:
        """What came since this was that."""
        return Tally(
            records=self.records - before.records,
            pages=self.pages - before.pages,
            unverified=self.unverified - before.unverified,
            bytes=self.bytes - before.bytes,
            skipped=_less(self.skipped, before.skipped),
            damaged=_less(self.damaged, before.damaged),
        )


def _less(now: dict[str, int], before: dict[str, int]) -> dict[str, int]:
    return {name: more for name, n in now.items() if (more := n - before.get(name, 0))}


class Note(msgspec.Struct, frozen=True):
    """An archive as it was read, what it was judged under, and what was in it: see `done`."""

    size: int
    changed_ns: int
    under: str
    tally: Tally


class Cursor(msgspec.Struct, kw_only=True):
    """Where in its sources a replay stands: those done, and the offset in the one under way."""

    done: list[str] = []
    # Of these, replayed before and not read again.
    known: int = 0
    # Sizes when they were read: an archive that has changed since begins again.
    sizes: dict[str, int] = {}
    source: str | None = None
    offset: int = 0
    # Up to where the pages of that source may be forged: see `archives.doubt`.
    doubt: int = 0
    # When the replay began, and when the source under way was found: dates that are not believed.
    began: datetime | None = None
    found: datetime | None = None
    # The source under way as it was when its reading began, and what had been seen before it.
    begun: Note | None = None
    # Archives that were read to their end, and are not noted as done yet.
    read: dict[str, Note] = {}
    # By which the bus knows it.
    number: int = 0
    # Of the bus on which all before it is safe: see `Bus.mark`.
    bus: str = ""
    tally: Tally = msgspec.field(default_factory=Tally)


class Marks(Protocol):
    """A bus that is one directory: what is said of it elsewhere can be held against it."""

    def mark(self) -> str:
        """What this bus is now."""

    def require(self, mark: str, what: str) -> None:
        """Raise Parted where that was said beside another bus."""

    def cursor_of(self, job: str) -> int | None:
        """Which cursor of a replay stood for what it had brought, as of the last flush."""


class Cursors:
    """The cursors of a state directory, by the bus and by what is replayed onto it."""

    def __init__(self, directory: Path, bus: str = "", marks: Marks | None = None) -> None:
        self._directory = directory / DIRECTORY
        self._bus = bus
        self._marks = marks

    def load(self, job: str) -> Cursor | None:
        """Where the replay stopped, if it was interrupted. Parted where it was on another bus."""
        found, foreseen = self._read(self._path(job)), self._read(self._foreseen(job))
        if foreseen is None or (found is not None and found.number == foreseen.number):
            return found
        if not self._stands(job, foreseen):
            return found
        # Or it is lost with the next one that is foreseen, and its pages come again.
        self.save(job, foreseen)
        return foreseen

    def _read(self, path: Path) -> Cursor | None:
        try:
            found = msgspec.json.decode(path.read_bytes(), type=Cursor)
        except (FileNotFoundError, *UNREADABLE):
            return None  # without it a replay begins again, which only costs time
        except OSError as error:
            raise Unreachable(
                f"{path.parent}: {error.strerror}: name a directory that can be written "
                "with --bus local:DIR or --state DIR"
            ) from error
        if found.bus and self._marks is not None:
            self._marks.require(found.bus, str(path))
        return found

    def _stands(self, job: str, found: Cursor) -> bool:
        """Whether all before this cursor became safe."""
        return self._marks is not None and self._marks.cursor_of(self._key(job)) == found.number

    def foresee(self, job: str, cursor: Cursor) -> tuple[str, int]:
        """All before the cursor is about to be safe: what the bus is to note with it, a key of the
        replay and a number. One that nobody has had, or a replay of long ago would stand for this
        one."""
        cursor.number = secrets.randbits(_NUMBER_BITS)
        self._write(self._foreseen(job), cursor)
        return self._key(job), cursor.number

    def save(self, job: str, cursor: Cursor) -> None:
        """Everything before the cursor is safe."""
        self._write(self._path(job), cursor)

    def _write(self, path: Path, cursor: Cursor) -> None:
        cursor.bus = "" if self._marks is None else self._marks.mark()
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            replace_file(path, msgspec.json.encode(cursor))
        except OSError as error:
            raise Unreachable(
                f"{path} cannot be written: {error.strerror}: mend that and run it again; it goes "
                "on where it was last written"
            ) from error

    def clear(self, job: str) -> None:
        """The replay is through."""
        # Where the directory is a file there is no cursor either; who writes there says so.
        with suppress(NotADirectoryError):
            self._path(job).unlink(missing_ok=True)
            self._foreseen(job).unlink(missing_ok=True)

    def _foreseen(self, job: str) -> Path:
        return self._path(job).with_suffix(".foreseen")

    def _path(self, job: str) -> Path:
        # Not one file for all: two replays that end together would undo each other's writing.
        return self._directory / f"{self._key(job)}.json"

    def _key(self, job: str) -> str:
        # A job is named by all of its archives, which may be many.
        return xxhash.xxh3_64_hexdigest(f"{self._bus}\n{job}".encode())
