"""What belongs together on a local bus, and how it is known.

The database, the logs, the snapshots and the cursors of replays speak of one another: a snapshot
remembers which alerts were sent, and does not send them again. With another database beside it,
those alerts would be lost, and nobody would know. So a database has a *generation*, a random
number that it gets when it is made; each log names it, and what is kept beside the bus carries a
*mark*: the generation, and how many rows had been written by then. A bus that has another
generation, or fewer rows than a mark says, is not the one that the mark was made on.

Knows files and their names; never mends anything.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from reusewatch.streams import topics
from reusewatch.streams.bus import Parted
from reusewatch.streams.disk import replace_file

DATABASE = "bus.sqlite"
STAMP = "generation"
LOGS = (topics.PAGES, topics.FINGERPRINTS)
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS generation (id TEXT NOT NULL);"
    "INSERT INTO generation SELECT lower(hex(randomblob(16))) "
    "WHERE NOT EXISTS (SELECT 1 FROM generation);"
)
_DO = (
    "Put back what is missing, or run `reusewatch replay … --restart`: it sets aside what is "
    "there, and begins with an empty bus"
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A database at a moment: which one it is, and how many rows were ever written to it."""

    generation: str
    written: int

    def __str__(self) -> str:
        return f"{self.generation}/{self.written}"

    @classmethod
    def of(cls, text: str) -> Mark:
        """The mark that was written as this text."""
        generation, _, written = text.partition("/")
        return cls(generation, int(written or 0))


def mark_of(database: sqlite3.Connection) -> Mark | None:
    """The mark as of now; None for a database that was made before there were generations."""
    named = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'generation'").fetchone()
    if named is None:
        return None
    row = database.execute("SELECT id FROM generation").fetchone()
    if row is None:
        return None
    generation = row[0]
    written = database.execute("SELECT TOTAL(seq) FROM sqlite_sequence").fetchone()[0]
    return Mark(generation, int(written))


def _stamps(directory: Path) -> dict[Path, str]:
    """The generation that each log names; a log that is made just now has none yet."""
    found = {}
    for topic in LOGS:
        try:
            named = (directory / topic / STAMP).read_text("ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            continue
        if named:
            found[directory / topic] = named
    return found


def is_stamped(directory: Path) -> bool:
    """Whether there is a log of a bus."""
    return bool(_stamps(directory))


def stamp(log: Path, generation: str) -> None:
    """A log names the generation that it belongs to, from its beginning."""
    path = log / STAMP
    if path.exists() and path.stat().st_size:
        return
    # An empty file under the name would be of a bus that belongs to nobody.
    replace_file(path, f"{generation}\n".encode("ascii"))


def require_none(directory: Path) -> None:
    """Raise Parted where there are logs without the database that they belong to."""
    for log in _stamps(directory):
        raise Parted(f"{directory / DATABASE} is gone, and {log} belongs to it. {_DO}")


def require_logs(directory: Path, mark: Mark | None) -> None:
    """Raise Parted where a log belongs to another database."""
    for log, generation in _stamps(directory).items():
        if mark is not None and generation != mark.generation:
            raise Parted(f"{log} belongs to another {DATABASE} than {directory / DATABASE}. {_DO}")


def require_mark(directory: Path, now: Mark | None, text: str, what: str) -> None:
    """Raise Parted where a file was written beside another database, or beside a later state."""
    then = Mark.of(text)
    if now is None or now.generation != then.generation:
        raise Parted(f"{what} belongs to another {DATABASE} than that in {directory}. {_DO}")
    if now.written < then.written:
        raise Parted(
            f"{directory / DATABASE} is older than {what}: it has {now.written} rows of the "
            f"{then.written} that were written by then. {_DO}"
        )


class Opened:
    """The files of a database that is open, so that it is seen when they are taken away."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / DATABASE
        self._known = self._names()

    def _names(self) -> list[tuple[int, int] | None]:
        # A file that is open keeps its number, also once it was removed: no new file can have it.
        return [_number(self._path.with_name(DATABASE + end)) for end in ("", "-wal")]

    def require(self) -> None:
        """Raise Parted where the files are gone, or are others: nobody reads what is written."""
        if self._names() != self._known:
            raise Parted(
                f"{self._path} was removed or replaced while it was written to: what was found "
                f"since then is lost. {_DO}"
            )


def _number(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
