"""Scan: one pass over a page to token hashes, offsets, blocks, fields and links.

Pages are UTF-8 (see `decoding`) and are read as the HTML standard's tokenizer reads them, by a
kernel and without a tree: any nesting, any damage, linear time. Offsets are bytes of the text that
was given.

**Tokens.** A maximal run of letters and numbers (Unicode's categories L and N), folded: case (ß is
ss), compatibility forms (NFKD: fullwidth, mathematical, ligatures; a fraction stays whole) and
letters that look like one of ASCII, as that one, whatever the words around them: a Russian word in
which some letters were replaced is the same word, too. Marks on Latin, Greek and Cyrillic letters
do not count, those of other scripts do. Format characters inside a word (soft hyphen,
joiners, zero-width space) do not count. A script without spaces (Han, kana, Thai, Lao, Khmer,
Myanmar, …) gives a token per character. Character references are decoded first. Marks are not put
in order, and letters of Hebrew, Arabic and Indian scripts have no look-alikes.

**Words** are what a reader sees: tags of inline elements, comments and `wbr` do not end one; tags
of block elements, table cells, `br`, images, embedded things, form controls and `q` do.

**Text** is everything that the page shows with scripting off: `noscript`, `textarea`, `option`,
`button`, `xmp`, the fallback of `video`, `object` and `canvas` count; `script`, `style`,
`template`, `datalist`, `iframe`, `noembed`, `noframes`, comments, attributes and any further title
do not, nor what SVG and MathML have as title, description, metadata and annotation. What an
element's own `hidden` or `style` hides does not (`hiding`), unless the page hides more than it
shows; `details`, `aria-hidden` and `hidden=until-found` hide nothing from who reads on.

**Blocks** end where a browser starts a paragraph: block elements, table cells, list items, two `br`
with no word between; in plain text and in `pre`, `xmp`, `textarea`, lines without a word. A block
without a token is none. Its span is all that stands between the two breaks.

**Images.** An IMG is one token: the whole URL if it is on another host, the file's name if it is on
the page's (Henzinger 2006, section 2), not case-folded but in its scheme and host.

**Order.** The title's tokens, then the text's with the IMG terms: the page's token sequence. Behind
it, in no block: meta keywords, meta description, the URL (Das et al., Table 1); the URL's offsets
are within the URL. A word in a link in a heading is the heading's.

Never resolves URLs, never judges, never normalizes.
"""

from __future__ import annotations

import ctypes
import operator
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.scanning import state
from reusewatch.detector.scanning.addresses import ADDRESS_ROOM
from reusewatch.detector.scanning.batch_columns import KINDS, Columns, cut, empty, longer
from reusewatch.detector.scanning.kernel import ROW, needed, scan_pages
from reusewatch.detector.scanning.mixing import secrets_of
from reusewatch.detector.scanning.output import LINK_WIDTH, SEGMENT_WIDTH, TOKEN_WIDTH, Output
from reusewatch.detector.scanning.page_bytes import BEHIND
from reusewatch.detector.scanning.scratch_memory import new_work
from reusewatch.detector.scanning.tables import tables

# Of what is written for each: tokens, block starts, block ends, links, pictures, segments.
_WIDTHS = (TOKEN_WIDTH, 1, 1, LINK_WIDTH, 1, SEGMENT_WIDTH)
_KEPT = 64 << 20
# Of how many bytes of text there usually is one: token, block, link, picture; segment. More may
# come, and then what was written is copied once.
_EACH = (16, 48, 96, 384, 4)
_FEW = 16
_SAMPLE = 10
_mine = threading.local()


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """What is kept of one page at most. What is over is counted.

    Behind the limit of tokens whole blocks are kept still, spread over the rest of the page, of
    `sample` tokens together (by default a tenth of the limit): else words put before a copy would
    hide it from every detector.
    """

    tokens: int = 1_000_000
    blocks: int = 200_000
    links: int = 20_000
    bytes: int = 64 << 20
    sample: int | None = None

    @property
    def sampled(self) -> int:
        """Tokens that are taken behind the limit of tokens."""
        return self.tokens // _SAMPLE if self.sample is None else self.sample

    def __post_init__(self) -> None:
        if self.sampled < 0:
            raise ValueError(f"a sample has 0 tokens or more: {self}")
        if min(self.tokens, self.blocks, self.links, self.bytes) < 1:
            raise ValueError(f"limits of a scan are at least 1: {self}")
        if self.bytes >= 1 << 31:
            raise ValueError(f"offsets have 31 bits; a page of {self.bytes} bytes is too long")


class Source(NamedTuple):
    """A page to scan: its text as UTF-8, and where it stands.

    `host` and `site` are as DNS has them (lower case, punycode); a link is to the same site if its
    host is the site or ends in a dot and the site.
    """

    utf8: bytes
    host: str = ""
    site: str = ""
    url: str = ""
    html: bool = True


