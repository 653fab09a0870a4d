"""What a record is: a page, a copy of a page stored before, none, or damage.

Response, resource and conversion records are pages if they hold HTML, XHTML or plain text;
revisits are pages without a body. The digest is compared before anything is decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from reusewatch.crawler.archives.covering import LENGTH, covered_at
from reusewatch.crawler.archives.digests import Answer, check
from reusewatch.crawler.archives.framing import Break, Record
from reusewatch.crawler.archives.messages import MAX_HEAD, Message, response_of
from reusewatch.crawler.pages.archive_events import SKIPPED, Found, Reading
from reusewatch.crawler.pages.dates import date_of
from reusewatch.crawler.pages.encodings import dechunk, decode, is_encoded
from reusewatch.crawler.pages.page import (
    may_be_page,
    media_type,
    page_from_response,
    page_of_revisit,
)
from reusewatch.detector.errors import BadPage
from reusewatch.streams.records import UNDATED, Page, Sighting

# Of what strangers write there; a urn:uuid has 45 characters.
_LONGEST_ID = 200
_UNCHANGED = 304
PAGE_KINDS = frozenset({"response", "resource", "conversion", "revisit"})


class _Stored(NamedTuple):
    """A record's block as it is kept, and the HTTP message in it if there is one."""

    fields: dict[str, str]
    block: bytes
    message: Message | None
    content_type: str
    payload: bytes
    is_cut: bool

    @property
    def content_encoding(self) -> str:
        return self.message.fields.get("content-encoding", "") if self.message else ""

    @property
    def is_partial(self) -> bool:
        """Whether the record says itself that it holds a part only."""
        return "warc-truncated" in self.fields or "warc-segment-number" in self.fields


def found_of(piece: Record | Break, reading: Reading) -> Found:
    """The event that a piece of an archive is."""
    if isinstance(piece, Break):
        return reading.damage(
            piece.reason, piece.detail, piece.offset, piece.next_offset, piece.url, piece.doubt
        )
    return judge(piece, reading)


def skipped_as(said: str) -> str | None:
    """As what a record of this type is skipped; None where it may be a page."""
    kind = said.strip().lower()
    if kind in PAGE_KINDS:
        return None
    return kind if kind in SKIPPED else "unknown"


def judge(record: Record, reading: Reading) -> Found:
    """The event that a record is."""
    said = record.fields.get("warc-type", "")
    if (kind := skipped_as(said)) is not None:
        return reading.skip(kind, record.offset, record.next_offset)
    # WARC 1.0's grammar has angle brackets around the URL, and some writers follow it.
    url = record.fields.get("warc-target-uri", "").strip().removeprefix("<").removesuffix(">")
    protocol, colon, _ = url.partition(":")
    if colon and protocol.lower() not in ("http", "https"):
        skipped = "dns" if protocol.lower() == "dns" else "other-scheme"
        return reading.skip(skipped, record.offset, record.next_offset)
    try:
        return _page(record, said.strip().lower(), url, reading)
    except BadPage as bad:
        return reading.damage(bad.reason, bad.detail, record.offset, record.next_offset, url)


def _page(record: Record, kind: str, url: str, reading: Reading) -> Found:
    if kind == "revisit":
        return _revisit(record, url, reading)
    begin, fields, most = record.read(MAX_HEAD), record.fields, reading.limits.max_record_bytes
    message = _message(begin, fields, kind)
    content_type = (message.fields if message else fields).get("content-type", "")
    if not may_be_page(content_type):
        return reading.skip("content-type", record.offset, record.next_offset)
    block = begin if record.length <= MAX_HEAD and record.length <= most else record.read(most)
    payload = block[message.start :] if message else block
    stored = _Stored(fields, block, message, content_type, payload, len(block) < record.length)
    digest = _digest(stored, reading) if reading.digests else "right"
    if digest != "right":
        # Heads of ARC say their length by their place in a line, and not as a field.
        arc = "content-length" not in fields
        if (at := covered_at(block, message, arc=arc)) is not None:
            covers = f"covers another record, at byte {at} of the block"
            raise BadPage("bad-length", f"Content-Length {record.length} {covers}")
    page = _page_of(stored, kind, url, record.offset, reading)
    if page is None:
        return reading.skip("content-type", record.offset, record.next_offset)
    return reading.page(page, record.next_offset, unverified=digest == "unnamed algorithm")


def _message(begin: bytes, fields: dict[str, str], kind: str) -> Message | None:
    """The HTTP message in a record. A response need not hold one, whatever its type says."""
    said = media_type(fields.get("content-type", "")) == "application/http"
    if said or (kind == "response" and begin[:5].upper() == b"HTTP/"):
        return response_of(begin)
    return None


