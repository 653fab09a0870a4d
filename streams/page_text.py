"""A span of a page as text for people, read again from where the page came from.

A page of a live crawl is kept for a while only, an archive may be gone or another by now: then
there is no text, and the span is given without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Literal, Protocol, get_args, runtime_checkable

from reusewatch.detector.errors import BadPage
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.documents import part_of
from reusewatch.streams.records import Origin, Page

ReadOrigin = Callable[[Origin], Page]
# Why a page cannot be read again, as alerts tell it.
Gone = Literal["retention", "archive gone", "changed", "crawl without keep_pages"]
RETENTION: Gone = "retention"
ARCHIVE_GONE: Gone = "archive gone"
CHANGED: Gone = "changed"
NOT_KEPT: Gone = "crawl without keep_pages"


ReadKnown = Callable[[Origin, int], Page | Gone]
"""Reads the page of an origin that had this hash, or says why it cannot be had any more."""


@runtime_checkable
class ReadsTogether(Protocol):
    """What reads pages again, and many of them sooner than each by itself."""

    def together(self, scheme: HashScheme) -> AbstractContextManager[ReadKnown]:
        """Reads until the block ends; then what was opened is closed."""


class OriginGone(BadPage):
    """A page that cannot be read again; a stage that needs it whole makes a dead letter of it."""

    def __init__(self, detail: str, why: str) -> None:
        super().__init__("too-large", detail)
        self.why: Gone = next((one for one in get_args(Gone) if one == why), ARCHIVE_GONE)


def texts_of(
    read_origin: ReadOrigin | None,
    origin: Origin,
    spans: Sequence[tuple[int, int]],
    *,
    file_hash: int,
    scheme: HashScheme,
) -> list[str | None]:
    """The beginning of each span of the page; null where the page is not what it was."""
    nothing: list[str | None] = [None] * len(spans)
    if read_origin is None or origin.offset is None:
        return nothing
    page = read_unchanged(read_origin, origin, file_hash, scheme)
    return nothing if page is None else [_text(page, *span, scheme) for span in spans]


def read_unchanged(
    read_origin: ReadOrigin, origin: Origin, file_hash: int, scheme: HashScheme
) -> Page | None:
    """The page as it was, read again; None where it is gone, or another by now."""
    found = read_or_why(read_origin, origin, file_hash, scheme)
    return found if isinstance(found, Page) else None


def read_or_why(
    read_origin: ReadOrigin, origin: Origin, file_hash: int, scheme: HashScheme
) -> Page | Gone:
    """The page as it was, read again; or why it cannot be had any more."""
    try:
        page = read_origin(origin)
    except OriginGone as gone:
        return gone.why
    except (BadPage, OSError, ValueError):
        return ARCHIVE_GONE
    # Archives change; and a revisit has the words of the page that it refers to.
    return page if scheme.of_bytes(page.body) == file_hash else CHANGED


@contextmanager
def together(read_origin: ReadOrigin, scheme: HashScheme) -> Iterator[ReadKnown]:
    """Pages as they were, many of them, in whatever way the reader has."""
    reader: object = read_origin
    if isinstance(reader, ReadsTogether):
        with reader.together(scheme) as read:
            yield read
    else:
        yield lambda origin, file_hash: read_or_why(read_origin, origin, file_hash, scheme)


def _text(page: Page, start: int, end: int, scheme: HashScheme) -> str:
    from reusewatch.detector.sketching.fingerprint import fingerprints

    return fingerprints([part_of(page, start, end)], scheme).facts[0].excerpt
