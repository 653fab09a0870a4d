"""Whether a record's block holds the record after it: its length covers both.

A length that leads exactly to a later record is believed, and what stands between would be lost
without a word. Where no digest says that the block is whole, the answer in it may: if the HTTP body
ends before the block does, and there, behind line ends alone, a complete head of a record begins,
then the writer's length was wrong. A page that quotes a record within its body is none of this, as
the answer's own length goes past the quote; and a body that was stored without the encoding which
its length counts says nothing of where it ends.
"""

from __future__ import annotations

import re

from reusewatch.crawler.archives.arc import ARC
from reusewatch.crawler.archives.messages import MAX_HEAD, Message, response_of
from reusewatch.crawler.archives.warc import WARC
from reusewatch.crawler.pages.encodings import end_of_chunks, is_encoded
from reusewatch.detector.errors import BadPage

LENGTH = re.compile(r"[0-9]{1,15}")
_HEAD = 1 << 13
_TOLD = ("warc-type", "warc-record-id", "warc-date", "content-length")


def covered_at(block: bytes, message: Message | None, *, arc: bool = False) -> int | None:
    """Where in a block the head of another record begins; None where there is none. `arc`: of an
    archive whose heads are lines, and hold no digest."""
    end = _end_of_body(block, message) if message else None
    if end is None or end >= len(block):
        return None
    rest = block[end : end + _HEAD]
    blank = len(rest) - len(rest.lstrip(b"\r\n"))
    return end + blank if blank and _is_head(rest[blank:], arc=arc) else None


def _is_head(data: bytes, *, arc: bool) -> bool:
    if arc:
        return ARC.start.match(data) is not None and ARC.parse(data) is not None
    head = WARC.parse(data)
    return head is not None and all(head.fields.get(name) for name in _TOLD)


def covered_in(block: bytes, *, arc: bool = False) -> int | None:
    """The same of a block that may hold no answer."""
    try:
        return covered_at(block, response_of(block[:MAX_HEAD]), arc=arc)
    except BadPage:
        return None


def _end_of_body(block: bytes, message: Message) -> int | None:
    """Where the body ends by what the answer says of itself; None where it does not say."""
    if message.is_chunked:
        end = end_of_chunks(block[message.start :])
        return None if end is None else message.start + end
    length = message.fields.get("content-length", "")
    encoding = message.fields.get("content-encoding", "")
    if not LENGTH.fullmatch(length) or not is_encoded(block[message.start :], encoding):
        return None
    return message.start + int(length)
