"""Which pages of a damaged archive may be forged: those that were searched for, not reached.

A record is reached if the one before it ends where it begins. After damage the next one is searched
for, and what is found may be text that a page holds and that only looks like a record: anybody can
write such a page, dated 1999 and of any URL. Pages behind damage are therefore marked `salvaged`,
until the archive is beyond all that the damaged record can have written. Where nobody knows how far
that is, they are marked to the archive's end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from reusewatch.crawler.archives.framing import ALL
from reusewatch.crawler.pages.archive_events import Found

# Above this bit stands the number of a record in its member; see `Found`.
INDEX_BIT = 48
_OFFSET_MASK = (1 << INDEX_BIT) - 1


def salvaged(found: Found) -> Found:
    """The same event; a page that it is says that it was salvaged."""
    if found.page is None or found.page.salvaged:
        return found
    return replace(found, page=replace(found.page, salvaged=True))


def doubted(events: Iterable[Found], doubt: int, *, by_member: bool) -> Iterator[Found]:
    """Events of one archive, of which those before the offset `doubt` are not trusted.

    Each carries how far doubt goes after it, so that reading can go on from there.
    """
    for found in events:
        # Nearly all archives are sound, from the first record to the last.
        if not doubt and not found.doubt:
            yield found
            continue
        begin, end = found.offset, found.next_offset
        if by_member:
            begin, end = begin & _OFFSET_MASK, end & _OFFSET_MASK
        if begin < doubt and end > doubt and found.damage is None:
            # A member that decompresses to its checksum stands in one record or is one: where it
            # goes on past all that a page can have written, no page wrote it. A plain record may
            # have any length, and end in a later page that was made to fit.
            doubt = 0 if by_member else ALL
        marked = salvaged(found) if begin < doubt else found
        doubt = max(doubt, found.doubt)
        yield marked if marked.doubt == doubt else replace(marked, doubt=doubt)
