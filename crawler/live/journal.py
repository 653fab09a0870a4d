"""Which requests of a crawl wait, and which URLs it has seen: what a kill -9 leaves as it was.

Scrapy notes both when a crawl ends well: killed, it begins with nothing, or with URLs that count as
seen and were never fetched. Here a request is noted before it is queued, and leaves when its page
is on the bus and its links are noted. A commit has all of that or nothing: so what is lost in a
crash is asked for again, and no URL is lost. One table of SQLite each, in one file. A job belongs
to one process: it holds a lock of its own, since SQLite's is free for a moment at each commit.
"""

from __future__ import annotations

import fcntl
import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO

from reusewatch.crawler.errors import JobError, SourceError
from reusewatch.crawler.live.notes import Note, unpacked
from reusewatch.streams.trust import foreign_within, make_private

FILE = "requests.sqlite"
_LOCK = "requests.lock"
# What Scrapy's own scheduler leaves in a directory of jobs.
_OF_SCRAPY = ("requests.seen", "requests.queue")
_VERSION = 3
_TABLES = """
CREATE TABLE IF NOT EXISTS seen (fingerprint BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (number INTEGER PRIMARY KEY AUTOINCREMENT, request BLOB);
"""


class Journal:
    """The notes of one job. Everything since the last commit is lost with the process."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / FILE
        self._refuse_others()
        with ExitStack() as held:
            try:
                make_private(directory)
                self._refuse_strangers()
                held.enter_context(_locked(directory))
                database = sqlite3.connect(self._path, timeout=0, isolation_level=None)
                self._database = held.enter_context(closing(database))
                self._begin()
                # Found out once the crawl has begun, nobody would be told, and it would not end.
                deque(self.waiting(), maxlen=0)
            except (OSError, sqlite3.Error) as error:
                raise SourceError(f"--job {directory}: {error}") from error
            self._held = held.pop_all()

    def _refuse_others(self) -> None:
        """Begun anew in such a directory, what waits there would never be fetched."""
        left = [name for name in _OF_SCRAPY if (self._directory / name).exists()]
        if left and not self._path.exists():
            raise SourceError(
                f"--job {self._directory}: {left[0]} is there without {FILE}: a crawl that noted "
                "its requests otherwise cannot be gone on with; name another --job to begin anew"
            )

    def _refuse_strangers(self) -> None:
        """Notes decide which requests are sent, with which headers."""
        if why := foreign_within(self._directory.resolve()):
            raise SourceError(
                f"--job {self._directory}: {why}: a job belongs to the user who crawls, and no "
                "other may write there (chmod go-w); or name another --job"
            )

    def _begin(self) -> None:
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")
        self._begin_version()
        self._database.execute("BEGIN IMMEDIATE")

    def _begin_version(self) -> None:
        (found,) = self._database.execute("PRAGMA user_version").fetchone()
        if found not in (0, _VERSION):
            raise SourceError(f"{self._path} is of version {found}: name another --job")
        self._database.executescript(f"{_TABLES} PRAGMA user_version = {_VERSION};")

    def seen(self) -> Iterator[bytes]:
        """The fingerprints of what was asked for."""
        return (row[0] for row in self._database.execute("SELECT fingerprint FROM seen"))

    def waiting(self) -> Iterator[tuple[int, Note]]:
        """What is to be fetched, in the order in which it was noted."""
        rows = self._database.execute("SELECT number, request FROM waiting ORDER BY number")
        for number, request in rows:
            try:
                noted = unpacked(request)
            except ValueError as error:
                raise SourceError(
                    f"{self._path}: what is noted as request {number} cannot be read ({error}); "
                    "name another --job to begin anew"
                ) from error
            yield number, noted

    def add(self, fingerprint: bytes | None, note: bytes) -> int:
        """Note a request, and its number."""
        with self._told():
            if fingerprint is not None:
                self._database.execute("INSERT OR IGNORE INTO seen VALUES (?)", (fingerprint,))
            row = self._database.execute("INSERT INTO waiting (request) VALUES (?)", (note,))
        assert row.lastrowid is not None  # noqa: S101 - of an insert
        return row.lastrowid

    def done(self, numbers: Iterable[int]) -> None:
        """These need not be fetched any more."""
        rows = [(number,) for number in numbers]
        with self._told():
            self._database.executemany("DELETE FROM waiting WHERE number = ?", rows)

    def commit(self) -> None:
        """What was noted survives this process."""
        with self._told():
            self._database.execute("COMMIT")
            self._database.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Commit, and let others have the job."""
        try:
            with self._told():
                self._database.execute("COMMIT")
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let others have the job as it was at the last commit."""
        self._held.close()  # the database before the lock

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise JobError(
                f"--job {self._directory}: {error}; the crawl ends, and the same command goes on "
                "from what was noted before, once that is mended"
            ) from error


def _locked(directory: Path) -> IO[bytes]:
    """The lock of a job, held until it is closed, or its process ends."""
    lock = (directory / _LOCK).open("wb")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise SourceError(f"--job {directory}: another crawl is at it") from None
    return lock
