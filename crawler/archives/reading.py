"""Archives to pages: WARC, ARC and WACZ, compressed or not, sound or damaged.

Every record gives one event, whatever state it is in. What a file is, is told by its bytes.
A sound WARC of a gzip member per record is read by the fast path; anything else, and whatever
stands around damage, by the path that looks closely.
"""

from __future__ import annotations

import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime

from reusewatch.crawler.archives import wacz
from reusewatch.crawler.archives.again import member_again
from reusewatch.crawler.archives.careful import (
    begins_with,
    read_members,
    read_plain,
    read_whole,
)
from reusewatch.crawler.archives.doubt import INDEX_BIT, doubted
from reusewatch.crawler.archives.fast import read_fast
from reusewatch.crawler.archives.framing import Dialect
from reusewatch.crawler.archives.magic import NotAnArchive, Shape, shape_of
from reusewatch.crawler.archives.members import Codec, Gzip, MembersAhead
from reusewatch.crawler.archives.warc import WARC
from reusewatch.crawler.archives.whole import Ways
from reusewatch.crawler.compression.pipes import arriving, is_pipe, opened_pipe
from reusewatch.crawler.compression.views import OnDisk, View, Window
from reusewatch.crawler.errors import CHANGED, GONE, OriginLost, SourceError
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS, Found, Limits, Reading
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.records import STDIN, Origin, Page

# How many members are read closely after damage before the fast path is tried again.
_CLOSE = 8
_PLAIN = b"WARC/"


