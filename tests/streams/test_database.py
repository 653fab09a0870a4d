"""The database of a local bus, as a file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from reusewatch.streams import topics
from reusewatch.streams.bus import Outgoing
from reusewatch.streams.local import DATABASE, LocalBus
from reusewatch.streams.local.database import connect
from reusewatch.streams.local.reading import Reading

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


def send(directory: Path, key: str) -> None:
    outlet = LocalBus(directory).outlet()
    outlet.send(Outgoing(topics.VERDICTS, key, b"{}"))
    outlet.close()


def test_what_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    send(tmp_path, "a")
    counted: list[int] = []

    def count(database: sqlite3.Connection) -> int:
        counted.append(database.execute("SELECT COUNT(*) FROM verdicts").fetchone()[0])
        if len(counted) == 1:
            send(tmp_path, "b")
        return counted[-1]

    with closing(Reading(tmp_path)) as reading:
        assert reading.ask(count) == 2
        assert counted == [1, 2]
        send(tmp_path, "c")
        assert reading.ask(count) == 3


def test_a_database_at_rest_is_read_without_files_beside_it(tmp_path: Path) -> None:
    send(tmp_path, "a")
    names = {path.name for path in tmp_path.iterdir()}
    with closing(Reading(tmp_path)) as reading:
        assert reading.rows("SELECT key FROM verdicts") == [("a",)]
        assert {path.name for path in tmp_path.iterdir()} == names
