"""From a page's bytes in its own charset to UTF-8, and offsets back (Encoding standard, 4.2).

UTF-8 and ASCII are not copied or even checked: the scan reads what is broken in them as a browser
does, so offsets into them are offsets into the body. Other charsets are decoded, what is broken in
them replaced, and offsets are mapped back when evidence asks for it.

Which charset a page has (byte order mark, header, meta, detection) is decided elsewhere.
"""

from __future__ import annotations

import codecs
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Labels that browsers read otherwise than Python, or that Python does not know.
_AS_BROWSERS_DO = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "iso8859-1": "cp1252",
    "iso_8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "l1": "cp1252",
    "iso-8859-9": "cp1254", "latin5": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874",
    "iso-8859-8-i": "iso-8859-8", "windows-874": "cp874", "gb2312": "gb18030", "gbk": "gb18030",
    "gb_2312-80": "gb18030", "x-gbk": "gb18030", "chinese": "gb18030", "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949", "windows-949": "cp949", "korean": "cp949", "shift_jis": "cp932",
    "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "ms_kanji": "cp932", "big5": "big5hkscs", "big5-hkscs": "big5hkscs", "x-x-big5": "big5hkscs",
    "utf-16": "utf-16-le", "unicode": "utf-16-le", "ucs-2": "utf-16-le", "utf-32": "utf-32-le",
    "x-mac-cyrillic": "mac-cyrillic", "macintosh": "mac-roman", "x-euc-jp": "euc-jp",
}  # fmt: skip
# Python has codecs that are no charsets of the web (`hex`, `idna`, `unicode_escape`, `utf-7`).
_CHARSETS = frozenset(
    [
        *(f"cp{number}" for number in (866, 874, 932, 949, *range(1250, 1259))),
        *(f"iso8859-{number}" for number in (*range(1, 12), 13, 14, 15, 16)),
        *("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "big5hkscs", "gb18030", "hz"),
        *("euc_jp", "iso2022_jp", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic"),
    ]
)
# In these a body of ASCII bytes is that text; in the others (UTF-16, HZ, ISO-2022-JP) it is not.
_CONTAIN_ASCII = _CHARSETS - {
    "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "hz", "iso2022_jp"
}  # fmt: skip
_ONE_BYTE_EACH = frozenset(
    name for name in _CHARSETS if name.startswith(("cp12", "cp8", "iso8859", "koi8", "mac"))
) - {"cp932", "cp949"}
_FALLBACK = "cp1252"
_PIECE = 4096


@dataclass(frozen=True, slots=True)
class Decoded:
    """A body as UTF-8 text, and the way back."""

    utf8: bytes
    charset: str  # as it was read, by Python's name
    body: bytes = field(repr=False)
    _marks: list[_Mark] = field(default_factory=list, repr=False)

    @property
    def contains_ascii(self) -> bool:
        """Whether markup stands in the body as ASCII bytes."""
        return self.charset == "utf-8" or self.charset in _CONTAIN_ASCII

    def body_offset(self, offset: int) -> int:
        """The offset in the body of the character that stands at an offset in the text.

        Linear in the body at the first call, in a few kilobytes at every further one.
        """
        if self.charset == "utf-8":
            return offset
        if offset >= len(self.utf8):
            return len(self.body)
        if not self._marks:
            self._marks.extend(_marks(self.body, self.charset))
        mark = self._marks[bisect_right(self._marks, offset, key=lambda mark: mark.text) - 1]
        return _refined(self.body, self.charset, mark, offset)

    def body_offsets(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same of many offsets at once, in time linear in the page.

        Exact where the body is sound; a broken byte, or an escape sequence of a charset with
        shifts, moves what stands behind it.
        """
        if self.charset == "utf-8":
            return offsets
        if self.charset in _ONE_BYTE_EACH:
            # One character a byte: as many as begin before the offset.
            begins = (np.frombuffer(self.utf8, np.uint8) & 0xC0) != 0x80
            before = np.concatenate(([0], np.cumsum(begins, dtype=np.int32)))
            return before[np.minimum(offsets, len(begins))].astype(np.int64)
        text = self.utf8.decode("utf-8")
        points, which = np.unique(
            np.frombuffer(text.encode("utf-32-le"), np.uint32), return_inverse=True
        )
        lengths = [
            (len(char.encode(self.charset, "ignore")) or 1, len(char.encode()))
            for char in map(chr, points.tolist())
        ]
        in_body, in_text = np.array(lengths or [(0, 0)], np.int64).T
        ends = np.concatenate(([0], np.cumsum(in_text[which]))) if len(which) else np.zeros(1)
        starts = np.concatenate(([0], np.cumsum(in_body[which]))) if len(which) else np.zeros(1)
        found = starts[np.searchsorted(ends, offsets, side="right") - 1]
        return np.minimum(found, len(self.body)).astype(np.int64)


def decode(body: bytes, charset: str) -> Decoded:
    """A body in a charset as UTF-8: the body itself if that is what it is."""
    codec = codec_of(charset)
    if codec == "utf-8" or (codec in _CONTAIN_ASCII and body.isascii()):
        return Decoded(body, "utf-8", body)
    text = body.decode(codec, "replace")
    # A lone surrogate that a codec let through is no text.
    return Decoded(text.encode("utf-8", "replace"), codec, body)


@dataclass(frozen=True, slots=True)
class _Mark:
    """The decoder's state after so many bytes of the body, which gave so many of the text."""

    body: int
    text: int
    state: tuple[bytes, int]


def _marks(body: bytes, charset: str) -> Iterator[_Mark]:
    decoder = codecs.getincrementaldecoder(charset)("replace")
    done = 0
    for at in range(0, len(body), _PIECE):
        yield _Mark(at, done, decoder.getstate())
        done += len(decoder.decode(body[at : at + _PIECE]).encode("utf-8", "replace"))


def _refined(body: bytes, charset: str, mark: _Mark, offset: int) -> int:
    """From the mark on byte by byte: where the character starts that reaches past the offset."""
    decoder = codecs.getincrementaldecoder(charset)("replace")
    decoder.setstate(mark.state)
    start, done = mark.body - len(mark.state[0]), mark.text
    for at in range(mark.body, len(body)):
        more = len(decoder.decode(body[at : at + 1]).encode("utf-8", "replace"))
        if done + more > offset:
            return start
        done += more
        if more:
            start = at + 1 - len(decoder.getstate()[0])
    return start


@lru_cache(maxsize=1024)
def codec_of(charset: str) -> str:
    """Python's name of the charset that browsers mean by a label; windows-1252 for what is none.

    >>> codec_of("ISO-8859-1"), codec_of("utf8"), codec_of("unicode_escape")
    ('cp1252', 'utf-8', 'cp1252')
    """
    label = charset.strip().lower()
    try:
        name = codecs.lookup(_AS_BROWSERS_DO.get(label, label)).name
    except (LookupError, ValueError):
        return _FALLBACK
    if name in ("utf-8", "utf-8-sig"):
        return "utf-8"
    return name if name in _CHARSETS else _FALLBACK
