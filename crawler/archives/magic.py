"""What a file is, by its bytes; names lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from reusewatch.crawler.archives.arc import ARC
from reusewatch.crawler.archives.framing import Dialect, head_at, search, skip_blank
from reusewatch.crawler.archives.members import Codec, Flaw, Gzip, Zstd, begins, next_member
from reusewatch.crawler.archives.warc import WARC
from reusewatch.crawler.compression import frames
from reusewatch.crawler.compression.views import InMemory, View
from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.pages.page import looks_like_html

ZIP = b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_DIALECTS = (WARC, ARC)
_FIRST = 1 << 15
_FAR = 1 << 20
_BINARY = (
    (ZIP, "a zip package without archives"),
    (_EMPTY_ZIP, "an empty zip package"),
    (b"%PDF", "a PDF document"),
    (b"\x04\x22\x4d\x18", "an LZ4 file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"PAR1", "a Parquet file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x7fELF", "a program"),
)
_TEXT = (
    (b"{", "JSON"),
    (b" CDX", "a CDX index"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """How an archive is to be read. `whole`: its members do not fit its records."""

    dialect: Dialect
    codec: Codec | None = None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class NotAnArchive:
    """What a file is instead."""

    reason: str
    found: str


def shape_of(view: View, limits: Limits) -> Shape | NotAnArchive:
    """How the archive in a view is to be read, or what the view holds instead."""
    begin = view.at(0, _FIRST)
    if not begin:
        return NotAnArchive("empty-file", "a file of 0 bytes")
    codec = codec_of(view, begin)
    if codec is not None:
        return _packed_shape(view, codec, limits)
    dialect = _dialect_of(begin.lstrip(b"\r\n")) or _further(view, begin)
    shape = Shape(dialect) if dialect else _damaged_shape(view, begin)
    return shape or NotAnArchive("not-an-archive", describe(begin))


def codec_of(view: View, begin: bytes) -> Codec | None:
    """How a file is compressed, by its first bytes."""
    if begin.startswith(Gzip.magic):
        return Gzip()
    if begin.startswith(Zstd.magic) or frames.is_skippable(begin[:4]):
        return Zstd(view)
    return None


def describe(begin: bytes) -> str:
    """What bytes are, in words for people."""
    if looks_like_html(begin):
        return "an HTML page"
    return binary(begin) or _named(begin, _TEXT) or f"a file that starts with {begin[:24]!r}"


def binary(begin: bytes) -> str | None:
    """What bytes are that are known to be no text."""
    return _named(begin, _BINARY)


def _named(begin: bytes, known: Iterable[tuple[bytes, str]]) -> str | None:
    return next((words for magic, words in known if begin.startswith(magic)), None)


def _dialect_of(begin: bytes) -> Dialect | None:
    return next((dialect for dialect in _DIALECTS if dialect.start.match(begin)), None)


def _further(view: View, begin: bytes) -> Dialect | None:
    """The dialect of an archive whose start is damaged. A page that shows a record is none."""
    if looks_like_html(begin):
        return None
    # A stream can only be looked at as far as it is kept.
    far = view if view.seekable else InMemory(view.at(0, _FAR))
    for dialect in _DIALECTS:
        if far.at(search(far, 0, dialect), 1):
            return dialect
    return None


def _packed_shape(view: View, codec: Codec, limits: Limits) -> Shape | NotAnArchive:
    first = _first_data(view, codec)
    begin = begins(codec, view, first, _FIRST)
    dialect = _dialect_of(begin.lstrip(b"\r\n"))
    if dialect is not None:
        return Shape(dialect, codec, _is_whole(view, first, codec, dialect, limits))
    dialect = _later_dialect(view, codec)
    if dialect is not None:
        return Shape(dialect, codec)
    if inside := _further(InMemory(begins(codec, view, first, _FAR)), begin):
        return Shape(inside, codec, whole=True)
    if codec.trouble is not None:
        return NotAnArchive("too-large", f"a {codec.name} archive, and {codec.trouble}")
    return NotAnArchive("not-an-archive", f"{codec.name} of {describe(begin)}")


def _damaged_shape(view: View, begin: bytes) -> Shape | None:
    """The shape of a compressed archive whose very first bytes are damaged."""
    if looks_like_html(begin) or begin.startswith(b"PK"):
        return None
    codecs: tuple[Codec, ...] = (Gzip(), Zstd(view))
    for codec in codecs:
        if dialect := _later_dialect(view, codec):
            return Shape(dialect, codec)
    return None


def _first_data(view: View, codec: Codec) -> int:
    """Where the first frame starts that is not skippable."""
    at = 0
    try:
        while frames.is_skippable(view.at(at, 4)):
            *_, (_, at) = codec.pieces(view, at)
    except Flaw:
        return at
    return at


def _later_dialect(view: View, codec: Codec) -> Dialect | None:
    far = view if view.seekable else InMemory(view.at(0, _FAR))
    for dialect in _DIALECTS:
        if far.at(next_member(codec, far, 1, dialect), 1):
            return dialect
    return None


def _is_whole(view: View, first: int, codec: Codec, dialect: Dialect, limits: Limits) -> bool:
    """Whether the first member does not hold exactly one record."""
    data = InMemory(begins(codec, view, first, _FAR))
    head = head_at(data, skip_blank(data, 0), dialect, limits)
    if head is None or head.block_length is None:
        return False
    end = skip_blank(data, skip_blank(data, 0) + head.length + head.block_length)
    if len(data.data) < _FAR and not data.at(end, 1):
        return end > len(data.data) and _goes_on(view, first, codec, dialect)
    return bool(data.at(search(data, head.length, dialect), 1))


def _goes_on(view: View, first: int, codec: Codec, dialect: Dialect) -> bool:
    """Whether a record that its member is too short for goes on in the next member."""
    far = view if view.seekable else InMemory(view.at(0, _FAR))
    after = next_member(codec, far, first + 1, None)
    data = begins(codec, far, after, _FIRST)
    return bool(data) and not dialect.start.match(data.lstrip(b"\r\n"))
