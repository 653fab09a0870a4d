"""What a scan's offsets stand for, as text for people: words, links, evidence.

Hashes and offsets are what the detectors need; strings are made only when someone asks, by a second
pass that keeps the page's runs of text. `words` gives the words one by one as people read them;
what is hashed of them is what `folded` makes of each, which is how the scan is tested: compare
words by that. Nothing here is fast or hashed.
"""

from __future__ import annotations

import html.entities
import re
import unicodedata
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple
from urllib.parse import urljoin

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.fields import Field
from reusewatch.detector.scanning import unicode_tables
from reusewatch.detector.scanning.dodges import ALIKE, DRESSED, GREEK, LATIN, RAISED, STRANGE, WIDE
from reusewatch.detector.scanning.output import (
    KEEP_SPACE,
    LINE,
    OF_TITLE,
    PARAGRAPH,
    REFERENCES,
    SAME_SITE,
    SPACE,
)
from reusewatch.detector.scanning.scan import Scan, segments_of
from reusewatch.detector.scanning.tables import (
    CLASS_SHIFT,
    KIND,
    MARK,
    MARKED,
    spans_of,
    tables,
    unpacked_fold,
)
from reusewatch.detector.scanning.unescaping import unescaped
from reusewatch.detector.scanning.words import HANGUL, HANGUL_END

_GAPS = {SPACE: " ", LINE: "\n", PARAGRAPH: "\n\n"}
_SPACES = re.compile("[ \t\n\f\r]+")
_REFERENCE = re.compile("&(?:#[0-9]+;?|#[xX][0-9a-fA-F]+;?|([0-9A-Za-z]+;?)(=?))")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_SLASHES = re.compile(r"[/\\]*")
_AUTHORITY = re.compile(r"[^/\\?#]*")
_LONGEST_BARE = 6
# What browsers take out of addresses, and what they take off their ends.
_NO_LINES = {9: None, 10: None, 13: None}
_BLANKS = "".join(map(chr, range(33)))


@dataclass(frozen=True, slots=True)
class Link:
    """A link as a reader sees it."""

    url: str
    anchor: str
    same_site: bool


class _Runs(NamedTuple):
    """Runs of text: rows of start, end, bits."""

    rows: NDArray[np.int32]
    # Of the type that is searched for, and in one piece: else each search would copy all of them.
    starts: NDArray[np.int64]


def _runs_of(rows: NDArray[np.int32]) -> _Runs:
    return _Runs(rows, rows[:, 0].astype(np.int64))


