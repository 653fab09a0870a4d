"""Sending to a local bus: a flush is one transaction, and one sync of each log."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from reusewatch.streams import topics
from reusewatch.streams.bus import FlushedAtClose, Outgoing, TooLarge
from reusewatch.streams.local import pruning
from reusewatch.streams.local.database import TABLES, connect, now_ms, stored, told
from reusewatch.streams.local.generation import Opened, mark_of, stamp
from reusewatch.streams.segments import Entry, LogWriter


class LocalOutlet(FlushedAtClose):
    """Sends; a flush is one transaction and one fsync per log."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self._directory = directory
        with told(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._database = connect(directory)
        self._opened = Opened(directory)
        self._logs: dict[str, LogWriter] = {}
        self._rows: list[Outgoing] = []

    def send(self, message: Outgoing) -> None:
        """Take the message; it is safe after `flush`."""
        topic = topics.TOPICS[message.topic]
        size = len(message.value or b"") + len(message.key.encode())
        size += sum(len(name) + len(value) for name, value in message.headers)
        if size > topic.message_bytes:
            raise TooLarge(
                f"a message of {size} bytes for {topic.name}, which takes {topic.message_bytes}"
            )
        if message.topic in TABLES:
            self._rows.append(message)
            return
        entry = Entry(message.key, message.value, message.headers, now_ms())
        with told(self._directory):
            self.log(message.topic).append(entry)

    def log(self, topic: str) -> LogWriter:
        """The log of a topic that is kept in files."""
        if topic not in self._logs:
            self._logs[topic] = LogWriter(self._directory / topic)
            mark = mark_of(self._database)
            if mark is not None:
                stamp(self._directory / topic, mark.generation)
        return self._logs[topic]

    def flush(self) -> None:
        """Return when everything sent is on disk."""
        self._opened.require()
        with told(self._directory):
            for log in self._logs.values():
                log.sync()
            if self._rows:
                now = now_ms()
                with self._database:
                    for topic, rows in groupby(self._rows, key=lambda row: row.topic):
                        self._database.executemany(
                            f'INSERT OR REPLACE INTO "{topic}" (key, value, headers, at) '  # noqa: S608 - a name of ours
                            "VALUES (?, ?, ?, ?)",
                            [(row.key, row.value, stored(row.headers), now) for row in rows],
                        )
                self._rows.clear()
        self._opened.require()

    def keep_within(self, most: int) -> None:
        """Give up the oldest verdicts and dead letters where the tables take more bytes."""
        with told(self._directory):
            pruning.keep_within(self._database, most)

    def partitions(self, topic: str) -> int:
        """One."""
        return 1

    def partition_for(self, topic: str, key: str) -> int:
        """The only one."""
        return 0

    def _release(self) -> None:
        self._database.close()
        with told(self._directory):
            for log in self._logs.values():
                log.close()