@dataclass(frozen=True, slots=True)
class Lost:
    """How much of a page was over the limits."""

    tokens: int = 0
    blocks: int = 0
    links: int = 0
    bytes: int = 0

    def __bool__(self) -> bool:
        return bool(self.tokens or self.blocks or self.links or self.bytes)


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """What a page consists of. Arrays of equal length per token, per block, per link."""

    source: Source
    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    blocks: NDArray[np.int32]  # -1 in meta content and URL
    fields: NDArray[np.uint8]
    lengths: NDArray[np.uint32]  # code points of what was hashed, ALONE in scripts without spaces
    text_tokens: int  # so many at the front are title and text
    block_starts: NDArray[np.int32]
    block_ends: NDArray[np.int32]
    links: NDArray[np.int32]  # rows: href start, href end, anchor start, anchor end, bits
    images: NDArray[np.int32]  # which tokens are IMG terms; their spans are the `src`
    title: tuple[int, int] | None  # spans in the source
    base: tuple[int, int] | None
    canonical: tuple[int, int] | None
    lost: Lost
    sampled: int  # tokens behind the limit, of blocks here and there

    @property
    def truncated(self) -> bool:
        """Whether the page is over a limit."""
        return bool(self.lost) or self.sampled > 0


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The scans of many pages in shared arrays; page p has rows `at[p]` to `at[p + 1]`."""

    sources: Sequence[Source]
    hashes: NDArray[np.uint64]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    blocks: NDArray[np.int32]
    fields: NDArray[np.uint8]
    lengths: NDArray[np.uint32]
    block_starts: NDArray[np.int32]
    block_ends: NDArray[np.int32]
    links: NDArray[np.int32]
    images: NDArray[np.int32]
    token_at: NDArray[np.int64]
    block_at: NDArray[np.int64]
    link_at: NDArray[np.int64]
    image_at: NDArray[np.int64]
    facts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.sources)

    def only_places(self) -> Batch:
        """The same without what tokens are, most of its memory; where they stand is still said."""
        gone: Any = {
            name: getattr(self, name)[:0].copy()
            for name in ("hashes", "blocks", "fields", "lengths")
        }
        return replace(self, **gone)

    def __getitem__(self, index: int) -> Scan:
        """One page's scan: views, nothing is copied."""
        tokens = slice(self.token_at[index], self.token_at[index + 1])
        blocks = slice(self.block_at[index], self.block_at[index + 1])
        facts = self.facts[index].tolist()
        return Scan(
            source=self.sources[index],
            hashes=self.hashes[tokens],
            starts=self.starts[tokens],
            ends=self.ends[tokens],
            blocks=self.blocks[tokens],
            fields=self.fields[tokens],
            lengths=self.lengths[tokens],
            text_tokens=facts[state.TEXT_TOKENS],
            block_starts=self.block_starts[blocks],
            block_ends=self.block_ends[blocks],
            links=self.links[self.link_at[index] : self.link_at[index + 1]],
            images=self.images[self.image_at[index] : self.image_at[index + 1]],
            title=_span(facts, state.TITLE_START),
            base=_span(facts, state.BASE_START),
            canonical=_span(facts, state.CANONICAL_START),
            lost=Lost(*facts[state.TOKENS_LOST : state.BYTES_LOST + 1]),
            sampled=facts[state.SAMPLED],
        )


def scan(
    utf8: bytes,
    *,
    key: int,
    host: str = "",
    site: str = "",
    url: str = "",
    html: bool = True,
    limits: ScanLimits = ScanLimits(),
) -> Scan:
    """Scan one page under a hash scheme's key."""
    return scan_batch([Source(utf8, host, site, url, html)], key=key, limits=limits)[0]


def scan_batch(
    sources: Sequence[Source],
    *,
    key: int,
    limits: ScanLimits = ScanLimits(),
) -> Batch:
    """Scan many pages in one call of the kernel, which holds no lock."""
    return _run(sources, key, limits, segments=False)[0]


def segments_of(scanned: Scan) -> NDArray[np.int32]:
    """The page's runs of text between markup: rows of start, end, bits (see `scanning.output`)."""
    everything = ScanLimits(tokens=1, bytes=max(1, len(scanned.source.utf8) - scanned.lost.bytes))
    return _run([scanned.source], 0, everything, segments=True)[1]


@lru_cache(maxsize=16)
def _fresh(key: int) -> NDArray[np.void]:
    """The state before the first page, which every call copies."""
    return new_work(secrets_of(key))


def _kept(name: str, size: int) -> NDArray[np.uint8]:
    """Room that a thread's next scan takes again: memory anew from the system is slow."""
    kept: NDArray[np.uint8] | None = getattr(_mine, name, None)
    if kept is None or len(kept) < size:
        kept = np.empty(size, np.uint8)
        setattr(_mine, name, kept if size <= _KEPT else None)
    return kept[:size]


def _span(facts: list[int], at: int) -> tuple[int, int] | None:
    return (facts[at], facts[at + 1]) if facts[at] >= 0 else None


class _Laid(NamedTuple):
    """The pages of a batch as the kernel takes them: where their bytes stand, and rows of what it
    is told of each, with URLs, hosts and sites beside them."""

    bodies: NDArray[np.int64]
    names: NDArray[np.uint8]
    rows: NDArray[np.int64]