class Readable:
    """The text of one page, by the offsets of its scan."""

    def __init__(self, scanned: Scan) -> None:
        self._scan = scanned
        self._source = scanned.source.utf8

    @cached_property
    def _runs(self) -> tuple[_Runs, _Runs]:
        """The title's runs of text and the others, by a second pass: for an image there is none."""
        # Stay columns: who asks for one word of a long page pays for the runs of that word only.
        rows = segments_of(self._scan)
        titled = (rows[:, 2] & OF_TITLE) != 0
        return _runs_of(rows[titled]), _runs_of(rows[~titled])

    @property
    def _title(self) -> _Runs:
        return self._runs[0]

    @property
    def _rows(self) -> _Runs:
        return self._runs[1]

    @property
    def title(self) -> str:
        """The page's title, white space collapsed."""
        return self._joined(self._title, 0, 0, len(self._source)).strip()

    @property
    def text(self) -> str:
        """All text, without the title; an empty line where a block ends."""
        return self._joined(self._rows, 0, 0, len(self._source)).strip()

    def text_of(self, start: int, end: int) -> str:
        """The text of a span of the source, trimmed."""
        span = self._scan.title
        rows = self._rows
        if span and span[0] <= start < span[1]:
            rows, first = self._title, 0
        else:
            first = self._run_at(start)
        return self._joined(rows, first, start, end).strip()

    def words(self) -> list[str]:
        """The strings of the scan's tokens, in order."""
        images = set(self._scan.images.tolist())
        return [
            self._word(start, end, field, index in images)
            for index, (start, end, field) in enumerate(
                zip(
                    self._scan.starts.tolist(),
                    self._scan.ends.tolist(),
                    self._scan.fields.tolist(),
                    strict=True,
                )
            )
        ]

    def word(self, index: int) -> str:
        """The string of one of the scan's tokens."""
        spans = self._scan.starts[index], self._scan.ends[index]
        image = bool((self._scan.images == index).any())
        return self._word(int(spans[0]), int(spans[1]), int(self._scan.fields[index]), image)

    def links(self) -> list[Link]:
        """The page's links, resolved, with the text that they stand under."""
        return [
            Link(
                resolved(self.base_url, self._attribute(start, end)),
                " ".join(self.text_of(anchor, anchor_end).split()) if anchor_end > anchor else "",
                bool(bits & SAME_SITE),
            )
            for start, end, anchor, anchor_end, bits in self._scan.links.tolist()
        ]

    @property
    def canonical(self) -> str | None:
        """The address that the page calls its own, resolved."""
        span = self._scan.canonical
        return resolved(self.base_url, self._attribute(*span)) if span else None

    @property
    def base_url(self) -> str:
        """What relative addresses of the page are relative to."""
        url, span = self._scan.source.url, self._scan.base
        return resolved(url, self._attribute(*span)) if span else url

    def _word(self, start: int, end: int, field: int, image: bool) -> str:
        if image:
            span, source = self._scan.base, self._scan.source
            # A browser fetches an image when it comes to it: a base below does not count.
            base = self._attribute(*span) if span and span[0] < start else ""
            return image_term(self._attribute(start, end), source.host, source.url, base)
        if field == Field.URL:
            text = self._scan.source.url.encode("utf-8", "replace")[start:end].decode()
        elif field in (Field.KEYWORDS, Field.DESCRIPTION):
            text = attribute_text(self._decoded(start, end))
        else:
            rows = self._title if field == Field.TITLE else self._rows
            first = 0 if field == Field.TITLE else self._run_at(start)
            text = self._joined(rows, first, start, end)
        return shown(text)

    def _attribute(self, start: int, end: int) -> str:
        return address_text(self._decoded(start, end))

    def _decoded(self, start: int, end: int) -> str:
        return self._source[start:end].decode("utf-8", "replace")

    def _run_at(self, start: int) -> int:
        """The run of text that a place is in."""
        return max(0, int(self._rows.starts.searchsorted(start, "right")) - 1)

    def _joined(self, runs: _Runs, at: int, start: int, end: int) -> str:
        """What the rows from `at` on hold of a span."""
        parts: list[str] = []
        stop = int(runs.starts.searchsorted(end))
        for first, last, bits in runs.rows[at:stop].tolist():
            if last <= start:
                continue
            if parts and bits & PARAGRAPH:
                parts.append(_GAPS[bits & PARAGRAPH])
            text = self._decoded(max(first, start), min(last, end))
            if bits & REFERENCES:
                text = unescaped(text)
            # After references: a NUL ends one.
            text = text.replace("\0", "")
            parts.append(text if bits & KEEP_SPACE else _SPACES.sub(" ", text))
        return _tidy("".join(parts))


def _tidy(text: str) -> str:
    """One space where two runs brought one each; none around line ends; one empty line at most."""
    text = re.sub(" {2,}(?=[^ ])", " ", text)
    text = re.sub(" *\n *", "\n", text)
    return re.sub("\n{3,}", "\n\n", text)


@cache
def _unseen() -> dict[int, None]:
    """Format characters and NUL, which no word holds, as a translation to nothing."""
    codes = (range(span.start, span.stop) for span in spans_of(unicode_tables.IGNORED))
    return {0: None, **dict.fromkeys(chain.from_iterable(codes))}


def folded(word: str) -> str:
    """A word as it is hashed: letters taken apart, case-folded, without marks that do not count,
    look-alikes as the letters that they are taken for; without what no reader sees.

    >>> folded("Stra\\u00adße"), folded("Été"), folded("ｃоｐｙ"), folded("кот")
    ('strasse', 'ete', 'copy', 'kot')
    """
    if word.isascii():
        return word.replace("\0", "").lower()
    look, parts, marked = tables()[0], [], False
    for character in word.translate(_unseen()):
        properties = _properties(character)
        if properties & KIND != MARK:
            marked = bool(properties & MARKED)
        elif not marked:
            continue
        code = ord(character)
        to = int(look["folds"][int(look["fold_page"][code >> 8]) << 8 | code & 255])
        parts.append(unpacked_fold(to) if to else unicodedata.normalize("NFD", character)
                     if HANGUL <= code < HANGUL_END
                     else character.lower() if code < 128 else character)  # fmt: skip
    return "".join(parts)


def shown(word: str) -> str:
    """A word as people are shown it: as it is written, in small letters; one in disguise without.

    >>> shown("Stra\\u00adße"), shown("Été"), shown("ｃоｐｙ"), shown("сopy"), shown("кот")
    ('strasse', 'été', 'copy', 'copy', 'кот')
    """
    plain = word.translate(_unseen()).casefold()
    if plain.isascii():
        return plain
    seen = 0
    for character in word:
        seen |= 1 << (_properties(character) >> CLASS_SHIFT)
    mixed = seen & LATIN and seen & (ALIKE | GREEK)
    # What is shown must be the word that was hashed.
    if mixed or seen & (DRESSED | RAISED | WIDE | STRANGE) or folded(plain) != folded(word):
        return folded(word)
    return plain


