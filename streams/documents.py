"""A page as it travels, turned into a page as the detector takes it. Nothing else does this."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reusewatch.streams.charsets import charset_of
from reusewatch.streams.records import Page

# A document stands in a module that needs numba, which a crawl host does not have.
if TYPE_CHECKING:
    from reusewatch.detector.sketching.fingerprint import Document


def document_of(page: Page) -> Document:
    """The page with its place: the words of its URL and its links depend on where it stands."""
    return documents_of([page])[0]


def documents_of(pages: Sequence[Page]) -> list[Document]:
    """The same of a batch of pages."""
    from reusewatch.detector.sketching.fingerprint import Document

    return [
        Document(
            page.body, page.url, page.host, page.site, charset_of(page),
            _is_html(page),
        )
        for page in pages
    ]  # fmt: skip


def part_of(page: Page, start: int, end: int) -> Document:
    """Some bytes of a page's body, read in the encoding and the type of the whole."""
    from reusewatch.detector.sketching.fingerprint import Document

    return Document(page.body[start:end], charset=charset_of(page), html=_is_html(page))


def _is_html(page: Page) -> bool:
    return page.content_type != "text/plain"
