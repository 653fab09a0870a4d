"""From a page's bytes in its own charset to UTF-8, and offsets back (Encoding standard, 4.2).

UTF-8 and ASCII are not copied or even checked: the scan reads what is broken in them as a browser
does, so offsets into them are offsets into the body. Other charsets are decoded, what is broken in
them replaced, and offsets are mapped back when evidence asks for it.

Which charset a page has (byte order mark, header, meta, detection) is decided elsewhere.
"""

from __future__ import annotations

import codecs
import re
import threading
from array import array
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.scanning import characters as ch

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
# Runs without an escape sequence, and those.
_SHIFTED = {
    "hz": re.compile(rb"~[{}~\n]?|[^~]+"),
    "iso2022_jp": re.compile(rb"\x1b[$]?[(]?[@-Z]?|[^\x1b]+"),
}
_PAIR = 2
_BROKEN = 10_000
# Bytes or characters that are looked at together: sorted, these take forty bytes each.
_AT_ONCE = 1 << 17
_NOTING = "reusewatch-broken"


class Decoded(NamedTuple):
    """A body as UTF-8 text, and the way back."""

    utf8: bytes
    charset: str  # as it was read, by Python's name
    body: bytes

    @property
    def contains_ascii(self) -> bool:
        """Whether markup stands in the body as ASCII bytes."""
        return self.charset == "utf-8" or self.charset in _CONTAIN_ASCII

    def body_offsets(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where the characters that begin at offsets in the text begin in the body.

        In time linear in the page, and in memory of a few times its bytes. In a charset with shifts
        a character begins with the escape sequence before it. Exact but for pages that are broken
        in thousands of places.
        """
        if self.charset == "utf-8":
            return offsets
        characters = _characters_before(self.utf8, offsets)
        if self.charset in _ONE_BYTE_EACH:
            return characters
        if self.charset in _SHIFTED:
            starts: NDArray[np.int32] = np.frombuffer(_shifted(self.body, self.charset), np.int32)
        else:
            lengths = self._lengths()
            starts = np.zeros(len(lengths) + 1, np.int32)
            np.cumsum(lengths, dtype=np.int32, out=starts[1:])
        return np.minimum(starts[characters].astype(np.int64), len(self.body))

    def _lengths(self) -> NDArray[np.uint8]:
        """How many bytes of the body each character has."""
        text = self.utf8.decode("utf-8")
        found = np.empty(len(text), np.uint8)
        for begin in range(0, len(text), _AT_ONCE):
            some = text[begin : begin + _AT_ONCE].encode("utf-32-le")
            points, which = np.unique(np.frombuffer(some, np.uint32), return_inverse=True)
            lengths = [len(chr(one).encode(self.charset, "ignore")) or 1 for one in points.tolist()]
            found[begin : begin + _AT_ONCE] = np.array(lengths, np.uint8)[which]
        if "\ufffd" in text:
            for character, size in _broken(self.body, self.charset):
                found[character] = size
        return found


def _characters_before(utf8: bytes, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many characters begin before each of these bytes."""
    text = np.frombuffer(utf8, np.uint8)
    places, which = np.unique(np.minimum(offsets, len(text)), return_inverse=True)
    before = np.empty(len(places), np.int64)
    done = total = 0
    # Piece by piece: sums up to every byte of a page would be four times the page.
    for begin in range(0, len(text), _AT_ONCE):
        piece = text[begin : begin + _AT_ONCE]
        sums = np.zeros(len(piece) + 1, np.int64)
        np.cumsum((piece & ch.FIRST_OF_TWO) != ch.FOLLOWS, out=sums[1:])
        stop = int(np.searchsorted(places, begin + len(piece)))
        before[done:stop] = total + sums[places[done:stop] - begin]
        done, total = stop, total + int(sums[-1])
    before[done:] = total
    return before[which]


def decode(body: bytes, charset: str) -> Decoded:
    """A body in a charset as UTF-8: the body itself if that is what it is."""
    codec = codec_of(charset)
    if codec == "utf-8" or (codec in _CONTAIN_ASCII and body.isascii()):
        return Decoded(body, "utf-8", body)
    text = body.decode(codec, "replace")
    # A lone surrogate that a codec let through is no text.
    return Decoded(text.encode("utf-8", "replace"), codec, body)


def _broken(body: bytes, charset: str) -> Iterator[tuple[int, int]]:
    """Which characters stand for bytes that are none of the charset, and for how many."""
    _noted.spans = []
    body.decode(charset, _NOTING)
    character = end = 0
    for start, stop in _noted.spans:
        character += len(body[end:start].decode(charset, "ignore"))
        yield character, stop - start
        character, end = character + 1, stop


def _note(error: UnicodeError) -> tuple[str, int]:
    """As "ignore", but that the place is noted; after thousands of them the rest is passed over."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - to the type checker
    _noted.spans.append((error.start, error.end))
    return "", error.end if len(_noted.spans) < _BROKEN else len(error.object)


_noted = threading.local()
codecs.register_error(_NOTING, _note)


def _shifted(body: bytes, charset: str) -> array[int]:
    """Where each character begins, and behind them the body's end: run by run, byte by byte only
    where a run is broken."""
    decoder = codecs.getincrementaldecoder(charset)("replace")
    # Numbers of 32 bits: of a list with all characters of a page the machine could run full.
    starts, start, left = array("i"), 0, _BROKEN
    for run in _SHIFTED[charset].finditer(body):
        (at, stop), state = run.span(), decoder.getstate()
        count = len(decoder.decode(run[0]))
        pending = decoder.getstate()[0]
        if not count and not pending:  # an escape sequence, which the next character begins with
            continue
        width, odd = divmod(stop - at, count or 1)
        if not odd and width <= _PAIR and not state[0] and not pending:
            starts.append(start)
            starts.extend(range(at + width, stop, width))
            start = stop
        elif left > 0:
            decoder.setstate(state)
            for byte in range(at, stop):
                starts.extend([start] * len(more := decoder.decode(body[byte : byte + 1])))
                start = byte + 1 - len(decoder.getstate()[0]) if more else start
            left -= stop - at
        else:
            starts.extend(at + (stop - at) * number // count for number in range(count))
            start = stop
    starts.extend([start] * len(decoder.decode(b"", final=True)))
    starts.append(len(body))
    return starts


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
