"""A page as nearly all archives hold them, taken from its record in one go: an answer under a sound
digest, its head written plainly, its body neither encoded nor in chunks.

Whatever is not exactly that is None here, and is left to `judging`, which says what it is. What
comes of a record must not hang on who took it: a test holds both to the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from reusewatch.crawler.archives.digests import digest_of
from reusewatch.crawler.archives.headers import is_plain
from reusewatch.crawler.archives.judging import address, record_id
from reusewatch.crawler.archives.messages import MAX_HEAD
from reusewatch.crawler.pages.archive_events import Found, Reading
from reusewatch.crawler.pages.charsets import charset_of
from reusewatch.crawler.pages.dates import date_of
from reusewatch.crawler.pages.encodings import is_compressed
from reusewatch.crawler.pages.page import is_page, media_type
from reusewatch.detector.errors import BadPage
from reusewatch.streams.records import UNDATED, Origin, Page
from reusewatch.streams.urls import place

# Ways in which archives name the fields of their records: a writer has a few.
_WAYS = 256
# What is asked of a record's fields.
_NAMES = (
    "content-length", "warc-type", "content-type", "warc-target-uri", "warc-date",
    "warc-record-id", "warc-ip-address", "warc-block-digest", "warc-payload-digest",
)  # fmt: skip
_PARTIAL = frozenset({"warc-truncated", "warc-segment-number"})
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)[^\r\n]*\r(?=\n)")
_TYPE = b"\ncontent-type:"
_LENGTH = b"\ncontent-length:"
_ENCODED, _TRANSFERRED = b"\ncontent-encoding:", b"\ntransfer-encoding:"
# Of a length so many digits are read: of a longer one nobody has as many bytes.
_DIGITS = 16
# What a server answers with a part of a page.
_PART = 206
_WEB = ("http://", "https://")


class Way(NamedTuple):
    """A way to name the fields of a record, in their order."""

    names: tuple[str, ...]
    # How long the lines are without their values.
    plain: int
    is_usual: bool
    # Of the values, with an empty one behind them: those of `_NAMES`, empty what is not there.
    ask: Callable[[tuple[str, ...]], tuple[str, ...]]


@lru_cache(maxsize=_WAYS)
def way_of(names: tuple[str, ...]) -> Way | None:
    """The way in which a record names its fields, and behind them nothing; None where it names one
    twice."""
    lowered = tuple(name.lower() for name in names)
    known = set(lowered)
    if len(known) < len(lowered):
        return None
    at = (lowered.index(name if name in known else "") for name in _NAMES)
    plain = sum(len(name) + 4 for name in names[:-1])
    return Way(lowered[:-1], plain, not known & _PARTIAL, itemgetter(*at))


def usual_page(
    asked: tuple[str, ...], block: bytes, offset: int, end: int, reading: Reading
) -> Found | None:
    """The page in a whole record that says this of itself; None if it needs a closer look."""
    _, kind, kept_as, url, date, name, ip, block_label, payload_label = asked
    url = url.strip()
    if kind != "response" or media_type(kept_as) != "application/http" or url[-1:] == ">":
        return None
    answer = _answer_in(block)
    if answer is None or not url.startswith(_WEB):
        return None
    status, content_type, body = answer
    if is_compressed(body) or len(body) > reading.limits.max_body_bytes:
        return None
    if reading.digests:
        digest = digest_of(block_label or payload_label)
        if digest is None or not digest.fits(block if block_label else body):
            return None
    try:
        where = place(url, reading.scheme)
    except BadPage:
        return None
    charset, said_by = charset_of(body, content_type)
    page = Page(
        id=where.page_id,
        url=url,
        site=where.site,
        host=where.host,
        fetched_at=date_of(date) or UNDATED,
        content_type=media_type(content_type),
        body=body,
        origin=Origin(source=reading.source, offset=offset, record_id=record_id(name)),
        ip=address(ip),
        status=status,
        charset=charset,
        charset_from=said_by,
        truncated=status == _PART,
    )
    return reading.page(page, end)


def _answer_in(block: bytes) -> tuple[int, str, bytes] | None:
    """Status, type and body of an answer that is a page, neither encoded nor in chunks."""
    status = _STATUS.match(block)
    if status is None:
        return None
    begin = status.end()
    stop = block.find(b"\r\n\r\n", begin, MAX_HEAD)
    # With the line end behind it: a head that ends in LF alone ends earlier.
    head = block[begin : stop + 1]
    if stop < 0 or not is_plain(head):
        return None
    lowered = head.lower()
    at = lowered.find(_TYPE)
    if at < 0 or _ENCODED in lowered or _TRANSFERRED in lowered:
        return None
    # A line ends with LF, whatever stands before it.
    end = head.find(b"\n", at + 1)
    found = head[at + len(_TYPE) : end if end >= 0 else None].decode("ascii").strip()
    at, size = lowered.find(_LENGTH), len(block) - stop - 4
    if at >= 0:
        end = head.find(b"\n", at + 1)
        said = head[at + len(_LENGTH) : end if end >= 0 else None].strip()
        # One that is longer may be of a body that ends too early.
        if not said.isdigit() or int(said[:_DIGITS]) > size:
            return None
    # Behind an interim answer another one stands.
    if not is_page(found) or status[1] < b"200":
        return None
    return int(status[1]), found, block[stop + 4 :]
