"""Reading from a local bus: a group goes on from the offsets that it committed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from reusewatch.streams.bus import BEGINNING, BusBroken, Message, Offsets, OnAssigned, Partition
from reusewatch.streams.local.database import POLL_LIMIT, WAIT, connect, told
from reusewatch.streams.local.generation import Opened
from reusewatch.streams.local.readers import Reader, reader_of


class LocalInlet:
    """Reads topics from the offsets that its group committed."""

    def __init__(
        self, directory: Path, group: str, names: Sequence[str], on_assigned: OnAssigned | None
    ) -> None:
        self._directory = directory
        self._group = group
        self._parts = [Partition(name, 0) for name in names]
        with told(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._database = connect(directory)
        self._opened = Opened(directory)
        self._readers: dict[Partition, Reader] = {}
        self._on_assigned = on_assigned

    def poll(self, timeout: float) -> list[Message]:
        """The next messages."""
        if self._on_assigned is not None:
            called, self._on_assigned = self._on_assigned, None
            called(self._parts)
        until = time.monotonic() + timeout
        while True:
            found: list[Message] = []
            for part in self._parts:
                found += self._reader(part).read(POLL_LIMIT)
            left = until - time.monotonic()
            if found or left <= 0:
                return found
            time.sleep(min(WAIT, left))

    def _reader(self, part: Partition) -> Reader:
        if part not in self._readers:
            self.seek({part: self.committed().get(part, BEGINNING)})
        return self._readers[part]

    def committed(self) -> dict[Partition, int]:
        """What the group has done."""
        with told(self._directory):
            rows = self._database.execute(
                "SELECT topic, part, next FROM offsets WHERE reader = ?", (self._group,)
            ).fetchall()
        return {Partition(topic, part): following for topic, part, following in rows}

    def seek(self, offsets: Offsets) -> None:
        """Read on from here."""
        for part, offset in offsets.items():
            if part in self._readers:
                self._readers[part].close()
            start = None if offset == BEGINNING else offset
            reader = reader_of(self._directory, part.topic, start)
            self._readers[part] = reader
            end = reader.end()
            if offset > end:
                raise BusBroken(
                    f"{self._directory}: {part.topic} ends at offset {end}, yet {self._group} is "
                    f"done up to {offset}: the directory was damaged or partly restored. Put back "
                    "a copy of all of it, or run `reusewatch replay … --restart`: it sets aside "
                    "what is there, and begins with an empty bus"
                )

    def commit(self, offsets: Offsets) -> None:
        """Everything before these offsets is done."""
        self._opened.require()
        with told(self._directory), self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO offsets VALUES (?, ?, ?, ?)",
                [(self._group, *part, offset) for part, offset in offsets.items()],
            )
        self._opened.require()

    def joined(self) -> bool:
        """Whether this reader has its share: here it has all."""
        return True

    def lag(self) -> Mapping[Partition, int]:
        """How many messages are waiting."""
        return {part: reader.end() - reader.offset for part, reader in self._readers.items()}

    def close(self) -> None:
        """Release the files."""
        for reader in self._readers.values():
            reader.close()
        self._database.close()
