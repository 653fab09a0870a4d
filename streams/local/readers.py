"""The topics of a local bus as messages, whether they are kept in files or in tables."""

from __future__ import annotations

from pathlib import Path

from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.local.database import TABLES, headers_of, told
from reusewatch.streams.local.reading import Reading
from reusewatch.streams.segments import LogReader


class _LogReader:
    """A topic that is kept in files, as messages."""

    def __init__(self, directory: Path, topic: str, offset: int | None) -> None:
        self._part = Partition(topic, 0)
        self._directory = directory / topic
        self._log = LogReader(self._directory, offset)

    @property
    def offset(self) -> int:
        return self._log.offset

    def read(self, limit: int) -> list[Message]:
        return [
            Message(self._part, offset, entry.key, entry.value, entry.headers, entry.timestamp_ms)
            for offset, entry in self._log.read(limit)
        ]

    def freeze(self) -> None:
        """A log only grows: what was read stays as it is."""

    def end(self) -> int:
        probe = LogReader(self._directory)
        try:
            return probe.skip_to_end()
        finally:
            probe.close()

    def close(self) -> None:
        self._log.close()


class _TableReader:
    """A topic that is kept in a table, as messages: an offset is the number of its row."""

    def __init__(self, directory: Path, topic: str, offset: int | None) -> None:
        self._part = Partition(topic, 0)
        self._database = Reading(directory)
        self.offset = offset or 0

    def read(self, limit: int) -> list[Message]:
        rows = self._database.rows(
            f'SELECT seq, key, value, headers, at FROM "{self._part.topic}" '  # noqa: S608 - a name of ours
            "WHERE seq > ? ORDER BY seq LIMIT ?",  # rows count from 1, offsets from 0
            (self.offset, limit),
        )
        if rows:
            self.offset = rows[-1][0]
        return [
            Message(self._part, seq - 1, key, value, headers_of(headers), at)
            for seq, key, value, headers, at in rows
        ]

    def freeze(self) -> None:
        """See the table as it is now, whatever is written meanwhile."""
        self._database.freeze()

    def end(self) -> int:
        found = self._database.rows(f'SELECT MAX(seq) FROM "{self._part.topic}"')  # noqa: S608 - a name of ours
        return max(self.offset, found[0][0] or 0) if found else self.offset

    def close(self) -> None:
        self._database.close()


Reader = _LogReader | _TableReader


def reader_of(directory: Path, topic: str, offset: int | None) -> Reader:
    with told(directory):
        if topic in TABLES:
            return _TableReader(directory, topic, offset)
        return _LogReader(directory, topic, offset)
