"""The fast path: a gzipped WARC with a member per record, as long as all is well.

Where a member ends is not found by undoing it: its end is looked for in front of what looks like
the next one. That is believed if what it decompresses to has the checksum and the size that stand
there, and is exactly one record. At the first member for which that does not hold, or that is
large, reading is handed over to the path that looks closely.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from deflate import DeflateError, crc32, gzip_decompress

from reusewatch.crawler.archives.members import Gzip
from reusewatch.crawler.archives.usual import found_in
from reusewatch.crawler.archives.whole import Ways
from reusewatch.crawler.compression.views import STEP, OnDisk
from reusewatch.crawler.pages.archive_events import Found, Reading

_BEGIN = re.compile(re.escape(Gzip.magic))
# So much is read at once of a member that does not end within a step, and undone of any: of what is
# larger little is kept by who looks closely.
_LARGE = 1 << 22
_MOST = 1 << 23
# A checksum and a size of four bytes each end a member.
_SUM, _SIZE = 8, 4


def read_fast(
    view: OnDisk, start: int, reading: Reading, ways: Ways
) -> Generator[Found, None, int]:
    """Records from an offset on. Returns where the other path has to take over."""
    most = reading.limits.max_record_bytes
    begin, step = start, STEP
    while True:
        packed = view.at(begin, step)
        at = 0
        # The last member has none behind it: who looks closely says whether it is whole.
        for following in _BEGIN.finditer(packed, 1):
            end = following.start()
            data = unpacked(packed, at, end, most)
            whole = None if data is None else ways.whole(data)
            if whole is None:
                return begin + at
            yield found_in(whole, begin + at, begin + end, reading)
            at = end
        if at:
            begin, step = begin + at, STEP
        elif len(packed) < step or step == _LARGE:
            return begin
        else:
            step = _LARGE


def unpacked(packed: bytes, begin: int, end: int, most: int) -> bytearray | None:
    """What a member that stands exactly there decompresses to; None if it needs a closer look."""
    size = int.from_bytes(packed[end - _SIZE : end], "little")
    # Whoever wrote the size may have lied: so much is asked for before anything is undone.
    if size > min(most, _MOST):
        return None
    try:
        data = gzip_decompress(packed[begin:end], size)
    except (DeflateError, ValueError):
        return None
    # Where the member ends earlier, what stands in front of the next one is of something else. A
    # page in a record behind it may write a size there, and a member: no sum that it does not know.
    checksum = int.from_bytes(packed[end - _SUM : end - _SIZE], "little")
    return data if len(data) == size and crc32(data) == checksum else None
