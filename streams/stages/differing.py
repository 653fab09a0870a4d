"""The words in which two near-duplicates differ, from both pages read again where they came from.

Evidence beside figures, where it can be had: a page of a live crawl cannot be read again, an
archive may be gone or another by now. Only so many are read for a batch: judging goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.scanning.differences import differences
from reusewatch.streams.documents import document_of
from reusewatch.streams.origins import Origins
from reusewatch.streams.page_text import read_unchanged
from reusewatch.streams.records import Differs, Page

if TYPE_CHECKING:
    from reusewatch.detector.window.sightings import Seen
    from reusewatch.streams.blocks.subject import Subject
    from reusewatch.streams.stages.fingerprinting import ReadOrigin


class Differing:
    """Reads pages again, up to `most` pairs a batch."""

    def __init__(self, scheme: HashScheme, read_origin: ReadOrigin | None, most: int) -> None:
        self._scheme = scheme
        self._read_origin = read_origin
        self._most = most
        self._left = 0

    def begin(self) -> None:
        """A batch begins."""
        self._left = self._most

    def differs(self, here: Subject, there: Seen, origins: Origins) -> Differs | None:
        """The words that only one of two pages has; null where not both can be read."""
        if self._read_origin is None or not self._left or not (here.origin and there.origin):
            return None
        self._left -= 1
        ours = self._words(origins, here.origin, here.file)
        theirs = ours and self._words(origins, there.origin, there.file)
        if not ours or not theirs:
            return None
        found = differences(ours, theirs)
        return Differs(only_here=tuple(found.only_here), only_there=tuple(found.only_there))

    def _words(self, origins: Origins, number: int, file: int) -> list[str] | None:
        origin = origins.origin(number)
        if origin is None or self._read_origin is None:
            return None
        page = read_unchanged(self._read_origin, origin, file, self._scheme)
        return None if page is None else _words_of(page, self._scheme)


def _words_of(page: Page, scheme: HashScheme) -> list[str]:
    from reusewatch.detector.scanning.readable import Readable
    from reusewatch.detector.sketching.term_words import scan_of

    scanned = scan_of(document_of(page), scheme)
    return Readable(scanned).words()[: scanned.text_tokens]
