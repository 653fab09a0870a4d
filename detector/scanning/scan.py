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

import operator
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.scanning import state
from reusewatch.detector.scanning.addresses import ADDRESS_ROOM
from reusewatch.detector.scanning.batch_columns import TokenColumns, Tokens, joined
from reusewatch.detector.scanning.kernel import ROW, needed, scan_pages
from reusewatch.detector.scanning.mixing import secrets_of
from reusewatch.detector.scanning.output import LINK_WIDTH, SEGMENT_WIDTH, TOKEN_WIDTH
from reusewatch.detector.scanning.page_bytes import BEHIND
from reusewatch.detector.scanning.scratch_memory import new_work
from reusewatch.detector.scanning.tables import tables

# Of what is written for each: tokens, block starts, block ends, links, pictures, segments.
_WIDTHS = (TOKEN_WIDTH, 1, 1, LINK_WIDTH, 1, SEGMENT_WIDTH)
_KEPT = 64 << 20
# Room for so many tokens, and of blocks, links and pictures for shares of it, unless a page may
# need more: pages are scanned until the next might not fit, and what they have is taken out. That
# stays in a second cache. From 4 MB on numpy asks for memory in pages of 2 MB: to find and to clear
# those took longer than the scan, which writes a little to each.
_ROOM = 50_000
_SHARES = (1, 2, 4, 16)
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


class _Part(NamedTuple):
    """What was written for some pages, up to one: their tokens, and rows of block starts, block
    ends, links, images and segments."""

    stop: int
    hashes: NDArray[np.uint64]
    tokens: NDArray[np.int32]
    rows: tuple[NDArray[np.int32], ...]


class _Laid(NamedTuple):
    """The pages of a batch, end to end, as the kernel takes them."""

    buf: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    longest: int
    longest_url: int


def _run(
    sources: Sequence[Source], key: int, limits: ScanLimits, *, segments: bool
) -> tuple[Batch, NDArray[np.int32]]:
    """Lay out a batch, scan it, and put together what was written."""
    count = len(sources)
    facts = np.empty((count, state.FACTS), dtype=np.int64)
    tokens, parts = TokenColumns(), list[_Part]()
    laid = _laid(sources, limits)
    for part in _parts(laid, key, limits, facts, segments=segments):
        tokens.add(part.hashes, part.tokens, share=part.stop / count if count else 1)
        # The room is written anew.
        parts.append(part._replace(rows=tuple(rows.copy() for rows in part.rows)))
    facts[:, state.BYTES_LOST] = [max(0, len(source.utf8) - limits.bytes) for source in sources]
    return _put_together(sources, tokens.columns(), parts, facts)


def _laid(sources: Sequence[Source], limits: ScanLimits) -> _Laid:
    """Bodies, each with its URL behind it; behind all of them host and site, of each host once."""
    urls = [source.url.encode("utf-8", "replace") for source in sources]
    lengths = np.fromiter((len(source.utf8) for source in sources), np.int64, len(sources))
    sizes = np.empty((len(sources), 2), np.int64)
    sizes[:, 0], sizes[:, 1] = np.minimum(lengths, limits.bytes), list(map(len, urls))
    hosts, places = bytearray(), dict[tuple[str, str], tuple[int, int, int]]()
    for _, host, site, _, _ in sources:
        if (host, site) not in places:
            begin = len(hosts)
            hosts += host.encode("utf-8", "replace")
            middle = len(hosts)
            hosts += site.encode("utf-8", "replace")
            places[host, site] = begin, middle, len(hosts)
    ends = np.cumsum(sizes).reshape(-1, 2)
    behind = int(sizes.sum())
    bounds = np.empty((len(sources), ROW), dtype=np.int64)
    bounds[:, 0] = ends[:, 0] - sizes[:, 0]
    bounds[:, 1:3] = ends
    where = [places[host, site] for _, host, site, _, _ in sources]
    bounds[:, 3:6] = np.array(where, np.int64).reshape(-1, 3) + behind
    bounds[:, 6] = [source.html for source in sources]
    longest, longest_url = sizes.max(axis=0, initial=0).tolist()
    room = _kept("text", behind + len(hosts) + BEHIND)
    text = room.data
    for source, url, (start, end, behind_url) in zip(
        sources, urls, bounds[:, :3].tolist(), strict=True
    ):
        text[start:end] = source.utf8[: end - start]
        text[end:behind_url] = url
    text[behind : behind + len(hosts)] = hosts
    return _Laid(room, bounds, longest, longest_url)


def _parts(
    laid: _Laid,
    key: int,
    limits: ScanLimits,
    facts: NDArray[np.int64],
    *,
    segments: bool,
) -> Iterator[_Part]:
    """Scan pages, as many at a time as there is room for, which is that of the part before."""
    most = needed(laid.longest, laid.longest_url, limits.tokens + limits.sampled)
    rooms = (
        *(max(need, _ROOM // share) for need, share in zip(most, _SHARES, strict=True)),
        len(laid.buf) // 2 + len(laid.bounds) + 1 if segments else 0,
    )
    tokens = rooms[0]
    sizes = [rooms[0], rooms[1], *rooms[1:]]
    written = 8 * tokens + 4 * sum(map(operator.mul, _WIDTHS, sizes))
    # Behind what is written an address and its term.
    scratch = _kept("room", written + 2 * (2 * laid.longest + ADDRESS_ROOM))
    hashes = scratch[: 8 * tokens].view(np.uint64)
    columns = scratch[8 * tokens : written].view(np.int32)
    limited = np.array([limits.tokens, limits.blocks, limits.links, limits.sampled], dtype=np.int64)
    room = np.array(rooms, dtype=np.int64)
    out = (hashes, columns, scratch[written:], facts)
    first = 0
    while True:
        work = _fresh(key).copy()
        stop = scan_pages(laid.buf, laid.bounds, tables(), work, limited, room, *out, first)
        used = facts[first:stop, state.TOKENS : state.SEGMENTS + 1].sum(axis=0).tolist()
        of_tokens, *rows = _cut(sizes, [used[0], used[1], *used[1:]], columns)
        yield _Part(stop, hashes[: used[0]], of_tokens.reshape(-1), tuple(rows))
        if stop == len(facts):
            return
        first = stop


def _cut(
    sizes: Sequence[int], used: Sequence[int], columns: NDArray[np.int32]
) -> Iterator[NDArray[np.int32]]:
    """What was written, of all that there is room for."""
    start = 0
    for width, size, some in zip(_WIDTHS, sizes, used, strict=True):
        rows = columns[start : start + width * some]
        yield rows.reshape(-1, width) if width > 1 else rows
        start += width * size


def _put_together(
    sources: Sequence[Source],
    tokens: Tokens,
    parts: Sequence[_Part],
    facts: NDArray[np.int64],
) -> tuple[Batch, NDArray[np.int32]]:
    """A batch of what was written for parts of it."""
    at = np.zeros((4, len(sources) + 1), dtype=np.int64)
    np.cumsum(facts[:, state.TOKENS : state.PICTURES + 1].T, axis=1, out=at[:, 1:])
    block_starts, block_ends, links, images, segments = map(
        joined, zip(*(part.rows for part in parts), strict=True)
    )
    batch = Batch(
        sources=sources,
        **tokens._asdict(),
        block_starts=block_starts,
        block_ends=block_ends,
        links=links,
        images=images,
        token_at=at[0],
        block_at=at[1],
        link_at=at[2],
        image_at=at[3],
        facts=facts,
    )
    return batch, segments
