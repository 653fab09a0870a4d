"""How far the judge of a local bus has come, for the processes that bring pages.

One small file, `DIR/judged.json`, replaced after each commit: what it says is on disk. A process
that writes a spool, or wants to know whether there are new alerts, looks here and needs no
database. It is news and no state: positions stand in the database.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from reusewatch.streams.disk import replace_file
from reusewatch.streams.wire import UNREADABLE

FILE = "judged.json"


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """As of the last commit: how far each spool was judged; pages and alerts since the bus is."""

    pid: int = 0
    pages: int = 0
    alerts: int = 0
    spools: dict[str, int] = {}


def read_judged(directory: Path) -> Judged:
    """What the judge said last; nothing where none ever was."""
    try:
        return msgspec.json.decode((directory / FILE).read_bytes(), type=Judged)
    except (FileNotFoundError, NotADirectoryError, *UNREADABLE):
        return Judged()


def write_judged(directory: Path, judged: Judged) -> None:
    """Say it."""
    replace_file(directory / FILE, msgspec.json.encode(judged))
