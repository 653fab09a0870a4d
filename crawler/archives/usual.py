"""A page as nearly all archives hold them, taken from its record in one go: an answer under a sound
digest, its head written plainly, its body neither encoded nor in chunks.

Whatever is not exactly that is left to `judging`, which says what it is. What comes of a record
must not hang on who took it: a test holds both to the same.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reusewatch.crawler.archives.digests import digest_of
from reusewatch.crawler.archives.judging import address, judge, record_id, skipped_as
from reusewatch.crawler.archives.messages import MAX_HEAD
from reusewatch.crawler.archives.whole import Whole
from reusewatch.crawler.pages.archive_events import Found, Reading
from reusewatch.crawler.pages.charsets import charset_of
from reusewatch.crawler.pages.dates import date_of
from reusewatch.crawler.pages.encodings import is_compressed
from reusewatch.crawler.pages.page import is_page, may_be_page, media_type
from reusewatch.detector.errors import BadPage
from reusewatch.streams.records import UNDATED, Origin, Page
from reusewatch.streams.urls import place

_HEAD = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)[ -~]*((?:\r\n[!-9;-~]+:[ -~]*)*)\r\n\r\n")
# What is asked of it, in lower case.
_ASKED = re.compile(rb"\r\n(content-(?:type|encoding|length)|transfer-encoding):([ -~]*)")
_TYPE, _LENGTH = b"content-type", b"content-length"
_ENCODED = frozenset({b"content-encoding", b"transfer-encoding"})
# Of a length so many digits are read: of a longer one nobody has as many bytes.
_DIGITS = 16
# What a server answers with a part of a page.
_PART = 206
_WEB = ("http://", "https://")


class _Answer(NamedTuple):
    """What the head of an answer says."""

    status: int
    content_type: str
    # Where its body begins, and whether that is as it was sent: neither encoded nor in chunks.
    start: int
    is_plain: bool


def found_in(whole: Whole, offset: int, end: int, reading: Reading) -> Found:
    """What a record is, between these offsets."""
    usual = usual_in(whole, offset, end, reading)
    return judge(whole.record(offset, end), reading) if usual is None else usual


def usual_in(whole: Whole, offset: int, end: int, reading: Reading) -> Found | None:
    """The same, where it says this of itself; None if it needs a closer look."""
    answer = _answer_in(whole)
    if answer is None:
        # Beside most answers stands what was asked, and what else was noted.
        kind = skipped_as(whole.asked[1])
        return None if kind is None else reading.skip(kind, offset, end)
    if not may_be_page(answer.content_type):
        return reading.skip("content-type", offset, end)
    page = usual_page(whole, answer, offset, reading)
    return None if page is None else reading.page(page, end)


def _answer_in(whole: Whole) -> _Answer | None:
    """The answer that a record holds, if it is a server's and all of it is there."""
    _, kind, kept_as, url, *_ = whole.asked
    if kind != "response" or not whole.way.is_usual or not url.startswith(_WEB):
        return None
    head = _HEAD.match(whole.data, whole.start, min(whole.stop, whole.start + MAX_HEAD))
    # Behind an interim answer another one stands.
    if head is None or head[1] < b"200" or media_type(kept_as) != "application/http":
        return None
    # The first one of a name counts.
    fields = dict(reversed(_ASKED.findall(head[2].lower())))
    length, start = fields.get(_LENGTH, b"0").strip(), head.end()
    # One that is longer may be of a body that ends too early.
    is_whole = length.isdigit() and int(length[:_DIGITS]) <= whole.stop - start
    content_type = fields.get(_TYPE, b"").decode("ascii").strip()
    return _Answer(int(head[1]), content_type, start, is_whole and _ENCODED.isdisjoint(fields))


def usual_page(whole: Whole, answer: _Answer, offset: int, reading: Reading) -> Page | None:
    """The page that an answer is; None if it needs a closer look."""
    _, _, _, url, date, name, ip, block_label, payload_label = whole.asked
    url, content_type = url.strip(), answer.content_type
    if not answer.is_plain or not is_page(content_type) or url[-1] == ">":
        return None
    block = memoryview(whole.data)[whole.start : whole.stop]
    body = bytes(block[answer.start - whole.start :])
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
    return Page(
        id=where.page_id,
        url=url,
        site=where.site,
        host=where.host,
        fetched_at=date_of(date) or UNDATED,
        content_type=media_type(content_type),
        body=body,
        origin=Origin(source=reading.source, offset=offset, record_id=record_id(name)),
        ip=address(ip),
        status=answer.status,
        charset=charset,
        charset_from=said_by,
        truncated=answer.status == _PART,
    )
