"""Pages that went by a moment ago: where the stages run in the process that brings the pages, the
one that is reported need not be read from its archive again.

Bounded in bytes; whatever is not at hand is read again. Where it can be, what is told is the same
either way; of a page that came from a pipe, or whose spool is gone, this is all that is left, and
no other process has it.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.origins import spool_of
from reusewatch.streams.page_text import CHANGED, Gone, ReadKnown, together
from reusewatch.streams.records import STDIN, Origin, Page
from reusewatch.streams.stages.fingerprinting import ReadOrigin

MOST_BYTES = 4 << 20
"""Of what went by before the pages that are judged. With twice as much, a replay in which a quarter
of all pages are copies takes the same CPU. Those that are on their way to be judged, where several
processes make fingerprints, have not gone by."""
HELD_BYTES = 16 << 20
"""Of pages that are known to be asked for, but not before many others have gone by."""
# What leads to a record, without what else is said of it.
_At = tuple[str, int | None]


class RecentPages:
    """The last pages by where they came from; is called as what reads a page again."""

    def __init__(self, read_origin: ReadOrigin, most_bytes: int = MOST_BYTES) -> None:
        self._read_origin = read_origin
        self._most = most_bytes
        self._pages: OrderedDict[_At, Page] = OrderedDict()
        self._bytes = 0
        # Of those the ones that are held from when they would leave; and those that are held.
        self._expected: set[_At] = set()
        self._held: dict[_At, Page] = {}
        self._held_bytes = 0

    def saw(self, *pages: Page) -> None:
        """Pages go by, and are judged together: all of them are at hand until others go by, however
        many bytes they have. Of those that came through a pipe nobody else has any."""
        kept = 0
        for page in pages:
            if page.origin.offset is None or page.by_reference:
                continue
            at = page.origin.source, page.origin.offset
            before = self._pages.pop(at, None)
            self._bytes += len(page.body) - (len(before.body) if before else 0)
            self._pages[at] = page
            kept += 1
        while self._bytes > self._most and len(self._pages) > kept:
            self._leaves(*self._pages.popitem(last=False))

    def _leaves(self, at: _At, page: Page) -> None:
        """Where there is no room those are held that came before: they are asked for first."""
        self._bytes -= len(page.body)
        if at in self._expected and self._held_bytes + len(page.body) <= HELD_BYTES:
            self._held[at] = page
            self._held_bytes += len(page.body)
        self._expected.discard(at)

    def hold(self, origin: Origin) -> None:
        """The page of an origin is asked for later: if it is at hand, it stays until then."""
        at = origin.source, origin.offset
        if at in self._pages:
            self._expected.add(at)

    def release(self, origin: Origin) -> Page | None:
        """The page of an origin, if it was held for somebody; it is held no more."""
        at = origin.source, origin.offset
        self._expected.discard(at)
        page = self._held.pop(at, None)
        self._held_bytes -= len(page.body) if page else 0
        return page

    def only_here(self, origin: Origin) -> bool:
        """Whether another process may fail to read the page, though it is at hand here: it came
        from a pipe, or its spool goes away when it was judged."""
        if origin.source == STDIN or spool_of(origin) is not None:
            return True
        try:
            return not stat.S_ISREG(os.stat(origin.source).st_mode)
        except (OSError, ValueError):
            # A page of a tree or of a package, named together with its file; or nobody has it.
            return False

    def __call__(self, origin: Origin) -> Page:
        """The page of an origin: from memory, or read again. One that was held is held no more."""
        return self._at_hand(origin) or self._read_origin(origin)

    @contextmanager
    def together(self, scheme: HashScheme) -> Iterator[ReadKnown]:
        """The same of pages whose hashes are known; those that are not at hand are read in the way
        of whoever reads again."""
        with together(self._read_origin, scheme) as read_again:

            def read(origin: Origin, file_hash: int) -> Page | Gone:
                page = self._at_hand(origin)
                if page is None:
                    return read_again(origin, file_hash)
                return page if scheme.of_bytes(page.body) == file_hash else CHANGED

            yield read

    def _at_hand(self, origin: Origin) -> Page | None:
        held = self.release(origin)
        return self._pages.get((origin.source, origin.offset)) or held
