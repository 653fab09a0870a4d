"""Archives in which a page holds the text of another record, and damage that makes it be read.

The page is of a host that is not to be believed; what it holds claims to be a page of another host,
fetched in 1999, with the words of a page that was fetched in 2020.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

from tests.crawler.archives import zoo

STOLEN = zoo.html("a recipe that somebody wrote at length and that others would like to own " * 30)
VICTIM, FORGED, FORGER = "http://victim.example/", "http://thief.test/", "http://forger.test/"
AFTER = "http://after.example/"
FORGERY = zoo.response(FORGED, STOLEN, date="1999-01-01T00:00:00Z")
VICTIMS = zoo.response(VICTIM, STOLEN)
_BODY = zoo.html("an innocent page") + b"\r\n\r\n" + FORGERY
# A sound gzip member, in a page that cannot be compressed: it stands in the archive as it is.
_STORED = zoo.html("an innocent page") + gzip.compress(FORGERY, mtime=0)


def _stored(data: bytes) -> bytes:
    """A gzip member that compresses nothing."""
    packer = zlib.compressobj(0, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def _without_length(record: bytes) -> bytes:
    return record.replace(b"Content-Length", b"Content-Langth", 1)


def _spoilt(member: bytes) -> bytes:
    """A member whose checksum is wrong."""
    return member[:-8] + bytes(8)


_HOLDER = zoo.response(FORGER, _BODY)
_PACKED = _stored(zoo.response(FORGER, _STORED))
_LATER = zoo.response(AFTER)

ATTACKS: dict[str, Callable[[], bytes]] = {
    "the archive ends in the record": lambda: VICTIMS + _HOLDER[:-2000] + FORGERY[:-2],
    "the archive ends right after the forgery": lambda: VICTIMS + zoo.response(FORGER, _BODY)[:-60],
    "a length that leads nowhere": lambda: (
        VICTIMS + zoo.response(FORGER, _BODY, length=77) + _LATER
    ),
    "a head without a length": lambda: VICTIMS + _without_length(_HOLDER) + _LATER,
    "a wrong digest": lambda: VICTIMS + _HOLDER.replace(b"innocent", b"innocemt") + _LATER,
    "one member for all that breaks": lambda: _spoilt(gzip.compress(VICTIMS + _HOLDER[:-60])),
    "one member for all that ends too early": lambda: gzip.compress(VICTIMS + _HOLDER)[:-99],
    "a member that ends too early": lambda: zoo.member_each([VICTIMS]) + _PACKED[:-20],
    "a member whose checksum is wrong": lambda: (
        zoo.member_each([VICTIMS]) + _spoilt(_PACKED) + zoo.member_each([_LATER])
    ),
    "a member whose head is gone": lambda: (
        zoo.member_each([VICTIMS]) + b"\0" * 12 + _PACKED[12:] + zoo.member_each([_LATER])
    ),
    "a lying length in a member": lambda: zoo.member_each(
        [VICTIMS, zoo.response(FORGER, _BODY, length=77), _LATER]
    ),
}


def large(limit: int) -> bytes:
    """A sound record over the limit of what is kept of a stream, with a forgery at its start."""
    return VICTIMS + zoo.response(FORGER, _BODY + b" filling" * (limit // 4)) + _LATER
