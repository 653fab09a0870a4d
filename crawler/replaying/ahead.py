"""Archives that processes read themselves, a range of records each: the bodies of pages are nowhere
but in the process that makes fingerprints of them.

Where a range ends the next one begins, as where an interrupted replay goes on: order, damage and
what is doubted are those of one reader. Only what can be read on from any record is read so: a WARC
of a gzip member for each record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from reusewatch.crawler.archives import wacz
from reusewatch.crawler.archives.magic import Shape, shape_of
from reusewatch.crawler.archives.reading import read_archive
from reusewatch.crawler.archives.warc import WARC
from reusewatch.crawler.compression.views import OnDisk
from reusewatch.crawler.pages.archive_events import Found, Limits
from reusewatch.crawler.replaying.giving_up import until_given_up
from reusewatch.crawler.replaying.jobs import Archive, Tree, now
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.records import Page
from reusewatch.streams.running.page_sink import BATCH_BYTES, PageSink, ReadsAhead, room

_RECORDS = 2048


@dataclass(frozen=True, slots=True)
class Told:
    """What was read of a range, without bodies: an event that is nothing else was a page."""

    events: tuple[Found, ...]
    ended: bool

    def __reduce__(self) -> Any:
        # Pickled one by one, they take forty times as long.
        return _told, (_pack(self.events), self.ended)


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(tuple[Found, ...]).decode


def _told(events: bytes, ended: bool) -> Told:
    return Told(_unpack(events), ended)


@dataclass(frozen=True, slots=True)
class Range:
    """The records of an archive from one on, until there are enough pages."""

    source: str
    scheme: HashScheme
    limits: Limits
    start: int
    doubt: int
    most: int
    dated: datetime | None = None

    def read(self) -> tuple[Told, Sequence[Page]]:
        """What was read, and its pages."""
        events: list[Found] = []
        pages: list[Page] = []
        size, ended = 0, True
        found = read_archive(
            self.source, scheme=self.scheme, limits=self.limits, start=self.start,
            doubt=self.doubt, clock=now, dated=self.dated,
        )  # fmt: skip
        for one in found:
            if one.page is not None:
                pages.append(one.page)
                size += len(one.page.body)
            events.append(one if one.page is None else msgspec.structs.replace(one, page=None))
            full = len(pages) >= self.most or size >= BATCH_BYTES or len(events) >= _RECORDS
            # A range that ended where it began would be read for ever.
            if full and one.next_offset != self.start:
                ended = False
                break
        return Told(tuple(events), ended), pages

    def following(self, told: Told) -> Range | None:
        """What comes behind; None at the end."""
        if told.ended:
            return None
        last = told.events[-1]
        return replace(self, start=last.next_offset, doubt=last.doubt)


class ReadingAhead:
    """What the processes of a sink read, archive by archive: while the last pages of one are
    judged, the next one is read."""

    def __init__(self, sink: PageSink) -> None:
        self._sink = sink if isinstance(sink, ReadsAhead) else None
        self._told: Iterator[Told] = iter(())
        # Those that were begun behind the one that is told of now.
        self._begun: deque[Archive] = deque()
        # Whether all of that one was told.
        self._ended = False

    def events(
        self, source: Archive | Tree, start: int, doubt: int, behind: Iterable[Archive | Tree]
    ) -> Iterator[tuple[Found, bool]] | None:
        """The events of an archive whose pages the sink takes by itself, and of each whether no
        page behind it is on the bus yet, as the pages of a range come there together; None where
        the sink does not. `behind`: what is asked for next, if nothing comes between."""
        goes_on = self._ended and bool(self._begun) and self._begun.popleft() is source
        if not goes_on and not self._begin(source, start, doubt, behind):
            return None
        self._ended = False
        return _with_ends(self._of_one(), source.reader.dead_letter_limit)

    def _begin(
        self, source: Archive | Tree, start: int, doubt: int, behind: Iterable[Archive | Tree]
    ) -> bool:
        # Another one: of archives that were left, some may be begun yet.
        self._begun = deque()
        sink = self._sink
        if sink is None or isinstance(source, Tree) or not _splits(source):
            return False
        way = _Way(_range(source, start, doubt), _next_of(behind, self._begun), sink)
        told = sink.ahead(way.first, way.following)
        if told is not None:
            self._told = told
        return told is not None

    def _of_one(self) -> Iterator[Told]:
        for one in self._told:
            yield one
            if one.ended:
                self._ended = True
                return


class _Way:
    """The ranges of archives one behind the other; each ends where a step of judging does."""

    def __init__(self, first: Range, behind: Iterator[Range], sink: ReadsAhead) -> None:
        self._behind = behind
        self._batch, self._passed = sink.batch_pages, sink.passed
        self.first = self._at = self._measured(first)

    def _measured(self, one: Range) -> Range:
        return replace(one, most=room(self._passed, self._batch))

    def following(self, told: Told) -> Range | None:
        """What comes behind what was told; asked for in order, by one thread at a time."""
        self._passed += sum(one.damage is None and one.skipped is None for one in told.events)
        following = self._at.following(told) or next(self._behind, None)
        if following is not None:
            following = self._at = self._measured(following)
        return following


def _next_of(behind: Iterable[Archive | Tree], begun: deque[Archive]) -> Iterator[Range]:
    """The beginnings of those that are read so, up to the first that is not."""
    for source in behind:
        if isinstance(source, Tree) or not _splits(source):
            return
        begun.append(source)
        yield _range(source, 0, 0)


def _range(source: Archive, start: int, doubt: int) -> Range:
    reader = source.reader
    return Range(source.name, reader.scheme, reader.limits, start, doubt, 1, source.dated)


def _with_ends(told: Iterator[Told], limit: float) -> Iterator[tuple[Found, bool]]:
    ends = False

    def events() -> Iterator[Found]:
        nonlocal ends
        for one in told:
            for number, event in enumerate(one.events, 1):
                ends = number == len(one.events)
                yield event

    for event in until_given_up(events(), limit):
        yield event, ends


def _splits(source: Archive) -> bool:
    """Whether it can be read on from any of its records."""
    if not source.lasts or wacz.is_package(source.name) or wacz.split(source.name) is not None:
        return False
    try:
        with closing(OnDisk(source.name)) as view:
            shape = shape_of(view, source.reader.limits)
    except OSError:
        return False
    if not isinstance(shape, Shape) or shape.codec is None:
        return False
    return shape.codec.name == "gzip" and not shape.whole and shape.dialect is WARC
