"""Content and transfer encodings, undone within bounds.

What comes out is never larger than was allowed, and never still encoded: bytes that cannot be
decoded are no page. One leniency, since many archives store decoded bodies and leave the
header: a body that is not what its header says and reads as text is taken as it is.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import cast

import brotli

from reusewatch.crawler.compression.frames import CutShort, NotAFrame, decoder_with, frame_pieces
from reusewatch.crawler.compression.views import InMemory
from reusewatch.detector.errors import BadPage

GZIP = b"\x1f\x8b\x08"
ZSTD = b"\x28\xb5\x2f\xfd"
_NAMES = {GZIP: "gzip", ZSTD: "zstd"}
_PACKED = tuple(_NAMES)
_NONE = frozenset({"", "identity", "none", "utf-8", "8bit", "7bit", "binary", "chunked"})
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_MAX_MEMBERS = 64


class Undecodable(Exception):
    """Bytes that are not of the encoding in question."""


def decode(body: bytes, header: str, *, max_bytes: int, max_encodings: int) -> bytes:
    """A body with its content encodings undone. BadPage where they cannot be.

    A body that is compressed beyond what its header says is undone as well.
    """
    if not header and not _compressed(body):
        return body
    names = [name for part in header.split(",") if (name := part.strip().lower()) not in _NONE]
    if not body or (not names and not _compressed(body)):
        return body
    if len(names) > max_encodings:
        if reads_as_text(body):
            return body
        raise BadPage("nested-encodings", f"Content-Encoding: {header[:200]}")
    for done, name in enumerate(reversed(names)):
        try:
            body = _undo(body, name, max_bytes)
        except BadPage as error:
            if error.reason == "too-large" or not reads_as_text(body):
                raise
            return _undo_unsaid(body, max_encodings - done, max_bytes)
    return _undo_unsaid(body, max_encodings - len(names), max_bytes)


def _undo_unsaid(body: bytes, left: int, max_bytes: int) -> bytes:
    while name := _compressed(body):
        if left <= 0:
            raise BadPage("nested-encodings", f"still {name} after all that may be undone")
        body = _undo(body, name, max_bytes)
        left -= 1
    return body


def is_compressed(body: bytes) -> bool:
    """Whether a body is compressed, whatever is said of it."""
    return body.startswith(_PACKED)


def _compressed(body: bytes) -> str | None:
    return next((name for magic, name in _NAMES.items() if body.startswith(magic)), None)


def _undo(body: bytes, name: str, max_bytes: int) -> bytes:
    decoder = _DECODERS.get(name)
    if decoder is None:
        raise BadPage("unknown-encoding", f"Content-Encoding: {name[:80]!r}")
    try:
        decoded = decoder(body, max_bytes + 1)
    except (Undecodable, zlib.error, brotli.error, CutShort, NotAFrame) as error:
        raise BadPage("bad-encoding", f"not decodable as {name}: {error}") from error
    if len(decoded) > max_bytes:
        raise BadPage("too-large", f"more than {max_bytes} bytes once {name} is undone")
    return decoded


def _gunzip(body: bytes, limit: int) -> bytes:
    """The members of a gzip body; what follows the last one is ignored, as browsers do."""
    parts: list[bytes] = []
    # Each member copies what follows it: without a bound a million of them take hours.
    for _ in range(_MAX_MEMBERS):
        inflate = zlib.decompressobj(31)
        parts.append(inflate.decompress(body, limit))
        limit -= len(parts[-1])
        if limit <= 0:
            break
        if not inflate.eof:
            raise Undecodable("it ends too early")
        body = inflate.unused_data
        if not body.startswith(GZIP):
            break
    else:
        raise Undecodable(f"more than {_MAX_MEMBERS} gzip members")
    return b"".join(parts)


def _inflate(body: bytes, limit: int) -> bytes:
    """`deflate`: with the zlib header that the standard asks for, or without, as some send it."""
    try:
        return _inflate_as(body, zlib.MAX_WBITS, limit)
    except (Undecodable, zlib.error):
        return _inflate_as(body, -zlib.MAX_WBITS, limit)


def _inflate_as(body: bytes, bits: int, limit: int) -> bytes:
    inflate = zlib.decompressobj(bits)
    out = inflate.decompress(body, limit)
    if not inflate.eof and len(out) < limit:
        raise Undecodable("it ends too early")
    return out


def _unbrotli(body: bytes, limit: int) -> bytes:
    decoder = brotli.Decompressor()
    out = decoder.process(body, output_buffer_limit=limit)
    while not decoder.is_finished() and len(out) < limit:
        more = decoder.process(b"", output_buffer_limit=limit - len(out))
        if not more:
            raise Undecodable("it ends too early")
        out += more
    return cast(bytes, out)


def _unzstd(body: bytes, limit: int) -> bytes:
    parts: list[bytes] = []
    view, at, decoder = InMemory(body), 0, decoder_with()
    while at < len(body) and limit > 0:
        for data, end in frame_pieces(view, at, decoder):
            parts.append(data)
            limit -= len(data)
            at = end
            if limit <= 0:
                break
    return b"".join(parts)


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}


def reads_as_text(body: bytes) -> bool:
    """Whether bytes may be text: no control characters at their start; short ones are UTF-8.

    >>> reads_as_text(b"<p>plain</p>"), reads_as_text(bytes(range(40)))
    (True, False)
    """
    begin = body[:1024]
    if begin.startswith(_UTF16):
        return True
    if _CONTROL.search(begin):
        return False
    return len(begin) >= 64 or _is_utf8(begin)


def is_encoded(body: bytes, header: str) -> bool:
    """Whether a body is still as its Content-Encoding says; some writers store what it decodes to.

    >>> is_encoded(b"<p>", ""), is_encoded(b"<p>", "gzip"), is_encoded(b"\\x1f\\x8b\\x08", "gzip")
    (True, False, True)
    """
    names = {name.strip().lower() for name in header.split(",")}
    return names <= _NONE or not reads_as_text(body[:4096])


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def dechunk(body: bytes) -> tuple[bytes, bool]:
    """A body without its chunks, and whether the last one was missing. BadPage if they are broken.

    A body that does not start with a chunk's size was stored without chunks: it is as it should be.

    >>> dechunk(b"3\\r\\nabc\\r\\n0\\r\\n\\r\\n"), dechunk(b"<html>")
    ((b'abc', False), (b'<html>', False))
    """
    if not _CHUNK_SIZE.match(body):
        if not body or reads_as_text(body) or _compressed(body):
            return body, False
        raise BadPage("bad-chunks", f"no chunk size at the start: {body[:24]!r}")
    parts: list[bytes] = []
    at = 0
    while at < len(body):
        size, at = _chunk_size(body, at)
        if size == 0:
            return b"".join(parts), False
        parts.append(body[at : at + size])
        at = _chunk_end(body, at, size)
    return b"".join(parts), True


def end_of_chunks(body: bytes) -> int | None:
    """Where the last chunk ends; None where it is missing, or the body is not in chunks.

    >>> end_of_chunks(b"3\\r\\nabc\\r\\n0\\r\\n\\r\\nmore"), end_of_chunks(b"<html>")
    (13, None)
    """
    at = 0
    try:
        while at < len(body):
            size, at = _chunk_size(body, at)
            at = _chunk_end(body, at, size)
            if size == 0:
                return at
    except BadPage:
        pass
    return None


def _chunk_size(body: bytes, at: int) -> tuple[int, int]:
    match = _CHUNK_SIZE.match(body, at)
    if match is None:
        raise BadPage("bad-chunks", f"no chunk size at byte {at}: {body[at : at + 24]!r}")
    return int(match[1], 16), match.end()


def _chunk_end(body: bytes, at: int, size: int) -> int:
    if at + size > len(body):
        raise BadPage("bad-chunks", f"a chunk of {size} bytes, {len(body) - at} are left")
    at += size
    if body[at : at + 2] == b"\r\n":
        return at + 2
    return at + 1 if body[at : at + 1] == b"\n" else at