def _run(
    sources: Sequence[Source], key: int, limits: ScanLimits, *, segments: bool
) -> tuple[Batch, NDArray[np.int32]]:
    """Scan a batch, and put together what was written."""
    facts = np.empty((len(sources), state.FACTS), dtype=np.int64)
    columns = _scanned(_laid(sources, limits), key, limits, facts, segments=segments)
    facts[:, state.BYTES_LOST] = [max(0, len(source.utf8) - limits.bytes) for source in sources]
    at = np.zeros((4, len(sources) + 1), dtype=np.int64)
    np.cumsum(facts[:, state.TOKENS : state.PICTURES + 1].T, axis=1, out=at[:, 1:])
    columns = columns._replace(links=columns.links.reshape(-1, LINK_WIDTH))
    every: Any = (*columns[:-1], *at, facts)
    return Batch(sources, *every), columns.segments.reshape(-1, SEGMENT_WIDTH)


def _laid(sources: Sequence[Source], limits: ScanLimits) -> _Laid:
    """Where bodies are. Among the names are their URLs, and host and site of each host once."""
    bodies, hosts, sites, urls, html = zip(*sources, strict=True) if sources else ((),) * 5
    encoded = [url.encode("utf-8", "replace") for url in urls]
    names, places = bytearray().join(encoded), dict[tuple[str, str], tuple[int, int, int]]()
    for host, site in dict.fromkeys(zip(hosts, sites, strict=True)):
        begin = len(names)
        names += host.encode("utf-8", "replace")
        middle = len(names)
        names += site.encode("utf-8", "replace")
        places[host, site] = begin, middle, len(names)
    rows = np.zeros((len(sources), ROW), dtype=np.int64)
    rows[:, 0] = list(map(len, bodies))
    np.minimum(rows[:, 0], limits.bytes, out=rows[:, 0])
    np.cumsum(list(map(len, encoded)), out=rows[:, 2])
    rows[1:, 1] = rows[:-1, 2]
    where = list(map(places.__getitem__, zip(hosts, sites, strict=True)))
    rows[:, 3:6] = np.array(where, np.int64).reshape(-1, 3)
    rows[:, 6] = html
    # Addresses, as long as the sources are.
    addresses: Any = (ctypes.c_char_p * len(sources))(*bodies)
    # Read-only like what stands for none: the scan is compiled for one type of array.
    named = np.frombuffer(bytes(names) or b" ", np.uint8)
    return _Laid(np.ndarray(len(sources), np.int64, addresses), named, rows)


def _scanned(
    laid: _Laid, key: int, limits: ScanLimits, facts: NDArray[np.int64], *, segments: bool
) -> Columns:
    """What is written for the pages, in columns that are made longer where there is no room."""
    rows = laid.rows
    count, sizes = len(rows), (rows[:, 0], rows[:, 2] - rows[:, 1], rows[:, 5] - rows[:, 3])
    longest, url, host = (int(size.max(initial=0)) for size in sizes)
    most = needed(longest, url, limits.tokens + limits.sampled)
    rooms = [*most, longest // 2 + 1 if segments else 0]
    used = np.zeros(KINDS, np.int64)
    columns = empty(_at_first(rooms, int(sizes[0].sum()), count))
    buf, out, scratch = _room(rooms, longest, longest + url + host)
    limited, room = np.array(_of(limits), np.int64), np.array(rooms, np.int64)
    work, first, is_scanned = _fresh(key).copy(), 0, 0
    while True:
        stop = scan_pages(
            *laid, tables(), work, limited, room, buf, out, scratch, facts, columns, used, first,
            is_scanned,
        )  # fmt: skip
        if stop == count:
            return cut(columns, used.tolist())
        is_scanned = 1
        first, need = stop, facts[stop, state.TOKENS : state.SEGMENTS + 1].tolist()
        columns = longer(columns, used.tolist(), need, first / count)


def _of(limits: ScanLimits) -> list[int]:
    """The limits as the kernel takes them."""
    return [limits.tokens, limits.blocks, limits.links, limits.sampled]


def _at_first(rooms: Sequence[int], size: int, count: int) -> list[int]:
    """For how many of each kind of rows there is room at first, in a batch of so many bytes: what
    pages usually have, and no more than they may. What is not written to takes no memory."""
    return [min(count * room, size // each + _FEW) for room, each in zip(rooms, _EACH, strict=True)]


def _room(
    rooms: Sequence[int], longest: int, text: int
) -> tuple[NDArray[np.uint8], Output, NDArray[np.uint8]]:
    """Room for the longest page's bytes, for what is written of it, and for addresses."""
    tokens = rooms[0]
    written = 8 * tokens + 4 * sum(map(operator.mul, _WIDTHS, [tokens, rooms[1], *rooms[1:]]))
    # Behind what is written an address and its term.
    room = _kept("room", written + 2 * (2 * longest + ADDRESS_ROOM))
    out = Output(room[: 8 * tokens].view(np.uint64), room[8 * tokens : written].view(np.int32))
    return _kept("text", text + BEHIND), out, room[written:]
