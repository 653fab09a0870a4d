"""A page as nearly all archives hold them, taken from its record in one go: an answer under a sound
digest, its head written plainly, its body neither encoded nor in chunks.

Whatever is not exactly that is left to `judging`, which says what it is. What comes of a record
must not hang on who took it: a test holds both to the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from reusewatch.crawler.archives.digests import is_right
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

# Nothing is given back of what was matched: a head that is not like that takes no longer.
_HEAD = re.compile(
    rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?!\d)[ -~]*+((?:\r\n[!-9;-~]++:[ -~]*+)*+)\r\n\r\n"
)
# What is asked of it, in lower case.
_ASKED = re.compile(rb"\n(content-(?:type|encoding|length)|transfer-encoding):([ -~]*)")
_TYPE, _LENGTH = b"content-type", b"content-length"
# Of records, and of what is said of their type.
_KINDS, _LONGEST = 256, 256
_HTTP = "application/http"
# Of a length so many digits are read: of a longer one nobody has as many bytes.
_DIGITS = 16
# What a server answers with a part of a page.
_PART = 206
_WEB = (b"http://", b"https://")


class _Type(NamedTuple):
    """What an answer says of its type, and what it is then."""

    said: str
    media: str
    may_be_page: bool
    is_page: bool


class _Answer(msgspec.Struct, frozen=True, gc=False):
    """What the head of an answer says."""

    status: int
    type: _Type
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
        kind = _known(_skipped_as, whole.asked[1])
        return None if kind is None else reading.skip(kind, offset, end)
    if not answer.type.may_be_page:
        return reading.skip("content-type", offset, end)
    page = usual_page(whole, answer, offset, reading)
    return None if page is None else reading.page(page, end)


def _known(of: Any, said: bytes) -> Any:
    """What was made of it before. Of what is longer, as anybody may write it, none is kept."""
    return of(said) if len(said) <= _LONGEST else of.__wrapped__(said)


# Of both there are few: each is taken apart once.
@lru_cache(maxsize=_KINDS)
def _skipped_as(said: bytes) -> str | None:
    return skipped_as(said.decode("ascii"))


@lru_cache(maxsize=_KINDS)
def _type_of(said: bytes) -> _Type:
    text = said.decode("ascii").strip()
    return _Type(text, media_type(text), may_be_page(text), is_page(text))


def _answer_in(whole: Whole) -> _Answer | None:
    """The answer that a record holds, if it is a server's and all of it is there."""
    _, kind, kept_as, url = whole.asked[:4]
    if kind != b"response" or not whole.way.is_usual or not url.startswith(_WEB):
        return None
    head = _HEAD.match(whole.data, whole.start, min(whole.stop, whole.start + MAX_HEAD))
    # Behind an interim answer another one stands.
    if head is None or head[1] < b"200" or _known(_type_of, kept_as).media != _HTTP:
        return None
    said, length, is_plain = b"", b"0", True
    # From the last one on: of a name the first counts.
    for name, value in reversed(_ASKED.findall(head[2].lower())):
        if name == _TYPE:
            said = value
        elif name == _LENGTH:
            length = value.strip()
        else:
            is_plain = False
    start = head.end()
    # A body that is to be longer may end too early.
    is_whole = length.isdigit() and int(length[:_DIGITS]) <= whole.stop - start
    return _Answer(int(head[1]), _known(_type_of, said), start, is_whole and is_plain)


def usual_page(whole: Whole, answer: _Answer, offset: int, reading: Reading) -> Page | None:
    """The page that an answer is; None if it needs a closer look."""
    _, _, _, said, date, name, ip, block_label, payload_label = whole.asked
    url, kind = said.decode("ascii").strip(), answer.type
    if not answer.is_plain or not kind.is_page or url[-1] == ">":
        return None
    block = memoryview(whole.data)[whole.start : whole.stop]
    body = bytes(block[answer.start - whole.start :])
    if is_compressed(body) or len(body) > reading.limits.max_body_bytes:
        return None
    if reading.digests and not is_right(
        block_label or payload_label, block if block_label else body
    ):
        return None
    try:
        where = place(url, reading.scheme)
    except BadPage:
        return None
    charset, said_by = charset_of(body, kind.said)
    named = record_id(name.decode("ascii"))
    return Page(
        id=where.page_id,
        url=url,
        site=where.site,
        host=where.host,
        fetched_at=date_of(date.decode("ascii")) or UNDATED,
        content_type=kind.media,
        body=body,
        origin=Origin(source=reading.source, offset=offset, record_id=named),
        ip=address(ip.decode("ascii")),
        status=answer.status,
        charset=charset,
        charset_from=said_by,
        truncated=answer.status == _PART,
    )
