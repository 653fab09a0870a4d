"""The database of a local bus, read so that nothing in its directory changes.

SQLite makes two files beside a database that is read in the usual way, and leaves them there. So
one that no process has open is read as a file that never changes (`immutable`). A process that
opens it meanwhile changes the files: then what was just read counts for nothing, the database is
opened in the usual way, and the same is read again.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from reusewatch.streams.bus import BusBroken, Unreachable
from reusewatch.streams.local.database import (
    BUSY_SECONDS,
    CHECK_SECONDS,
    damaged,
    require_format,
    told,
)
from reusewatch.streams.local.generation import (
    DATABASE,
    is_stamped,
    mark_of,
    require_logs,
    require_none,
)
from reusewatch.streams.local.spools import LOCK, SPOOLS, is_locked

T = TypeVar("T")
File = tuple[int, int, int] | None


def require_bus(directory: Path) -> None:
    """Raise Unreachable where a directory is not there, or holds no bus."""
    if is_stamped(directory) or any((directory / x).exists() for x in (DATABASE, SPOOLS, LOCK)):
        return
    what = (
        f"{directory} holds no bus" if directory.is_dir() else f"there is no directory {directory}"
    )
    raise Unreachable(f"{what}: replay something, or name --bus")


class Reading:
    """Asks the database of a directory; one that is not there yet has no rows."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._path = directory / DATABASE
        self._database: sqlite3.Connection | None = None
        # As they were when the database was opened as one that never changes.
        self._files: tuple[File, File] | None = None
        self._frozen = False

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """The rows of a query."""
        return self.ask(lambda database: database.execute(query, parameters).fetchall()) or []

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T | None:
        """What is found in the database; None where there is none yet."""
        while True:
            try:
                database = self._opened()
                found = None if database is None else question(database)
            except (sqlite3.Error, BusBroken):
                if not self._has_changed():
                    self.close()
                    raise
            else:
                if not self._has_changed():
                    return found
            self.close()

    def freeze(self) -> None:
        """See the database as it is when it is opened, whatever is written meanwhile. Where it was
        at rest and is written to, it is seen as it is then."""
        self._frozen = True

    def interrupt(self) -> None:
        """End the query that another thread runs."""
        if self._database is not None:
            self._database.interrupt()

    def close(self) -> None:
        """Release the files."""
        if self._database is not None:
            self._database.close()
        self._database, self._files = None, None

    def _opened(self) -> sqlite3.Connection | None:
        if self._database is not None:
            return self._database
        if not self._path.exists():
            # Logs without it are no empty bus.
            require_none(self._directory)
            return None
        files = self._now()
        # What a process has written lately is in the write-ahead log alone.
        at_rest = not files[1] or not files[1][-1]
        how = "immutable=1" if at_rest else "mode=ro"
        self._database = sqlite3.connect(
            f"file:{quote(str(self._path))}?{how}",
            uri=True,
            timeout=BUSY_SECONDS,
            check_same_thread=False,
        )
        self._files = files if at_rest else None
        if self._frozen and not at_rest:
            self._database.execute("BEGIN")
        if not require_format(self._database, self._path) and is_locked(self._directory):
            # Whoever has the lock makes the tables just now.
            self.close()
            return None
        require_logs(self._directory, mark_of(self._database))
        return self._database

    def _has_changed(self) -> bool:
        return self._files is not None and self._files != self._now()

    def _now(self) -> tuple[File, File]:
        return _known(self._path), _known(self._path.with_name(DATABASE + "-wal"))


def _known(path: Path) -> File:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def require_sound(directory: Path) -> None:
    """Raise BusBroken where the database is damaged, as far as a look of `CHECK_SECONDS` shows."""
    late = threading.Event()
    with told(directory), closing(Reading(directory)) as reading:

        def interrupt() -> None:
            late.set()
            reading.interrupt()

        timer = threading.Timer(CHECK_SECONDS, interrupt)
        # Where Ctrl-C comes while it is begun or cancelled, nobody could end it: the process would
        # wait for it.
        timer.daemon = True
        timer.start()
        try:
            found = reading.rows("PRAGMA quick_check(1)")
        except sqlite3.OperationalError:
            if not late.is_set():
                raise
            return
        finally:
            # Or it might interrupt whoever uses this connection's memory next.
            timer.cancel()
            timer.join()
    # Interrupted, it calls pages unused that it has not come to.
    if found not in ([], [("ok",)]) and not late.is_set():
        raise BusBroken(damaged(directory, found[0][0].replace("\n", " ")))
