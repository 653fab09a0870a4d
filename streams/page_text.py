"""A span of a page as text for people, read again from where the page came from.

A page of a live crawl is kept for a while only, an archive may be gone or another by now: then
there is no text, and the span is given without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

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


def _text(page: Page, start: int, end: int, scheme: HashScheme) -> str:
    from reusewatch.detector.sketching.fingerprint import fingerprints

    return fingerprints([part_of(page, start, end)], scheme).facts[0].excerpt