def read_archive(
    source: str,
    *,
    scheme: HashScheme,
    limits: Limits = DEFAULT_LIMITS,
    start: int = 0,
    doubt: int = 0,
    clock: Callable[[], datetime],
    stop: Callable[[], bool] = bool,
    dated: datetime | None = None,
) -> Iterator[Found]:
    """Every record of an archive from `start` on, one event each.

    A source is a path, `-`, or a package's member, `x.wacz!archive/y.warc.gz`. A package as a
    whole is read member by member, and each can be resumed under its own name. Nothing that a
    file holds raises; a file that cannot be read at all is damage too. `doubt` is that of the event
    after which reading goes on; `dated` is when its pages count as fetched where the dates that it
    has are not believed; Stopped is raised where `stop` says so while a pipe is waited for.
    """
    reading = Reading(source, scheme, limits, clock, dated)
    offset = start
    try:
        for found in _read(source, start, doubt, reading, stop):
            offset = found.next_offset
            yield found
    except OSError as error:
        yield reading.damage("unreadable", f"{source}: {error.strerror or error}", offset, offset)
    except (SourceError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        yield reading.damage("corrupt", str(error) or "it ends too early", offset, offset)


def _read(
    source: str, start: int, doubt: int, reading: Reading, stop: Callable[[], bool]
) -> Iterator[Found]:
    if source != STDIN and wacz.is_package(source):
        yield from _read_package(source, start, reading)
        return
    with _opened(source, stop) as view:
        yield from _read_view(view, start, doubt, reading)


def _read_package(source: str, start: int, reading: Reading) -> Iterator[Found]:
    """Every member in turn. Damage of the package itself stands at byte 0, and once."""
    try:
        found = wacz.members(source)
    except SourceError as error:
        if not start:
            yield reading.damage("corrupt", str(error), 0, 1)
        return
    if not found and not start:
        yield reading.damage("not-an-archive", "a zip package without archive/", 0, 1)
    for member, _ in found:
        if start:
            raise ValueError(f"a package is resumed by member: {source}{wacz.MARK}{member}")
        name = f"{source}{wacz.MARK}{member}"
        yield from read_archive(
            name,
            scheme=reading.scheme,
            limits=reading.limits,
            clock=reading.clock,
            dated=reading.dated,
        )


@contextmanager
def _opened(source: str, stop: Callable[[], bool]) -> Iterator[View]:
    if source == STDIN:
        yield Window(arriving(sys.stdin.fileno(), stop))
    elif is_pipe(source):
        with opened_pipe(source) as number:
            yield Window(arriving(number, stop))
    elif (member := wacz.split(source)) is not None:
        with wacz.opened(*member) as view:
            yield view
    else:
        with closing(OnDisk(source)) as view:
            yield view


def _read_view(view: View, start: int, doubt: int, reading: Reading) -> Iterator[Found]:
    shape = shape_of(view, reading.limits)
    if isinstance(shape, NotAnArchive):
        if not start:
            # Past the start, so that reading on from here does not tell of it again.
            yield reading.damage(shape.reason, f"this is {shape.found}", 0, max(1, view.position()))
        return
    by_member = shape.codec is not None and not shape.whole
    empty = not start
    for found in doubted(_records(view, start, shape, reading), doubt, by_member=by_member):
        empty = False
        yield found
    if empty:
        end = max(1, view.position())
        yield reading.damage("empty-file", "an archive that holds no record", 0, end)


def _records(view: View, start: int, shape: Shape, reading: Reading) -> Iterator[Found]:
    if shape.codec is None:
        view.skip(start & ((1 << INDEX_BIT) - 1))
        return _read_mixed(view, start, Gzip(), shape.dialect, reading, plain=True)
    if shape.whole:
        return read_whole(view, start, shape.codec, shape.dialect, reading)
    view.skip(start & ((1 << INDEX_BIT) - 1))
    return _read_members(view, start, shape.codec, shape.dialect, reading)


def _read_members(
    view: View, start: int, codec: Codec, dialect: Dialect, reading: Reading
) -> Iterator[Found]:
    if not isinstance(view, OnDisk) or dialect is not WARC or codec.name != "gzip":
        yield from _read_mixed(view, start, codec, dialect, reading, plain=False)
        return
    # Of all of the archive: who leaves the fast path often would learn them as often.
    offset, ways, ahead = start, Ways(), MembersAhead(codec, view, WARC)
    if offset >> INDEX_BIT:
        offset = yield from read_members(view, offset, codec, WARC, reading, most=1)
    while view.at(offset, 1):
        offset = yield from read_fast(view, offset, reading, ways)
        if begins_with(view, offset, _PLAIN):
            offset = yield from read_plain(
                view, offset, WARC, reading, until=codec.magic, ahead=ahead
            )
            if not begins_with(view, offset, codec.magic):
                return  # nothing is left but line ends
        elif view.at(offset, 1):
            offset = yield from read_members(
                view, offset, codec, WARC, reading, most=_CLOSE, until=_PLAIN
            )


def _read_mixed(
    view: View, start: int, codec: Codec, dialect: Dialect, reading: Reading, *, plain: bool
) -> Iterator[Found]:
    """Records as they are, and members, whichever the archive begins with: some are put together of
    both. What is neither is damage, and is looked at as what stood before it."""
    offset, other = start, _PLAIN if dialect is WARC else None
    ahead = MembersAhead(codec, view, dialect)
    while True:
        if offset >> INDEX_BIT or begins_with(view, offset, codec.magic):
            plain = False
        elif begins_with(view, offset, other):
            plain = True
        if plain:
            offset = yield from read_plain(
                view, offset, dialect, reading, until=codec.magic, ahead=ahead
            )
        else:
            offset = yield from read_members(view, offset, codec, dialect, reading, until=other)
        if not begins_with(view, offset, codec.magic if plain else other):
            return


def read_archived(origin: Origin, *, scheme: HashScheme, limits: Limits = DEFAULT_LIMITS) -> Page:
    """The page of an archive's record, read again. Raises OriginLost if it is gone or changed."""
    if origin.source == STDIN:
        raise OriginLost("what came from standard input cannot be read again; keep it as a file")
    reading = Reading(origin.source, scheme, limits, lambda: datetime.now(UTC))
    page = member_again(origin.offset or 0, reading)
    if page is not None:
        return page
    found = next(_again(origin, scheme, limits), None)
    where = f"{origin.source} at byte {origin.offset}"
    if found is None or found.offset != origin.offset:
        raise OriginLost(f"no record in {where}: the file was changed or replaced", CHANGED)
    if found.page is None:
        what = found.damage.detail if found.damage else f"a record of kind {found.skipped}"
        gone = found.damage is not None and found.damage.reason == "unreadable"
        raise OriginLost(f"no page in {where}: {what}", GONE if gone else CHANGED)
    return found.page


def _again(origin: Origin, scheme: HashScheme, limits: Limits) -> Iterator[Found]:
    return read_archive(
        origin.source,
        scheme=scheme,
        limits=limits,
        start=origin.offset or 0,
        clock=lambda: datetime.now(UTC),
    )
