"""The one process that judges what all spools of a local bus bring.

Pages are taken from each spool in turn, judged by a local sink, and forgotten by their spool once
that is on disk: the position of a spool is committed in one transaction with how far the log of
fingerprints goes, so a kill at any moment loses no page and judges none twice. It ends when no
writer is left and everything is judged. What is judged stays for a while, for evidence.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import msgspec

from reusewatch.streams import topics
from reusewatch.streams.bus import BusBroken, Message
from reusewatch.streams.local.database import told
from reusewatch.streams.local.judged import Judged, read_judged, write_judged
from reusewatch.streams.local.spools import Spool, SpoolReader, spools_of
from reusewatch.streams.origins import spool_origin
from reusewatch.streams.records import Alert, DeadLetter
from reusewatch.streams.running.local_sink import LocalSink
from reusewatch.streams.settings.keeping import Keep
from reusewatch.streams.wire import WireError, read_json, read_page, unread

_AT_ONCE = 64
_LOOK_SECONDS = 0.05


class SpoolJudge:
    """Brings spools into a local sink."""

    def __init__(
        self, sink: LocalSink, directory: Path, *, keep: Keep, commit_seconds: float,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._sink = sink
        self._directory = directory
        self._keep = keep
        self._commit_seconds = commit_seconds
        self._say = say
        self._readers: dict[str, SpoolReader] = {}
        self._judged = sink.judged()
        self._before = read_judged(directory)
        # Those whose writer is gone, and of which everything was read.
        self._through: set[str] = set()
        self._pages = 0
        self._taken = False
        self._committed_at = time.monotonic()
        # Before anybody is told that it judges: a crawl that is steered begins then.
        sink.warm_up()
        # What is there already counts as judged for who looks: a writer may ask at once.
        self._tell()

    def run(self, stop: Event) -> None:
        """Judge until nothing is left and nobody writes, or until told to stop."""
        while not stop.is_set():
            spools = [s for s in spools_of(self._directory) if s.name not in self._through]
            some = sum(map(self._read, spools))
            left = any(spool.name not in self._through for spool in spools)
            if not left:
                # Before the last commit: who waits for it finds everything.
                self._sink.settle()
            if self._taken and (self._is_due() or not left):
                self._commit()
            if not left:
                break
            if not some:
                stop.wait(_LOOK_SECONDS)
        self._commit()

    def close(self) -> None:
        """Commit with a snapshot, and let other processes have the bus."""
        self._close_readers()
        self._sink.close()

    def abandon(self) -> None:
        """Leave without a commit: spools are read again from where they were committed."""
        self._close_readers()
        self._sink.abandon()

    def _close_readers(self) -> None:
        for reader in self._readers.values():
            reader.close()

    def _is_due(self) -> bool:
        return time.monotonic() >= self._committed_at + self._commit_seconds

    def _read(self, spool: Spool) -> bool:
        """Take the next messages of a spool. Whether there were any."""
        # Asked before it is read: what a living writer appends after the last look is not missed.
        is_gone = not spool.is_written()
        try:
            if spool.name not in self._readers:
                if is_gone:
                    spool.mend()
                self._readers[spool.name] = SpoolReader(spool, self._judged.get(spool.name))
            found = self._readers[spool.name].read(_AT_ONCE)
        except BusBroken as error:
            self._give_up(spool, error)
            return True
        for message in found:
            self._take(spool, message)
        if not found and is_gone:
            self._through.add(spool.name)
            self._readers.pop(spool.name).close()
        elif found:
            self._taken = True
            self._sink.remember(spool.name, found[-1].offset + 1)
        return bool(found)

    def _take(self, spool: Spool, message: Message) -> None:
        try:
            if message.partition.topic == topics.DEAD_LETTERS:
                self._sink.bury(read_json(message, DeadLetter))
                return
            if message.partition.topic == topics.ALERTS:
                self._sink.report(read_json(message, Alert))
                return
            page = read_page(message)
        except WireError as error:
            self._sink.bury(unread(message, error, datetime.now(UTC)))
            return
        if page.origin.offset is None and spool.is_live:
            # Here it can be read again, for as long as it is kept.
            origin = spool_origin(spool.name, message.offset)
            page = msgspec.structs.replace(page, origin=origin)
        self._pages += 1
        self._sink.put(page)

    def _give_up(self, spool: Spool, error: BusBroken) -> None:
        """A damaged spool: what stands before the damage was judged, the rest is told of."""
        reader = self._readers.pop(spool.name, None)
        at = reader.offset if reader is not None else self._judged.get(spool.name, 0)
        if reader is not None:
            reader.close()
        self._say(f"{error}; what follows in this spool is not judged")
        self._sink.bury(DeadLetter(
            reason="corrupt", source=str(spool.directory), offset=at, url=None, detail=str(error),
            at=datetime.now(UTC),
        ))  # fmt: skip
        self._through.add(spool.name)
        self._taken = True

    def _commit(self) -> None:
        """Make what was taken last, then let go of what need not be kept."""
        self._sink.checkpoint()
        self._committed_at, self._taken = time.monotonic(), False
        self._judged = self._sink.judged()
        self._tell()
        with told(self._directory):
            self._let_go()

    def _tell(self) -> None:
        before = self._before
        with told(self._directory):
            write_judged(self._directory, Judged(
                pid=os.getpid(), pages=before.pages + self._pages,
                alerts=before.alerts + self._sink.alerts, spools=self._judged,
            ))  # fmt: skip

    def _let_go(self) -> None:
        """Drop the oldest judged segments beyond what is kept, and spools that are empty then."""
        spools = spools_of(self._directory)
        left = self._keep.bytes
        done = [one for spool in spools for one in self._done(spool)]
        for changed, size, spool, base in sorted(done, reverse=True, key=lambda one: one[0]):
            old = self._keep.seconds is not None and changed < time.time() - self._keep.seconds
            full = left is not None and size > left
            if old or full or not spool.is_live:
                spool.drop(base)
                left = 0 if full else left
            elif left is not None:
                left -= size
        for spool in spools:
            if spool.name in self._through and not spool.segments():
                spool.remove()
                self._sink.remember(spool.name, None)
                self._taken = True

    def _done(self, spool: Spool) -> list[tuple[float, int, Spool, int]]:
        """The segments of which all is judged and nothing is to come."""
        segments = spool.segments()
        follow: list[int | None] = [*(base for base, _, _ in segments[1:]), None]
        at, through = self._judged.get(spool.name, 0), spool.name in self._through
        return [
            (changed, size, spool, base)
            for (base, size, changed), end in zip(segments, follow, strict=True)
            if (through if end is None else end <= at)
        ]
