"""What can go wrong while pages are gathered.

CrawlerError
├── SourceError   a path, pattern or package that cannot be opened; names it and says what to do
├── JobError      the notes of a crawl's job cannot be written any more
├── OriginLost    the record that an Origin points at is gone, changed, or cannot be read twice
└── Stopped       told to stop while a pipe was waited for

What is wrong inside an archive is no exception: it is a DeadLetter, its reason one of `REASONS`.
"""

from __future__ import annotations

REASONS = frozenset(
    {
        "bad-chunks",  # transfer encoding: chunked, and the chunks do not add up
        "bad-encoding",  # the content encoding cannot be undone
        "bad-header",  # a record header without a usable Content-Length
        "bad-http",  # an HTTP message without a status line
        "bad-length",  # Content-Length does not lead to the next record
        "bad-url",  # not the URL of a page
        "corrupt",  # compressed data that does not decompress to its checksum
        "empty-file",  # an archive of no bytes
        "given-up",  # too much of an archive is damaged; the rest of it was left
        "garbage",  # bytes between records that are no record
        "nested-encodings",  # more content encodings within each other than are undone
        "not-an-archive",  # a file that is something else
        "too-large",  # more bytes than the limits allow, after decompression
        "truncated",  # the file ends before the record does
        "unknown-encoding",  # a content encoding that is not known
        "unreadable",  # the machine could not read the file
        "wrong-digest",  # a digest that does not fit what is stored
    }
)


# Why a page cannot be read again, as alerts say it: nothing is there, or something else is.
GONE = "archive gone"
CHANGED = "changed"


class CrawlerError(Exception):
    """Root of the crawler's exceptions."""


class SourceError(CrawlerError):
    """A source that cannot be opened."""


class JobError(CrawlerError):
    """Where a crawl is cannot be noted any more."""


class Stopped(CrawlerError):
    """Reading was told to stop; nothing is wrong with what is read."""


class OriginLost(CrawlerError):
    """A page that cannot be read again from its origin; `why` in a word or two."""

    def __init__(self, text: str, why: str = GONE) -> None:
        super().__init__(text)
        self.why = why
