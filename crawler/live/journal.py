"""Which requests of a crawl wait, and which URLs it has seen: what a kill -9 leaves as it was.

Scrapy notes both when a crawl ends well: killed, it begins with nothing, or with URLs that count as
seen and were never fetched. Here a request is noted before it is queued, and leaves when its page
is on the bus and its links are noted. A commit has all of that or nothing: so what is lost in a
crash is asked for again, and no URL is lost. One table of SQLite each, in one file.
"""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reusewatch.crawler.errors import SourceError

FILE = "requests.sqlite"
# Set in the meta of a request that was not sent, and is to be when the crawl goes on.
AGAIN = "_reusewatch_again"
_VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS seen (fingerprint BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (number INTEGER PRIMARY KEY AUTOINCREMENT, request BLOB);
"""


class Journal:
    """The notes of one job. Everything since the last commit is lost with the process."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self._path, timeout=0, isolation_level=None)
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._begin_version()
            # From here on it always writes: a second crawl of this job finds it locked.
            self._database.execute("BEGIN IMMEDIATE")
        except (sqlite3.Error, OSError) as error:
            raise SourceError(f"--job {directory}: {error}: is another crawl at it?") from error

    def _begin_version(self) -> None:
        (found,) = self._database.execute("PRAGMA user_version").fetchone()
        if found not in (0, _VERSION):
            raise SourceError(f"{self._path} is of version {found}: name another --job")
        self._database.executescript(f"{_TABLES} PRAGMA user_version = {_VERSION};")

    def seen(self) -> Iterator[bytes]:
        """The fingerprints of what was asked for."""
        return (row[0] for row in self._database.execute("SELECT fingerprint FROM seen"))

    def waiting(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """What is to be fetched, in the order in which it was noted."""
        rows = self._database.execute("SELECT number, request FROM waiting ORDER BY number")
        for number, request in rows:
            yield number, pickle.loads(request)  # noqa: S301 - this crawl's own notes

    def add(self, fingerprint: bytes | None, request: Mapping[str, Any]) -> int:
        """Note a request, and its number."""
        if fingerprint is not None:
            self._database.execute("INSERT OR IGNORE INTO seen VALUES (?)", (fingerprint,))
        row = self._database.execute(
            "INSERT INTO waiting (request) VALUES (?)", (pickle.dumps(request, protocol=4),)
        )
        assert row.lastrowid is not None  # noqa: S101 - of an insert
        return row.lastrowid

    def done(self, numbers: Iterable[int]) -> None:
        """These need not be fetched any more."""
        rows = [(number,) for number in numbers]
        self._database.executemany("DELETE FROM waiting WHERE number = ?", rows)

    def commit(self) -> None:
        """What was noted survives this process."""
        self._database.execute("COMMIT")
        self._database.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Commit, and let others have the job."""
        self._database.execute("COMMIT")
        self._database.close()
