"""The bus as a directory: no broker, one process at a time that writes.

Topics with retention are files (`streams.segments`), compacted ones tables of one SQLite database,
which also holds the offsets. Readers in other processes are no obstacle to the writer.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import IO

import msgspec

from streams import topics
from streams.bus import (
    BEGINNING,
    BusBroken,
    BusError,
    Message,
    Offsets,
    OnAssigned,
    OnRevoked,
    Outgoing,
    Partition,
    TooLarge,
    Unreachable,
)
from streams.segments import Entry, LogReader, LogWriter

DATABASE = "bus.sqlite"
FORMAT = 1
Headers = tuple[tuple[str, bytes], ...]
_POLL_LIMIT = 64
_WAIT = 0.05
_TABLES = [topic.name for topic in topics.TOPICS.values() if topic.name not in
           (topics.PAGES, topics.FINGERPRINTS)]  # fmt: skip
_SCHEMA = "\n".join(
    [
        f'CREATE TABLE IF NOT EXISTS "{name}" (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT '
        "NOT NULL, value BLOB, headers BLOB NOT NULL, at INTEGER NOT NULL);"
        + (
            f'CREATE UNIQUE INDEX IF NOT EXISTS "{name} key" ON "{name}" (key);'
            if topics.TOPICS[name].cleanup == "compact"
            else ""
        )
        for name in _TABLES
    ]
    + [
        "CREATE TABLE IF NOT EXISTS offsets (reader TEXT, topic TEXT, part INTEGER, "
        "next INTEGER NOT NULL, PRIMARY KEY (reader, topic, part)) WITHOUT ROWID;"
    ]
)


class LocalBus:
    """All topics of a directory, one partition each."""

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory)
        self._lock: IO[str] | None = None

    def lock(self) -> None:
        """Become the one process that writes here."""
        with _told(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
            lock = (self.directory / "lock").open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise Unreachable(
                f"{self.directory} is in use by process {holder}: wait for it, or give --bus "
                "another directory"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock

    def outlet(self) -> LocalOutlet:
        """A new outlet, for the thread that asks."""
        return LocalOutlet(self.directory)

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
        self, topic: str, *, follow: bool = False, stop: Callable[[], bool] | None = None
    ) -> Iterator[Message]:
        """All messages of a topic, then with `follow` those that come."""
        if not follow and not self.directory.is_dir():
            return
        reader = _reader(self.directory, topic, None)
        compacted = topics.TOPICS[topic].cleanup == "compact"
        try:
            with _told(self.directory):
                if not follow:
                    # Or a message that is replaced meanwhile is seen twice, or not at all.
                    reader.freeze()
                then = reader.end()
            while True:
                with _told(self.directory):
                    found = reader.read(_POLL_LIMIT)
                for message in found:
                    # A tombstone is news to whoever follows; as of now the key is just not there.
                    if message.value is not None or not compacted or message.offset >= then:
                        yield message
                if found:
                    continue
                if not follow or (stop is not None and stop()):
                    return
                time.sleep(_WAIT)
        finally:
            reader.close()

    def check(self) -> None:
        """Raise where the directory cannot be written, or the database is damaged."""
        with _told(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
            probe = self.directory / f".probe-{os.getpid()}"
            probe.write_bytes(b"")
            probe.unlink()
            with _connect(self.directory) as database:
                found = database.execute("PRAGMA quick_check").fetchone()[0]
        if found != "ok":
            raise BusBroken(f"{self.directory / DATABASE} is damaged: {found}")

    def close(self) -> None:
        """Let other processes write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None


