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
from urllib.parse import quote

import msgspec

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, BusError, Unreachable

DATABASE = "bus.sqlite"
FORMAT = 1
Headers = tuple[tuple[str, bytes], ...]
POLL_LIMIT = 64
WAIT = 0.05
TABLES = [topic.name for topic in topics.TOPICS.values() if topic.name not in
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
        "next INTEGER NOT NULL, PRIMARY KEY (reader, topic, part)) WITHOUT ROWID;"
    ]
)


def connect(directory: Path, *, read_only: bool = False) -> sqlite3.Connection:
    path = directory / DATABASE
    if read_only and path.exists():
        return sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=30)
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
def told(directory: Path) -> Iterator[None]:
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


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@lru_cache(maxsize=256)  # those of a topic are the same but for its alerts
def stored(headers: Headers) -> bytes:
    return msgspec.msgpack.encode(headers)


def headers_of(stored: bytes) -> Headers:
    return msgspec.msgpack.decode(stored, type=Headers)
