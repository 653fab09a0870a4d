"""The bus as a directory: no broker, one process at a time that writes.

Topics with retention are files (`streams.segments`), compacted ones tables of one SQLite database,
which also holds the offsets. Readers in other processes are no obstacle to the writer.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

from reusewatch.streams import topics
from reusewatch.streams.bus import Message, OnAssigned, OnRevoked, Unreachable
from reusewatch.streams.local.database import (
    POLL_LIMIT,
    REPLAYED,
    WAIT,
    told,
)
from reusewatch.streams.local.generation import DATABASE, mark_of, require_mark
from reusewatch.streams.local.inlet import LocalInlet
from reusewatch.streams.local.outlet import LocalOutlet
from reusewatch.streams.local.readers import reader_of
from reusewatch.streams.local.reading import Reading, require_bus, require_sound
from reusewatch.streams.local.spools import LOCK, holder_of
from reusewatch.streams.threads import Threads

__all__ = ["DATABASE", "LocalBus", "LocalInlet", "LocalOutlet", "Taken", "require_bus"]


# Who only looks whether a bus is locked has it for a moment.
_LOOK_SECONDS = 0.2


class Taken(Unreachable):
    """Another process writes here."""


class LocalBus:
    """All topics of a directory, one partition each."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self._lock: IO[str] | None = None
        self._beside: Threads | None = None

    def lock(self, does: str = "") -> None:
        """Become the one process that writes here; `does` tells others what for."""
        if self._lock is not None:
            return
        with told(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
            lock = (self.directory / LOCK).open("a+")
            if not _locked(lock):
                lock.close()
                holder, what = holder_of(self.directory)
                raise Taken(
                    f"{self.directory} is in use by process {holder}{what and f', which {what}'}: "
                    "wait for it, or give --bus another directory"
                ) from None
            lock.truncate(0)
            lock.write(f"{os.getpid()} {does}")
            lock.flush()
        self._lock = lock

    def outlet(self) -> LocalOutlet:
        """A new outlet, for the thread that asks."""
        return LocalOutlet(self.directory, self._beside)

    def write_beside(self) -> None:
        """Outlets from now on may write by a thread beside who sends: a second core has time."""
        self._beside = Threads(1)

    def rest(self) -> None:
        """Wait until that thread has nothing to do."""
        if self._beside is not None:
            self._beside.submit(lambda: None).result()

    def inlet(
        self,
        group: str,
        topics: Sequence[str],
        *,
        sole: bool = False,
        on_assigned: OnAssigned | None = None,
        on_revoked: OnRevoked | None = None,
    ) -> LocalInlet:
        """A new reader; here every reader is the sole one."""
        return LocalInlet(self.directory, group, topics, on_assigned)

    def read(
        self,
        topic: str,
        *,
        partition: int | None = None,
        follow: bool = False,
        every: bool = False,
        stop: Callable[[], bool] | None = None,
        idle: Callable[[], None] | None = None,
    ) -> Iterator[Message]:
        """All messages of a topic, which has one partition; with `follow` then those that come.

        `every` changes nothing: a table keeps one message of each key, and is read in pieces.
        """
        reader = reader_of(self.directory, topic, None)
        compacted = topics.TOPICS[topic].cleanup == "compact"
        try:
            with told(self.directory):
                if not follow:
                    # Or a message that is replaced meanwhile is seen twice, or not at all.
                    reader.freeze()
                then = reader.end()
            while True:
                with told(self.directory):
                    found = reader.read(POLL_LIMIT)
                for message in found:
                    # A tombstone is news to whoever follows; as of now the key is just not there.
                    if message.value is not None or not compacted or message.offset >= then:
                        yield message
                if found:
                    continue
                if not follow:
                    return
                if idle is not None:
                    idle()
                if stop is not None and stop():
                    return
                time.sleep(WAIT)
        finally:
            reader.close()

    def end(self, topic: str) -> int:
        """The offset after the last message of a topic."""
        reader = reader_of(self.directory, topic, None)
        try:
            with told(self.directory):
                return reader.end()
        finally:
            reader.close()

    def cursor_of(self, job: str) -> int | None:
        """Which cursor of a replay stood for what it had brought, as of the last flush."""
        with told(self.directory), closing(Reading(self.directory)) as database:
            rows = database.rows(
                "SELECT next FROM offsets WHERE reader = ? AND topic = ?", (REPLAYED, job)
            )
        return int(rows[0][0]) if rows else None

    def mark(self) -> str:
        """Which database this is, and how many rows were ever written to it."""
        with told(self.directory), closing(Reading(self.directory)) as database:
            return str(database.ask(mark_of))

    def require(self, mark: str, what: str) -> None:
        """Raise Parted where a file was written beside another database."""
        with told(self.directory), closing(Reading(self.directory)) as database:
            now = database.ask(mark_of)
        return require_mark(self.directory, now, mark, what)

    def check(self) -> None:
        """Raise where the directory cannot be written, or the database is damaged."""
        with told(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
            probe = self.directory / f".probe-{os.getpid()}"
            probe.write_bytes(b"")
            probe.unlink()
        require_sound(self.directory)

    def close(self) -> None:
        """Let other processes write."""
        if self._beside is not None:
            self._beside.close()
            self._beside = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _locked(lock: IO[str]) -> bool:
    """Whether the lock is ours now."""
    until = time.monotonic() + _LOOK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_SECONDS / 10)
        else:
            return True
