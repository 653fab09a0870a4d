"""The database of a local bus, as a file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.local import DATABASE, LocalBus
from reusewatch.streams.local.database import connect

OF_BEFORE, OF_NOW = 4096, 8192


def page_bytes(directory: Path) -> int:
    with closing(connect(directory)) as database:
        found: int = database.execute("PRAGMA page_size").fetchone()[0]
        return found


def test_a_new_file_has_pages_for_several_verdicts(tmp_path: Path) -> None:
    assert page_bytes(tmp_path) == OF_NOW


def test_a_file_of_before_keeps_its_pages_and_takes_messages(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute(f"PRAGMA page_size = {OF_BEFORE}")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE beside (key TEXT)")
    bus = LocalBus(tmp_path)
    outlet = bus.outlet()
    outlet.send(Outgoing(topics.VERDICTS, "k", b"{}"))
    outlet.close()
    assert [message.value for message in bus.read(topics.VERDICTS)] == [b"{}"]
    bus.close()
    assert page_bytes(tmp_path) == OF_BEFORE
