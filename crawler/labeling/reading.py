"""The pages of what is to be labeled, and how many were left out, by the reason.

An error page is nobody's content, and a revisit brings none: both are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.crawler.labeling.sources import NOWHERE, LabelSource
from reusewatch.crawler.pages.archive_events import Found, Limits
from reusewatch.crawler.replaying.files import document_of_file
from reusewatch.crawler.replaying.jobs import now
from reusewatch.crawler.replaying.sources import expand
from reusewatch.crawler.replaying.trees import (
    is_tree_origin,
    origin_of_file,
    path_of_tree_origin,
    tree_pages,
)
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.documents import document_of
from reusewatch.streams.records import FINE, Origin, Page

if TYPE_CHECKING:
    from reusewatch.detector.sketching.fingerprint import Document


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page to be labeled: what it is called, its site where it stood on one, and where it can be
    read again."""

    document: Document
    url: str
    site: str | None
    origin: Origin


class LabelReading:
    """Reads sources, each page once; of archives and trees only the URLs in `wanted`, if given."""

    def __init__(self, scheme: HashScheme, limits: Limits, wanted: frozenset[str] | None) -> None:
        self._scheme = scheme
        self._limits = limits
        self._wanted = wanted
        self._found: set[str] = set()
        self.left_out: Counter[str] = Counter()

    def missing(self) -> list[str]:
        """URLs that were asked for and are in none of the sources."""
        return sorted((self._wanted or frozenset()) - self._found)

    def pages(self, source: LabelSource) -> Iterator[PageRead]:
        """The pages of a source that is no pack."""
        if source.kind == "file":
            document = document_of_file(Path(source.name), None, self._scheme)
            yield PageRead(document, source.name, None, origin_of_file(source.name, NOWHERE))
            return
        for found in self._records(source):
            if why := self._why_not(found):
                self.left_out[why] += 1
            elif found.page is not None:
                self._found.add(found.page.url)
                yield _read(found.page)

    def _records(self, source: LabelSource) -> Iterator[Found]:
        if source.kind == "tree":
            yield from tree_pages(
                source.name, source.url, scheme=self._scheme, limits=self._limits, clock=now
            )
            return
        for archive in expand([source.name]):
            yield from read_archive(
                archive.name, scheme=self._scheme, limits=self._limits, clock=now
            )

    def _why_not(self, found: Found) -> str | None:
        """Why a record is left out; the names are those of the summary's `left_out`."""
        page = found.page
        if page is None:
            return "damaged" if found.damage else "no-page"
        if page.revisit_of is not None:
            return "revisit"
        if page.status is not None and page.status not in FINE:
            return "error-page"
        if self._wanted is not None and page.url not in self._wanted:
            return "not-listed"
        return None


def _read(page: Page) -> PageRead:
    """A page; one of a tree that was served nowhere is called by its file."""
    source = page.origin.source
    if is_tree_origin(source) and page.url.startswith(NOWHERE):
        return PageRead(document_of(page), path_of_tree_origin(source), None, page.origin)
    return PageRead(document_of(page), page.url, page.site, page.origin)
