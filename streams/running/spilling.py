"""Pages put aside while the broker is away: spools of this machine, sent when it is back.

Each crawl has a spool of its own below the directory `spill`. A spool whose writer is gone is
whoever comes first to send: a crawl with `on_trouble = "spill"`, or the verb `spill`. A spool is
removed when everything in it is acknowledged; killed in between, it is sent again, which changes
nothing, since what is found is known by content.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from reusewatch.streams.bus import Outgoing
from reusewatch.streams.local.database import told
from reusewatch.streams.local.spools import Spool, SpoolReader, SpoolWriter, spools_of

_AT_ONCE = 64
Send = Callable[[Outgoing], None]


class Spill:
    """Where one crawl puts aside what the broker does not take."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._writer: SpoolWriter | None = None

    def take(self, messages: Sequence[Outgoing]) -> None:
        """Put these aside."""
        if not messages:
            return
        if self._writer is None:
            self._writer = SpoolWriter(self._directory)
        for message in messages:
            self._writer.append(message)

    def sync(self) -> None:
        """Return when everything taken is on disk."""
        if self._writer is not None:
            self._writer.sync()

    def send(self, to: Send, flush: Callable[[], None]) -> None:
        """Send what earlier crawls put aside, then what this one did."""
        send_spilled(self._directory, to, flush)
        if self._writer is not None:
            self._writer.sync()
            _send(self._writer.spool, to, flush)
            self._writer.close()
            self._writer.spool.remove()
            self._writer = None

    def close(self) -> int:
        """How many wait still."""
        if self._writer is None:
            return 0
        self._writer.close()
        return self._writer.end


def send_spilled(directory: Path, to: Send, flush: Callable[[], None]) -> int:
    """Send what crawls that ended have put aside; how many messages that were."""
    count = 0
    for spool in spools_of(directory):
        with told(directory), (spool.directory / "sender").open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # somebody sends it
            if spool.is_written():
                continue
            spool.mend()
            count += _send(spool, to, flush)
            spool.remove()
    return count


def _send(spool: Spool, to: Send, flush: Callable[[], None]) -> int:
    count = 0
    with closing(SpoolReader(spool, None)) as reader:
        while found := reader.read(_AT_ONCE):
            for message in found:
                to(Outgoing(message.partition.topic, message.key, message.value, message.headers))
            count += len(found)
    flush()
    return count
