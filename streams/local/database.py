"""The database of a local bus: compacted topics as tables, and the offsets of all readers.

Errors of the disk are told in the words of the bus, with what to do about them.
"""

from __future__ import annotations

import errno
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import msgspec

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, BusError, NoRoom, Unreachable
from reusewatch.streams.local.generation import (
    DATABASE,
    LOGS,
    SCHEMA,
    mark_of,
    require_logs,
    require_none,
)
from reusewatch.streams.wire import UNREADABLE

FORMAT = 1
Headers = tuple[tuple[str, bytes], ...]
POLL_LIMIT = 64
WAIT = 0.05
CHECK_SECONDS = 5.0
# Another process, such as one that makes a copy, may have the database for so long.
BUSY_SECONDS = 30.0
_PAGE_BYTES = 8192
_MAKE_ROOM = "free some space and run it again"
# Readers of the table `offsets` that are no groups: how far logs were flushed, and spools judged,
FLUSHED = "log"
SPOOLED = "spool"
# and which cursor of a replay stood for all that was flushed.
REPLAYED = "replay"
TABLES = [topic.name for topic in topics.TOPICS.values() if topic.name not in LOGS]
# What SQLite says of a damaged file, although it calls that a fault of the operation.
_DAMAGE = ("decode to UTF-8", "no such table", "no such column", "malformed", "unsupported file")
_SCHEMA = "\n".join(
    [
        f'CREATE TABLE IF NOT EXISTS "{name}" (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT '
        "NOT NULL, value BLOB, headers BLOB NOT NULL, at INTEGER NOT NULL);"
        + (
            f'CREATE UNIQUE INDEX IF NOT EXISTS "{name} key" ON "{name}" (key);'
            if topics.TOPICS[name].cleanup == "compact"
            else ""
        )
        for name in TABLES
    ]
    + [
        # The same damage, replayed again, is the same letter. Only what is keyed by an id: letters
        # of before had other keys, of which many may be the same.
        f'CREATE UNIQUE INDEX IF NOT EXISTS "{topics.DEAD_LETTERS} id" '
        f'ON "{topics.DEAD_LETTERS}" (key) '
        "WHERE length(key) = 32 AND key NOT GLOB '*[^0-9a-f]*';"
    ]
    + [
        "CREATE TABLE IF NOT EXISTS offsets (reader TEXT, topic TEXT, part INTEGER, "
        "next INTEGER NOT NULL, PRIMARY KEY (reader, topic, part)) WITHOUT ROWID;",
        SCHEMA,
    ]
)


def connect(directory: Path) -> sqlite3.Connection:
    """The database of a directory, to write to; made if it is a new one.

    Raises Parted where it belongs elsewhere.

    Threads may share it, as long as one of them at a time uses it."""
    path = directory / DATABASE
    if not path.exists():
        # A new one beside the logs of another would look like a bus on which nothing was found.
        require_none(directory)
    database = _made(directory, path)
    try:
        require_logs(directory, mark_of(database))
    except BaseException:
        database.close()
        raise
    return database


def _made(directory: Path, path: Path) -> sqlite3.Connection:
    directory.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        _prepare(database, path)
    except BaseException:
        database.close()
        raise
    return database


def require_format(database: sqlite3.Connection, path: Path) -> bool:
    """Whether the database has its tables. BusBroken where another version of ours made them."""
    found: int = database.execute("PRAGMA user_version").fetchone()[0]
    if found not in (0, FORMAT):
        raise BusBroken(
            f"{path} has format {found}, this reusewatch reads {FORMAT}: use the one that wrote "
            "it, or give --bus another directory and replay"
        )
    return found == FORMAT


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    require_format(database, path)
    # Of a new file: rows are verdicts of a kilobyte, and by their keys they are on pages all over.
    database.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    # At once: who reads meanwhile sees all of it or nothing, and so does who comes after a crash.
    database.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}PRAGMA user_version = {FORMAT};COMMIT;")


def damaged(directory: Path, what: object) -> str:
    return (
        f"{directory / DATABASE} is damaged: {what}. Put back a copy of the whole directory, or "
        "run `reusewatch replay … --restart`: it sets aside what is there, and begins with an "
        "empty bus"
    )


@contextmanager
def told(directory: Path) -> Iterator[None]:
    """Errors of the disk in the words of the bus, with what to do."""
    try:
        yield
    except BusError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoom(f"{directory}: {error.strerror}: {_MAKE_ROOM}") from error
        raise Unreachable(f"{directory}: {error.strerror or error}: check it") from error
    except sqlite3.OperationalError as error:
        if any(word in str(error) for word in _DAMAGE):
            raise BusBroken(damaged(directory, error)) from error
        where = f"{directory / DATABASE}: {error}"
        if "full" in str(error) or "disk I/O" in str(error):
            raise NoRoom(f"{where}: {_MAKE_ROOM}") from error
        raise Unreachable(f"{where}: check that it can be written") from error
    except sqlite3.DatabaseError as error:
        raise BusBroken(damaged(directory, error)) from error


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@lru_cache(maxsize=256)  # those of a topic are the same but for its alerts
def stored(headers: Headers) -> bytes:
    return msgspec.msgpack.encode(headers)


@lru_cache(maxsize=256)
def size_of(headers: Headers) -> int:
    """How many bytes they have, as the bound of a message counts them."""
    return sum(len(name) + len(value) for name, value in headers)


def headers_of(stored: bytes) -> Headers:
    try:
        return msgspec.msgpack.decode(stored, type=Headers)
    except (*UNREADABLE, TypeError) as error:
        raise sqlite3.DatabaseError(f"the headers of a row cannot be read: {error}") from error