class LocalOutlet:
    """Sends; a flush is one transaction and one fsync per log."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        with _told(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._database = _connect(directory)
        self._logs: dict[str, LogWriter] = {}
        self._rows: list[Outgoing] = []
        self._closed = False

    def send(self, message: Outgoing) -> None:
        """Take the message; it is safe after `flush`."""
        topic = topics.TOPICS[message.topic]
        size = len(message.value or b"") + len(message.key.encode())
        size += sum(len(name) + len(value) for name, value in message.headers)
        if size > topic.message_bytes:
            raise TooLarge(
                f"a message of {size} bytes for {topic.name}, which takes {topic.message_bytes}"
            )
        if message.topic in _TABLES:
            self._rows.append(message)
            return
        entry = Entry(message.key, message.value, message.headers, _now_ms())
        with _told(self._directory):
            self.log(message.topic).append(entry)

    def log(self, topic: str) -> LogWriter:
        """The log of a topic that is kept in files."""
        if topic not in self._logs:
            self._logs[topic] = LogWriter(self._directory / topic)
        return self._logs[topic]

    def flush(self) -> None:
        """Return when everything sent is on disk."""
        with _told(self._directory):
            for log in self._logs.values():
                log.sync()
            if self._rows:
                now = _now_ms()
                with self._database:
                    for topic, rows in groupby(self._rows, key=lambda row: row.topic):
                        self._database.executemany(
                            f'INSERT OR REPLACE INTO "{topic}" (key, value, headers, at) '  # noqa: S608 - a name of ours
                            "VALUES (?, ?, ?, ?)",
                            [(row.key, row.value, _stored(row.headers), now) for row in rows],
                        )
                self._rows.clear()

    def partitions(self, topic: str) -> int:
        """One."""
        return 1

    def partition_for(self, topic: str, key: str) -> int:
        """The only one."""
        return 0

    def close(self) -> None:
        """Flush, and release the files."""
        if self._closed:
            return
        self._closed = True
        try:
            self.flush()
        finally:
            self._database.close()
            with _told(self._directory):
                for log in self._logs.values():
                    log.close()


class LocalInlet:
    """Reads topics from the offsets that its group committed."""

    def __init__(
        self, directory: Path, group: str, names: Sequence[str], on_assigned: OnAssigned | None
    ) -> None:
        self._directory = directory
        self._group = group
        self._parts = [Partition(name, 0) for name in names]
        with _told(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._database = _connect(directory)
        self._readers: dict[Partition, _Reader] = {}
        self._on_assigned = on_assigned

    def poll(self, timeout: float) -> list[Message]:
        """The next messages."""
        if self._on_assigned is not None:
            called, self._on_assigned = self._on_assigned, None
            called(self._parts)
        until = time.monotonic() + timeout
        while True:
            found: list[Message] = []
            for part in self._parts:
                found += self._reader(part).read(_POLL_LIMIT)
            left = until - time.monotonic()
            if found or left <= 0:
                return found
            time.sleep(min(_WAIT, left))

    def _reader(self, part: Partition) -> _Reader:
        if part not in self._readers:
            self.seek({part: self.committed().get(part, BEGINNING)})
        return self._readers[part]

    def committed(self) -> dict[Partition, int]:
        """What the group has done."""
        with _told(self._directory):
            rows = self._database.execute(
                "SELECT topic, part, next FROM offsets WHERE reader = ?", (self._group,)
            ).fetchall()
        return {Partition(topic, part): following for topic, part, following in rows}

    def seek(self, offsets: Offsets) -> None:
        """Read on from here."""
        for part, offset in offsets.items():
            if part in self._readers:
                self._readers[part].close()
            start = None if offset == BEGINNING else offset
            reader = _reader(self._directory, part.topic, start)
            self._readers[part] = reader
            end = reader.end()
            if offset > end:
                raise BusBroken(
                    f"{self._directory}: {part.topic} ends at offset {end}, yet {self._group} is "
                    f"done up to {offset}: the directory was damaged or partly restored"
                )

    def commit(self, offsets: Offsets) -> None:
        """Everything before these offsets is done."""
        with _told(self._directory), self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO offsets VALUES (?, ?, ?, ?)",
                [(self._group, *part, offset) for part, offset in offsets.items()],
            )

    def lag(self) -> Mapping[Partition, int]:
        """How many messages are waiting."""
        return {part: reader.end() - reader.offset for part, reader in self._readers.items()}

    def close(self) -> None:
        """Release the files."""
        for reader in self._readers.values():
            reader.close()
        self._database.close()


class _LogReader:
    """A topic that is kept in files, as messages."""

    def __init__(self, directory: Path, topic: str, offset: int | None) -> None:
        self._part = Partition(topic, 0)
        self._directory = directory / topic
        self._log = LogReader(self._directory, offset)

    @property
    def offset(self) -> int:
        return self._log.offset

    def read(self, limit: int) -> list[Message]:
        return [
            Message(self._part, offset, entry.key, entry.value, entry.headers, entry.timestamp_ms)
            for offset, entry in self._log.read(limit)
        ]

    def freeze(self) -> None:
        """A log only grows: what was read stays as it is."""

    def end(self) -> int:
        probe = LogReader(self._directory)
        try:
            return probe.skip_to_end()
        finally:
            probe.close()

    def close(self) -> None:
        self._log.close()


class _TableReader:
    """A topic that is kept in a table, as messages: an offset is the number of its row."""

    def __init__(self, directory: Path, topic: str, offset: int | None) -> None:
        self._part = Partition(topic, 0)
        self._database = _connect(directory, read_only=True)
        self.offset = offset or 0

    def read(self, limit: int) -> list[Message]:
        rows = self._database.execute(
            f'SELECT seq, key, value, headers, at FROM "{self._part.topic}" '  # noqa: S608 - a name of ours
            "WHERE seq > ? ORDER BY seq LIMIT ?",  # rows count from 1, offsets from 0
            (self.offset, limit),
        ).fetchall()
        if rows:
            self.offset = rows[-1][0]
        return [
            Message(self._part, seq - 1, key, value, _headers(headers), at)
            for seq, key, value, headers, at in rows
        ]

    def freeze(self) -> None:
        """See the table as it is now, whatever is written meanwhile."""
        self._database.execute("BEGIN")

    def end(self) -> int:
        found = self._database.execute(f'SELECT MAX(seq) FROM "{self._part.topic}"').fetchone()  # noqa: S608 - a name of ours
        return max(self.offset, found[0] or 0)

    def close(self) -> None:
        self._database.close()


_Reader = _LogReader | _TableReader


def _reader(directory: Path, topic: str, offset: int | None) -> _Reader:
    with _told(directory):
        if topic in _TABLES:
            return _TableReader(directory, topic, offset)
        return _LogReader(directory, topic, offset)


def _connect(directory: Path, *, read_only: bool = False) -> sqlite3.Connection:
    path = directory / DATABASE
    if read_only and path.exists():
        return sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)
    directory.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=30)
    found = database.execute("PRAGMA user_version").fetchone()[0]
    if found not in (0, FORMAT):
        database.close()
        raise BusBroken(
            f"{path} has format {found}, this reusewatch reads {FORMAT}: use the one that wrote "
            "it, or give --bus another directory and replay"
        )
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.executescript(_SCHEMA + f"PRAGMA user_version = {FORMAT};")
    return database


@contextmanager
def _told(directory: Path) -> Iterator[None]:
    """Errors of the disk in the words of the bus, with what to do."""
    try:
        yield
    except BusError:
        raise
    except OSError as error:
        hint = "free some space and run it again" if error.errno == errno.ENOSPC else "check it"
        raise Unreachable(f"{directory}: {error.strerror or error}: {hint}") from error
    except sqlite3.OperationalError as error:
        full = "full" in str(error) or "disk I/O" in str(error)
        hint = "free some space and run it again" if full else "check that it can be written"
        raise Unreachable(f"{directory / DATABASE}: {error}: {hint}") from error
    except sqlite3.DatabaseError as error:
        raise BusBroken(
            f"{directory / DATABASE} is damaged: {error}. Move the state directory away and replay"
        ) from error


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@lru_cache(maxsize=256)  # those of a topic are the same but for its alerts
def _stored(headers: Headers) -> bytes:
    return msgspec.msgpack.encode(headers)


def _headers(stored: bytes) -> Headers:
    return msgspec.msgpack.decode(stored, type=Headers)