def _page_of(stored: _Stored, kind: str, url: str, offset: int, reading: Reading) -> Page | None:
    message, payload, truncated = stored.message, stored.payload, stored.is_partial
    if stored.is_cut and message and (message.is_chunked or stored.content_encoding):
        raise BadPage("too-large", f"an encoded body of more than {len(payload)} bytes")
    if message and message.is_chunked:
        payload, unfinished = dechunk(payload)
        truncated = truncated or unfinished
    elif message and not stored.is_cut:
        truncated = truncated or _ends_early(message, payload)
    # A WET record is text that was extracted, and always UTF-8.
    is_wet = kind == "conversion" and media_type(stored.content_type) == "text/plain"
    return page_from_response(
        url,
        fetched_at=date_of(stored.fields.get("warc-date")) or UNDATED,
        status=message.status if message else None,
        content_type=stored.content_type,
        content_encoding=stored.content_encoding,
        body=payload,
        origin=reading.origin(offset, record_id(stored.fields.get("warc-record-id", ""))),
        scheme=reading.scheme,
        limits=reading.limits,
        ip=address(stored.fields.get("warc-ip-address", "")),
        charset="utf-8" if is_wet else None,
        # 206 is what a server answers with a part of a page.
        truncated=truncated or stored.is_cut or (message is not None and message.status == 206),
    )


def _ends_early(message: Message, payload: bytes) -> bool:
    """Whether the body is shorter than the answer says; one that was stored without the encoding
    which its length counts, and 304, which has none, say nothing of it."""
    said = message.fields.get("content-length", "")
    if not LENGTH.fullmatch(said) or int(said) <= len(payload) or message.status == _UNCHANGED:
        return False
    return is_encoded(payload, message.fields.get("content-encoding", ""))


def record_id(said: str) -> str | None:
    """The record's name, as an index of its archive has it."""
    return said.strip().removeprefix("<").removesuffix(">")[:_LONGEST_ID] or None


def address(said: str) -> str | None:
    """Where a record says that its answer came from; None where that is no address."""
    ip = said.strip()
    return ip if 2 < len(ip) < 64 else None


def _digest(stored: _Stored, reading: Reading) -> Answer | str:
    """Compare the digests. BadPage if they are wrong."""
    block_label = stored.fields.get("warc-block-digest")
    # The payload digest of a partial record is that of the whole.
    payload_label = None if stored.is_partial else stored.fields.get("warc-payload-digest")
    if stored.is_cut or not (block_label or payload_label):
        return "unknown"
    answer = check(block_label, payload_label, stored.block, _payloads(stored, reading))
    if answer == "wrong":
        raise BadPage("wrong-digest", f"neither {block_label} nor {payload_label} fits")
    return answer if answer == "right" else "unnamed algorithm"


def _payloads(stored: _Stored, reading: Reading) -> Iterator[Callable[[], bytes | None]]:
    """What writers take for the payload, each made when it is needed: mostly none is."""
    limits = reading.limits

    def unchunked() -> bytes | None:
        is_chunked = stored.message is not None and stored.message.is_chunked
        return dechunk(stored.payload)[0] if is_chunked else None

    def decoded() -> bytes | None:
        body = unchunked() or stored.payload
        header = stored.content_encoding
        most = limits.max_body_bytes
        return decode(body, header, max_bytes=most, max_encodings=limits.max_encodings)

    yield lambda: stored.payload
    yield _or_none(unchunked)
    yield _or_none(decoded)


def _or_none(make: Callable[[], bytes | None]) -> Callable[[], bytes | None]:
    """A payload that cannot be decoded fits no digest."""

    def made() -> bytes | None:
        try:
            return make()
        except BadPage:
            return None

    return made


def _revisit(record: Record, url: str, reading: Reading) -> Found:
    """A page whose payload is that of an earlier record: it has no body of its own."""
    block = record.read(MAX_HEAD)
    message = response_of(block) if block[:5].upper() == b"HTTP/" else None
    content_type = message.fields.get("content-type", "") if message else ""
    if not may_be_page(content_type):
        return reading.skip("content-type", record.offset, record.next_offset)
    # Only the block's digest: that of the payload is of the payload that was stored before.
    label = record.fields.get("warc-block-digest")
    if len(block) == record.length and check(label, None, block, []) == "wrong":
        raise BadPage("wrong-digest", f"{label} does not fit")
    fields = record.fields
    named = fields.get("warc-refers-to-target-uri", "").strip("<> ") or url
    page = page_of_revisit(
        url,
        fetched_at=date_of(fields.get("warc-date")) or UNDATED,
        status=message.status if message else None,
        content_type=content_type,
        origin=reading.origin(record.offset, record_id(fields.get("warc-record-id", ""))),
        scheme=reading.scheme,
        revisit_of=Sighting(url=named, fetched_at=date_of(fields.get("warc-refers-to-date"))),
        ip=address(fields.get("warc-ip-address", "")),
    )
    return reading.page(page, record.next_offset)
