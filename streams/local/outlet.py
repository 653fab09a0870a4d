"""Sending to a local bus: a flush is one transaction, and one sync of each log.

A flush that fails ends the outlet: its batch is gone, and no later one can stand for pages that the
batch had. Nothing is taken back from a log here. Whoever opens it next cuts it to where the
database says, so the log and what stands for it agree, whichever way a failed commit went.

Rows may be written by a thread beside whoever sends, one thread for all outlets of a bus: no two
of its transactions wait for each other, and a flush waits for what was begun before it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from reusewatch.streams import topics
from reusewatch.streams.bus import (
    BusBroken,
    BusError,
    FlushedAtClose,
    Outgoing,
    TooLarge,
    Unreachable,
)
from reusewatch.streams.local import pruning
from reusewatch.streams.local.database import (
    FLUSHED,
    REPLAYED,
    SPOOLED,
    TABLES,
    connect,
    now_ms,
    size_of,
    stored,
    told,
)
from reusewatch.streams.local.generation import Opened, mark_of, stamp
from reusewatch.streams.segments import Entry, LogWriter
from reusewatch.streams.threads import Promise, Threads

# Rows of a statement: between two of them a thread waits for Python's lock, milliseconds each time.
_ROWS = 128


@dataclass(slots=True)
class _Batch:
    """What one transaction makes safe: what was sent, and all that stands for it. Neither is ever
    written without the other."""

    # By topic, and what is compacted by key in the order in which it was sent: the last counts.
    rows: dict[str, dict[str | int, Outgoing]] = field(default_factory=dict)
    # How far each log goes, each spool was judged (None: it is gone), and each replay came.
    ends: dict[str, int] = field(default_factory=dict)
    positions: dict[str, int | None] = field(default_factory=dict)
    cursors: dict[str, int] = field(default_factory=dict)


class LocalOutlet(FlushedAtClose):
    """Sends; a flush is one transaction and one fsync per log."""

    def __init__(self, directory: Path, beside: Threads | None = None) -> None:
        """`beside`: the one thread that writes."""
        super().__init__()
        self._directory = directory
        self._beside = beside
        self._begun: Promise[None] | None = None
        with told(directory):
            directory.mkdir(parents=True, exist_ok=True)
            self._database = connect(directory)
        self._opened = Opened(directory)
        self._logs: dict[str, LogWriter] = {}
        # None while a step works on it, and for good once such a step has failed.
        self._batch: _Batch | None = _Batch()
        # As the database has them.
        self._ends: dict[str, int] = {}

    def _take(self) -> _Batch:
        """The batch, for a step that puts it back. After one that failed there is none."""
        batch, self._batch = self._batch, None
        if batch is None:
            raise Unreachable(
                f"{self._directory}: what was sent before could not be written: run it again; it "
                "goes on where it was last written"
            )
        return batch

    def stands_for(self, job: str, cursor: int) -> None:
        """With the next flush this cursor of a replay stands for all that it has brought."""
        batch = self._take()
        batch.cursors[job] = cursor
        self._batch = batch

    def remember(self, spool: str, position: int | None) -> None:
        """With the next flush a spool is judged up to here; None: it is gone."""
        batch = self._take()
        batch.positions[spool] = position
        self._batch = batch

    def judged(self) -> dict[str, int]:
        """How far each spool was judged, as of the last flush."""
        with told(self._directory):
            return dict(
                self._database.execute(
                    "SELECT topic, next FROM offsets WHERE reader = ?", (SPOOLED,)
                )
            )

    def send(self, *messages: Outgoing) -> None:
        """Take the messages; they are safe after `flush`."""
        for message in messages:
            _check_size(message)
        batch = self._take()
        for message in messages:
            self._add(batch, message)
        self._batch = batch

    def _add(self, batch: _Batch, message: Outgoing) -> None:
        if message.topic in TABLES:
            rows = batch.rows.setdefault(message.topic, {})
            key = message.key if topics.TOPICS[message.topic].cleanup == "compact" else len(rows)
            rows.pop(key, None)
            rows[key] = message
            return
        entry = Entry(message.key, message.value, message.headers, now_ms())
        with told(self._directory):
            self.log(message.topic).append(entry)

    def log(self, topic: str) -> LogWriter:
        """The log of a topic that is kept in files."""
        if topic not in self._logs:
            log = LogWriter(self._directory / topic)
            try:
                mark = mark_of(self._database)
                if mark is not None:
                    stamp(self._directory / topic, mark.generation)
                self._cut_unflushed(topic, log)
            except BaseException:
                log.close()
                raise
            self._logs[topic] = log
        return self._logs[topic]

    def _cut_unflushed(self, topic: str, log: LogWriter) -> None:
        """What was appended behind the last flush: its source brings it again, and not twice."""
        row = self._database.execute(
            "SELECT next FROM offsets WHERE reader = ? AND topic = ?", (FLUSHED, topic)
        ).fetchone()
        if row is None:  # a new log, or one from before this was noted
            with self._database:
                self._write_offsets(_Batch(ends={topic: log.end}))
        elif row[0] > log.end:
            raise BusBroken(
                f"{self._directory / topic} ends at offset {log.end}, and was flushed up to "
                f"{row[0]}: pages are missing. Put back a copy of the whole directory, or run "
                "`reusewatch replay … --restart`: it sets aside what is there, and begins with an "
                "empty bus"
            )
        else:
            log.cut(row[0])
        self._ends[topic] = log.end

    def flush(self) -> None:
        """Return when everything sent is on disk. After a failure nothing more is taken."""
        self._end()
        batch = self._ended()
        self._alone(lambda: self._write(batch))
        self._batch = _Batch()

    def flush_then(self, then: Callable[[], None]) -> None:
        """Flush, and then do this; by the thread that writes, where there is one: what goes wrong
        there is raised by the next flush, and by each after it, as what was sent is not safe."""
        labels = self._batch is not None and topics.LABELS in self._batch.rows
        if self._beside is None or self._logs or labels:
            # What is appended meanwhile would be synced in part; labels count from now on.
            super().flush_then(then)
            return
        self._end()
        batch = self._ended()

        def write() -> None:
            self._write(batch)
            then()

        self._begun = self._beside.submit(write)
        self._batch = _Batch()

    def _ended(self) -> _Batch:
        """The batch, with how far the logs go now."""
        batch = self._take()
        batch.ends = {topic: log.end for topic, log in self._logs.items()}
        return batch

    def _end(self) -> None:
        if self._begun is not None:
            self._begun.result()
            self._begun = None

    def _alone(self, write: Callable[[], object]) -> None:
        """Write when the others of this process have written: SQLite would look for the end of a
        transaction now and then only, and for half a minute at most."""
        if self._beside is None:
            write()
        else:
            self._beside.submit(write).result()

    def _write(self, batch: _Batch) -> None:
        self._opened.require()
        with told(self._directory):
            for topic in batch.ends:
                self._logs[topic].sync()
            if batch.rows or batch.positions or batch.cursors or batch.ends != self._ends:
                with self._database:
                    self._write_rows(batch)
                    self._write_offsets(batch)
                self._ends |= batch.ends
        self._opened.require()

    def _write_rows(self, batch: _Batch) -> None:
        now = now_ms()
        for topic, by_key in batch.rows.items():
            rows = [(row.key, row.value, stored(row.headers), now) for row in by_key.values()]
            for at in range(0, len(rows), _ROWS):
                some = rows[at : at + _ROWS]
                self._database.execute(
                    f'INSERT OR REPLACE INTO "{topic}" (key, value, headers, at) VALUES '  # noqa: S608 - a name of ours
                    + ", ".join(["(?, ?, ?, ?)"] * len(some)),
                    list(chain.from_iterable(some)),
                )

    def _write_offsets(self, batch: _Batch) -> None:
        """Of one transaction with the rows: what was judged, and what came of it."""
        gone = [(SPOOLED, name) for name, at in batch.positions.items() if at is None]
        moved = [(SPOOLED, name, at) for name, at in batch.positions.items() if at is not None]
        moved += [(FLUSHED, topic, end) for topic, end in batch.ends.items()]
        moved += [(REPLAYED, job, cursor) for job, cursor in batch.cursors.items()]
        self._database.executemany("DELETE FROM offsets WHERE reader = ? AND topic = ?", gone)
        self._database.executemany("INSERT OR REPLACE INTO offsets VALUES (?, ?, 0, ?)", moved)

    def abandon(self) -> None:
        """Release what is held. Of what no flush made safe only dead letters are kept, if there is
        room: they say why nothing more comes."""
        if self._closed:
            return
        self._closed = True
        batch, self._batch = self._batch, None
        letters = {} if batch is None else batch.rows.get(topics.DEAD_LETTERS, {})
        with suppress(BusError):
            if letters:
                kept = _Batch(rows={topics.DEAD_LETTERS: letters})
                self._alone(lambda: self._write(kept))
        with suppress(BusError):
            self._release()

    def keep_within(self, most: int) -> None:
        """Give up the oldest verdicts and dead letters where the tables take more bytes."""
        with told(self._directory):
            self._alone(lambda: pruning.keep_within(self._database, most))

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


def _check_size(message: Outgoing) -> None:
    topic = topics.TOPICS[message.topic]
    size = len(message.value or b"") + len(message.key.encode()) + size_of(message.headers)
    if size > topic.message_bytes:
        raise TooLarge(
            f"a message of {size} bytes for {topic.name}, which takes {topic.message_bytes}"
        )
