"""Replay: archives onto the bus, with progress, checkpoints, and going on after an interruption.

A checkpoint is: everything read so far is safe on the bus, then the cursor says so. What was read
after the last one is read again; ids are made of content, so nothing is found twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice, repeat
from typing import Any, Protocol

from reusewatch.crawler.errors import Stopped
from reusewatch.crawler.pages.archive_events import Found
from reusewatch.crawler.replaying.ahead import ReadingAhead
from reusewatch.crawler.replaying.cursors import Cursor, Cursors, Tally
from reusewatch.crawler.replaying.done import Done
from reusewatch.crawler.replaying.jobs import Archive, Job, Tree
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.running.page_sink import JudgesHere, PageSink


class Interrupted(Exception):
    """Told to stop before the end; what was read is safe, and running it again goes on."""


class Progress(Protocol):
    """Who is told how far it is."""

    def begin(self, name: str, size: int) -> None:
        """A source is opened."""

    def at(self, cursor: Cursor, position: int) -> None:
        """So much of it was read."""


class Unwatched:
    """Nobody is told."""

    def begin(self, name: str, size: int) -> None:
        """A source is opened."""

    def at(self, cursor: Cursor, position: int) -> None:
        """So much of it was read."""


def run_replay(
    sink: PageSink,
    job: Job,
    cursors: Cursors,
    *,
    stop: threading.Event,
    checkpoint_seconds: float,
    progress: Progress | None = None,
    done: Done | None = None,
) -> Cursor:
    """Replay a job into a sink, which is closed then. Raises Interrupted if it was stopped.

    After an error the sink is abandoned: what it still holds is read again by the next run.
    """
    run = Replay(
        sink, cursors, stop=stop, progress=progress or Unwatched(),
        checkpoint_seconds=checkpoint_seconds, done=done,
    )  # fmt: skip
    try:
        cursor = run.run(job)
    except Interrupted:
        sink.close()
        raise
    except BaseException as error:
        sink.abandon()
        if isinstance(error, Unreachable) and stop.is_set():
            raise Interrupted(f"waiting: {error}") from error
        raise
    sink.close()
    return cursor


class Replay:
    """One run over the sources of a job."""

    def __init__(
        self,
        sink: PageSink,
        cursors: Cursors,
        *,
        stop: threading.Event,
        progress: Progress,
        checkpoint_seconds: float,
        done: Done | None = None,
    ) -> None:
        self._done = done
        self._sink = sink
        self._ahead = ReadingAhead(sink)
        self._cursors = cursors
        self._stop = stop
        self._progress = progress
        self._checkpoint_seconds = checkpoint_seconds
        self._began = self._checkpoint_at = time.monotonic()

    def run(self, job: Job) -> Cursor:
        """Replay everything, or go on where an earlier run was interrupted."""
        cursor = (self._cursors.load(job.name) if job.resumable else None) or Cursor()
        cursor.began = cursor.began or job.reader.began
        job = job.going_on(cursor.began)
        base = (cursor.tally.seconds, cursor.tally.dead_letters, cursor.tally.alerts or 0)

        def foresee() -> tuple[str, int]:
            self._count(cursor, base)
            return self._cursors.foresee(job.name, cursor)

        def settle() -> None:
            if job.resumable and isinstance(self._sink, JudgesHere):
                self._sink.checkpoint_at(foresee)
            else:
                self._sink.checkpoint()
            self._count(cursor, base)
            self._note_done(cursor)
            if job.resumable:
                self._cursors.save(job.name, cursor)
            self._checkpoint_at = time.monotonic()

        sources = self._to_do(job.sources(idle=settle), cursor)
        every = sources if job.endless else list(sources)
        unknown = [] if job.endless else [source for source, known in every if known is None]
        read = 0
        for source, known in every:
            if known is None:
                read += 1
                self._read(source, cursor, settle, islice(unknown, read, None))
            else:
                cursor.tally.add(known)
                cursor.known += 1
                cursor.done.append(source.name)
                cursor.sizes[source.name] = source.size
        if job.endless:
            settle()
            raise Interrupted(job.followed)
        if isinstance(self._sink, JudgesHere):
            self._sink.settle()
        settle()
        self._cursors.clear(job.name)
        return cursor

    def _to_do(
        self, sources: Iterable[Archive | Tree], cursor: Cursor
    ) -> Iterator[tuple[Archive | Tree, Tally | None]]:
        """What this replay has not done, and what is in those that an earlier one has read."""
        done = set(cursor.done)
        for source in sources:
            # Of what an earlier replay had read, older cursors do not say how large it was.
            size = cursor.sizes.get(source.name, source.size)
            if source.name not in done or size != source.size:
                yield source, None if self._done is None else self._done.find(source)

    def _read(
        self, source: Archive | Tree, cursor: Cursor, settle: Callable[[], None],
        behind: Iterable[Archive | Tree],
    ) -> None:  # fmt: skip
        unchanged = cursor.source == source.name and cursor.sizes.get(source.name) == source.size
        start, doubt = (cursor.offset, cursor.doubt) if unchanged else (0, 0)
        if isinstance(source, Archive):
            if unchanged and cursor.found is not None:
                source = replace(source, found=cursor.found)
            cursor.found = source.found
        cursor.source, cursor.offset, cursor.doubt = source.name, start, doubt
        cursor.sizes[source.name] = source.size
        self._progress.begin(source.name, source.size)
        if start == 0:
            cursor.begun = None if self._done is None else self._done.begun(source, cursor.tally)
        position = start
        events = self._ahead.events(source, start, doubt, behind) or zip(
            source.read(start, doubt), repeat(True)
        )
        is_tree = isinstance(source, Tree)
        while (event := self._next(events, source, settle)) is not None:
            found, is_last = event
            self._take(found, cursor)
            # How much was read for a record: a tree's positions are numbers of files.
            cursor.tally.bytes += _in_body(found) if is_tree else max(found.position - position, 0)
            position = max(position, found.position)
            if not is_last:
                continue  # a cursor before pages that are on the bus would have them read again
            if self._stop.is_set():
                settle()
                raise Interrupted(source.name)
            if time.monotonic() - self._checkpoint_at >= self._checkpoint_seconds:
                settle()
            self._progress.at(cursor, position)
        if self._done is not None:
            note = self._done.ended(source, cursor.begun, cursor.tally)
            cursor.read |= {} if note is None else {source.name: note}
        cursor.done.append(source.name)
        cursor.source, cursor.offset, cursor.doubt, cursor.found = None, 0, 0, None
        cursor.begun = None

    def _note_done(self, cursor: Cursor) -> None:
        """What was read to its end is done, now that all of it is safe."""
        if self._done is not None and cursor.read and not cursor.tally.dead_letters:
            self._done.save(cursor.read)
            cursor.read = {}

    def _next(
        self,
        events: Iterator[tuple[Found, bool]],
        source: Archive | Tree,
        settle: Callable[[], None],
    ) -> tuple[Found, bool] | None:
        try:
            return next(events, None)
        except Stopped:
            settle()
            raise Interrupted(source.name) from None

    def _take(self, found: Found, cursor: Cursor) -> None:
        tally = cursor.tally
        tally.records += 1
        tally.unverified += found.unverified
        if found.damage is not None:
            _count_one(tally.damaged, found.damage.reason)
            self._sink.bury(found.damage)
        elif found.skipped is not None:
            _count_one(tally.skipped, found.skipped)
        else:
            tally.pages += 1
            if found.page is not None:  # else the sink has read it, and has it
                self._sink.put(found.page)
        cursor.offset, cursor.doubt = found.next_offset, found.doubt

    def _count(self, cursor: Cursor, base: tuple[float, int, int]) -> None:
        seconds, dead, alerts = base
        cursor.tally.seconds = seconds + time.monotonic() - self._began
        cursor.tally.dead_letters = dead + self._sink.dead.total()
        known = self._sink.alerts
        cursor.tally.alerts = None if known is None else alerts + known


def _in_body(found: Found) -> int:
    return len(found.page.body) if found.page else 0


def _count_one(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


def summary(cursor: Cursor) -> dict[str, Any]:
    """What a replay says at its end."""
    tally = cursor.tally
    return {
        "records": tally.records,
        "pages": tally.pages,
        "skipped": dict(sorted(tally.skipped.items())),
        "damaged": sum(tally.damaged.values()),
        "damaged_by_reason": dict(sorted(tally.damaged.items())),
        "dead_letters": tally.dead_letters,
        "alerts": tally.alerts,
        "unverified_digests": tally.unverified,
        "bytes": tally.bytes,
        "archives": len(cursor.done),
        "archives_known": cursor.known,
        "seconds": round(tally.seconds, 3),
    }
