"""Pages of archives read again by who knows their hashes: each archive is allowed and opened once.

A step of evidence reads pages by the dozen. Whether a file may be opened is asked of the file
system link by link, and a record's digests take as long to compare as its body to decompress; the
hash that the asker has says what they would. Whatever is not a plain record of a plain archive, or
not what the hash says, is left to `origins`, which looks closely and says what it is.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from datetime import UTC, datetime
from typing import NamedTuple

from reusewatch.crawler.archives.again import known_again
from reusewatch.crawler.archives.whole import Ways
from reusewatch.crawler.errors import OriginLost
from reusewatch.crawler.pages.archive_events import Limits, Reading
from reusewatch.crawler.replaying.readable import Readable, file_of, require_regular
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.origins import partition_of, spool_of
from reusewatch.streams.records import STDIN, Origin, Page

_MOST_OPEN = 32
"""Archives that are open at a time: a step's pages may come from as many as it has pages."""


class _Archive(NamedTuple):
    reading: Reading
    descriptor: int
    ways: Ways


class KnownPages:
    """Reads pages of archives until it is closed."""

    def __init__(self, scheme: HashScheme, limits: Limits, readable: Readable | None) -> None:
        self._scheme = scheme
        self._limits = limits
        self._readable = readable
        self._archives: OrderedDict[str, _Archive | None] = OrderedDict()

    def page(self, origin: Origin, file_hash: int) -> Page | None:
        """The page that had this hash; None if it needs a closer look."""
        source = origin.source
        if source not in self._archives:
            self._add(source, self._opened(origin))
        archive = self._archives[source]
        if archive is None or origin.offset is None:
            return None
        try:
            page = known_again(archive.descriptor, origin.offset, archive.reading, archive.ways)
        except (OSError, OverflowError):
            return None
        if page is None or self._scheme.of_bytes(page.body) != file_hash:
            return None
        return page

    def close(self) -> None:
        """Close what is open."""
        while self._archives:
            self._drop()

    def _add(self, source: str, archive: _Archive | None) -> None:
        self._archives[source] = archive
        if len(self._archives) > _MOST_OPEN:
            self._drop()

    def _drop(self) -> None:
        _, archive = self._archives.popitem(last=False)
        if archive is not None:
            os.close(archive.descriptor)

    def _opened(self, origin: Origin) -> _Archive | None:
        source = origin.source
        if source == STDIN or file_of(source) != source:
            return None
        if spool_of(origin) is not None or partition_of(origin) is not None:
            return None
        try:
            if self._readable is not None:
                self._readable.require(source)
            require_regular(source)
            descriptor = os.open(source, os.O_RDONLY)
        except (OriginLost, OSError, ValueError):
            return None
        reading = Reading(
            source, self._scheme, self._limits, lambda: datetime.now(UTC), digests=False
        )
        return _Archive(reading, descriptor, Ways())