def _properties(character: str) -> int:
    look, code = tables()[0], ord(character)
    return int(look["kinds"][int(look["kind_page"][code >> 8]) << 8 | code & 255])


def attribute_text(value: str) -> str:
    """An attribute's value, its references decoded by the rules of attributes.

    >>> attribute_text("?a=1&amp;b=2&copy=3")
    '?a=1&b=2&copy=3'
    """
    # The usual address has no others.
    if value.count("&") == value.count("&amp;"):
        return value.replace("&amp;", "&")
    return _REFERENCE.sub(_decode, value)


def _decode(found: re.Match[str]) -> str:
    name, equals = found[1], found[2]
    if name is None:
        return unescaped(found[0])
    if name in html.entities.html5 and name.endswith(";"):
        return html.entities.html5[name] + equals
    for length in range(min(_LONGEST_BARE, len(name)), 1, -1):
        if name[:length] in html.entities.html5 and not name[:length].endswith(";"):
            rest = name[length:] + equals
            return found[0] if rest and rest != ";" else html.entities.html5[name[:length]] + rest
    return found[0]


def address_text(value: str) -> str:
    """An attribute's value as an address: decoded, tabs and line ends out, trimmed."""
    text = attribute_text(value)
    # The usual address has neither; to look each character up takes ten times as long.
    return (text if text.isprintable() else text.translate(_NO_LINES)).strip(_BLANKS)


def resolved(base: str, address: str) -> str:
    """An address, absolute; what cannot be one stays as it is."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address


def host_of(address: str, url: str) -> tuple[int, int] | None:
    """Where the host stands in an address that a page's browser fetches; None in a relative one.

    >>> host_of("https://user@Example.org:8080/x", ""), host_of("//a.b./", "")
    ((13, 24), (2, 5))
    >>> host_of("page.html", ""), host_of("http:/x", "http://a.b/"), host_of("http:/x", "https://a.b")
    (None, None, (6, 7))
    """
    scheme = _SCHEME.match(address)
    after = scheme.end() if scheme else 0
    slashes = _SLASHES.match(address, after)
    start = slashes.end() if slashes else after
    if start - after < 2 and (not scheme or scheme[0].lower() == _page_scheme(url)):
        return None
    authority = _AUTHORITY.match(address, start)
    end = authority.end() if authority else start
    start = max(start, address.rfind("@", start, end) + 1)
    port = re.search(r":[0-9]*\Z", address[start:end])
    end = start + port.start() if port else end
    return start, end - 1 if address[start:end].endswith(".") else end


def image_term(address: str, host: str, url: str, base: str = "") -> str:
    """The term of an IMG on a page: the file's name, or the whole URL if it is on another host.

    No address is no image, below any base.

    >>> image_term("/img/a.png?v=1", "example.org", ""), image_term("HTTP://CDN.net/A.png", "x", "")
    ('a.png', 'http://cdn.net/A.png')
    """
    scheme = _SCHEME.match(address)
    if not address or (scheme and scheme[1].lower() not in ("http", "https")):
        return address
    span = host_of(address, url)
    if span is None:
        address = address[scheme.end() :] if scheme else address
        base_scheme, base_span = _SCHEME.match(base), host_of(base, url)
        usable = not base_scheme or base_scheme[1].lower() in ("http", "https")
        if not usable or not base_span or base[slice(*base_span)].lower() == host:
            return _file_name(address)
        return _below(base, base_span[1], url, address) + address
    if host and address[slice(*span)].lower() == host:
        return _file_name(address[span[1] :])
    return _own_scheme(address, url) + address[: span[1]].lower() + address[span[1] :]


def _file_name(address: str) -> str:
    return re.split(r"[/\\]", re.split("[?#]", address)[0])[-1]


def _own_scheme(address: str, url: str) -> str:
    return _page_scheme(url) if address[:1] in ("/", "\\") else ""


def _page_scheme(url: str) -> str:
    return "https:" if url[4:5].lower() == "s" else "http:"


def _below(base: str, host_end: int, url: str, address: str) -> str:
    authority = _AUTHORITY.match(base, host_end)
    end = authority.end() if authority else host_end
    path = re.split("[?#]", base[end:])[0]
    if address[:1] not in ("/", "\\"):
        end += max(path.rfind("/"), path.rfind("\\")) + 1
        tail = base[host_end:end]
        slash = "" if tail[-1:] in ("/", "\\") and tail else "/"
    else:
        tail, slash = base[host_end:end], ""
    return _own_scheme(base, url) + base[:host_end].lower() + tail + slash
