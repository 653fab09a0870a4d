"""What a local bus gives up to stay small: its oldest verdicts and dead letters.

Nothing is read back from these two: they are there to be looked at. All else stays. The index is
made anew from fingerprints, which have a bound of their own, the window; the other topics hold
findings, labels and how far everybody has come.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from reusewatch.streams import topics

PRUNED = (topics.VERDICTS, topics.DEAD_LETTERS)
# Rows that leave together: one transaction each, so that a reader waits for no long one.
_STEP = 2000
# Below the bound by so much, or every commit would have to make room.
_SLACK = 0.9


def used(database: sqlite3.Connection) -> int:
    """Bytes of the database that hold something. The file never shrinks, and fills up again."""
    pages, free, size = (
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def keep_within(database: sqlite3.Connection, most: int) -> dict[str, int]:
    """Give up the oldest rows until the database uses less than `most` bytes; how many left.

    Where everything else takes more than that, all verdicts and dead letters are gone in the end.
    """
    removed = dict.fromkeys(PRUNED, 0)
    if used(database) <= most:
        return removed
    while used(database) > most * _SLACK and (topic := _oldest(database)) is not None:
        with database:
            removed[topic] += database.execute(
                f'DELETE FROM "{topic}" WHERE seq IN '  # noqa: S608 - a name of ours
                f'(SELECT seq FROM "{topic}" ORDER BY seq LIMIT ?)',
                (_STEP,),
            ).rowcount
    return removed


def remove_older(database: sqlite3.Connection, before_ms: int) -> dict[str, int]:
    """Give up the rows that came before this time; how many left."""
    removed = {}
    for topic in PRUNED:
        with database:
            removed[topic] = database.execute(
                f'DELETE FROM "{topic}" WHERE at < ?',  # noqa: S608 - a name of ours
                (before_ms,),
            ).rowcount
    return removed


def _oldest(database: sqlite3.Connection) -> str | None:
    """The topic whose first row has been there the longest."""
    found = []
    for topic in PRUNED:
        row = database.execute(f'SELECT at FROM "{topic}" ORDER BY seq LIMIT 1').fetchone()  # noqa: S608 - a name of ours
        if row is not None:
            found.append((row[0], topic))
    return min(found)[1] if found else None


def sizes(directory: Path) -> Mapping[str, int]:
    """Bytes on disk of each file or folder of a bus; what goes away meanwhile has none."""
    return {path.name: _bytes(path) for path in sorted(directory.iterdir())}


def _bytes(path: Path) -> int:
    try:
        return sum(map(_bytes, path.iterdir())) if path.is_dir() else path.stat().st_size
    except FileNotFoundError:
        return 0
