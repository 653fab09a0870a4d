"""A page that was brought before, read again from where it was: an archive, or a tree of files.

Evidence is cut from pages that are read again, and pages that are too large for the bus travel as
their origin alone. Nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reusewatch.crawler.archives.reading import read_archived
from reusewatch.crawler.errors import OriginLost
from reusewatch.crawler.pages.archive_events import DEFAULT_LIMITS, Limits
from reusewatch.crawler.replaying.known_pages import KnownPages
from reusewatch.crawler.replaying.readable import Readable, require_regular
from reusewatch.crawler.replaying.trees import is_tree_origin, tree_page_again
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.bus import BusError
from reusewatch.streams.local.spools import message_at, spool_named
from reusewatch.streams.origins import partition_of, spool_of
from reusewatch.streams.page_text import (
    ARCHIVE_GONE,
    NOT_KEPT,
    RETENTION,
    Gone,
    OriginGone,
    ReadKnown,
    read_or_why,
)
from reusewatch.streams.records import STDIN, Origin, Page
from reusewatch.streams.wire import WireError, read_page

if TYPE_CHECKING:
    from reusewatch.streams.kafka.config import KafkaConfig

# What a live crawl says of its pages where nothing else is known.
LIVE = "scrapy:"


def read_origin(origin: Origin, *, scheme: HashScheme, limits: Limits = DEFAULT_LIMITS) -> Page:
    """The page of an origin, read again. Raises OriginLost if it is gone or changed."""
    if origin.source != STDIN:
        require_regular(origin.source)
    read = tree_page_again if is_tree_origin(origin.source) else read_archived
    return read(origin, scheme=scheme, limits=limits)


def origin_reader(
    scheme: HashScheme,
    max_body_bytes: int,
    readable: Readable | None = None,
    *,
    cluster: KafkaConfig | None = None,
) -> OriginReader:
    """How the stages read a page again; it can be pickled, since worker processes use it too.

    `readable` says which files may be opened; without it any may, since a user named them.
    `cluster` is where pages of live crawls stand on Kafka.

    What it returns raises BadPage where `read_origin` raises OriginLost: a stage cannot go on
    with such a page, and says so in a dead letter.
    """
    limits = Limits(max_body_bytes=max_body_bytes)
    return OriginReader(scheme, limits, readable, cluster)


@dataclass(frozen=True, slots=True)
class OriginReader:
    """Reads pages again; see `origin_reader`."""

    scheme: HashScheme
    limits: Limits
    readable: Readable | None
    cluster: KafkaConfig | None

    def __call__(self, origin: Origin) -> Page:
        """The page of an origin. Raises OriginGone."""
        try:
            return self._read(origin)
        except (OriginLost, BusError, WireError) as error:
            why = error.why if isinstance(error, OriginLost) else ARCHIVE_GONE
            raise OriginGone(f"too large for the bus, and not to be read: {error}", why) from error

    @contextmanager
    def together(self, scheme: HashScheme) -> Iterator[ReadKnown]:
        """Pages whose hashes are known: what is plain is read at once, all else closely."""
        with closing(KnownPages(scheme, self.limits, self.readable)) as known:

            def read(origin: Origin, file_hash: int) -> Page | Gone:
                page = known.page(origin, file_hash)
                return page or read_or_why(self, origin, file_hash, scheme)

            yield read

    def _read(self, origin: Origin) -> Page:
        if (spool := spool_of(origin)) is not None:
            return _spooled(spool, origin, self.readable)
        if (partition := partition_of(origin)) is not None:
            return _retained(*partition, origin, self.cluster)
        if origin.offset is None and origin.source.startswith(LIVE):
            raise OriginLost(
                f"{origin.source}: a page of a live crawl that is kept nowhere", NOT_KEPT
            )
        if self.readable is not None and origin.source != STDIN:
            self.readable.require(origin.source)
        return read_origin(origin, scheme=self.scheme, limits=self.limits)


def _spooled(name: str, origin: Origin, readable: Readable | None) -> Page:
    """A page of a live crawl, from where its spool is kept."""
    spool = None if readable is None else spool_named(readable.state, name)
    found = None if spool is None else message_at(spool, origin.offset or 0)
    if found is None:
        raise OriginLost(
            f"{origin.source} is not kept any more: see the setting `keep_pages`", NOT_KEPT
        )
    return read_page(found)


def _retained(topic: str, partition: int, origin: Origin, cluster: KafkaConfig | None) -> Page:
    """A page of a live crawl, from the topic where it stands."""
    # Who can write to the bus could name any topic.
    if cluster is None or topic != cluster.topic(topics.PAGES):
        raise OriginLost(f"{origin.source} is no topic of pages of this bus", ARCHIVE_GONE)
    from reusewatch.streams.kafka.again import message_again

    found = message_again(cluster, topic, partition, origin.offset or 0)
    if found is None:
        raise OriginLost(f"{origin.source} does not retain offset {origin.offset}", RETENTION)
    return read_page(found)
