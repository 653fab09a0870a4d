"""What reading an archive yields: for each record a page, a skip, or a damage.

A record leaves no second trace and none is passed over: exactly one event each, with the offset
where the record starts and the offset from which reading continues after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import msgspec

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.records import DeadLetter, Origin, Page

# Kinds of skips: a closed set, since they become metric labels.
SKIPPED = frozenset(
    {
        "content-type",  # images, scripts, styles, …
        "continuation",  # further segments of a record
        "dns",
        "filedesc",  # the head of an ARC
        "link",  # a file of a tree that a link leads to, outside of the tree
        "metadata",
        "other-scheme",  # urn:, ftp:, whois:, …
        "request",
        "unknown",  # a record type that no version of the format knows
        "warcinfo",
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of one record is kept in memory, and how deep encodings are undone."""

    max_body_bytes: int = 32 << 20
    max_encodings: int = 2
    max_record_bytes: int = 128 << 20
    max_header_bytes: int = 256 << 10

    def __post_init__(self) -> None:
        if min(self.max_body_bytes, self.max_record_bytes, self.max_header_bytes) < 1:
            raise ValueError("limits are at least one byte")
        if self.max_encodings < 0:
            raise ValueError("max_encodings is at least 0")


DEFAULT_LIMITS = Limits()


class Found(msgspec.Struct, frozen=True, array_like=True):
    """One record of an archive: exactly one of page, skipped and damage is set.

    `read_archive(found.source, start=found.next_offset, doubt=found.doubt)` goes on with the record
    after this one.
    Offsets are those of the file on disk, with two exceptions. Where one gzip member or zstd
    frame holds the whole archive, they count decompressed bytes. Where a member of a
    member-per-record archive holds several records, the second and later ones carry their
    number in the member above bit 48. Where a file could not be read on, both offsets are the
    one at which to try again.
    """

    page: Page | None
    skipped: str | None
    damage: DeadLetter | None
    source: str
    offset: int
    next_offset: int
    # Bytes of the file on disk that were read so far: what a progress bar shows.
    position: int = 0
    # The record names a digest of an algorithm that is not known here; it was not compared.
    unverified: bool = False
    # Pages that begin before this offset may be forged: see `archives.doubt`.
    doubt: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """What does not change while one archive is read."""

    source: str
    scheme: HashScheme
    limits: Limits
    clock: Callable[[], datetime]
    # Where the archive's own dates are not believed: since when its pages count as fetched.
    dated: datetime | None = None
    # Whether digests are compared. Who knows the body's own hash has no use for them.
    digests: bool = True

    def origin(self, offset: int, record_id: str | None = None) -> Origin:
        """Where the record at this offset is read again, and by which name others know it."""
        return Origin(source=self.source, offset=offset, record_id=record_id)

    def page(self, page: Page, next_offset: int, *, unverified: bool = False) -> Found:
        """A record that holds a page."""
        offset = page.origin.offset or 0
        if self.dated is not None:
            page = _dated(page, self.dated)
        return Found(page, None, None, self.source, offset, next_offset, next_offset, unverified)

    def skip(self, kind: str, offset: int, next_offset: int) -> Found:
        """A record that holds none."""
        return Found(None, kind, None, self.source, offset, next_offset, next_offset)

    def damage(
        self,
        reason: str,
        detail: str,
        offset: int,
        next_offset: int,
        url: str | None = None,
        doubt: int = 0,
    ) -> Found:
        """A record that could not be read, or bytes that are no record."""
        letter = DeadLetter(
            reason=reason,
            source=self.source,
            offset=offset,
            url=url[:2048] if url else None,
            detail=detail,
            at=self.clock(),
        )
        return Found(None, None, letter, self.source, offset, next_offset, next_offset, doubt=doubt)


def _dated(page: Page, at: datetime) -> Page:
    """The page as fetched at this time, whatever is claimed of it and of what it refers to."""
    named = page.revisit_of
    refers = None if named is None else msgspec.structs.replace(named, fetched_at=None)
    return msgspec.structs.replace(page, fetched_at=at, revisit_of=refers)
