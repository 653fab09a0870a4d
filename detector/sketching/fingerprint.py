"""A page's fingerprint: all of its sketches, from one reading of its bytes.

A batch of pages is scanned and sketched in a few kernel calls. What a person wants to read of a
page (title, the beginning of its text) is cut from the scan's offsets; nothing is parsed twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.fields import Field
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.scanning import state
from reusewatch.detector.scanning.decoding import Decoded, decode
from reusewatch.detector.scanning.readable import address_text, resolved
from reusewatch.detector.scanning.scan import Batch, ScanLimits, Source, scan_batch
from reusewatch.detector.sketching.chunks import Unit
from reusewatch.detector.sketching.excerpts import EXCERPT, excerpt_of, excerpts_of, plain
from reusewatch.detector.sketching.grams import GRAM_K, SHORT
from reusewatch.detector.sketching.outlinks import Outlink, outlinks_of
from reusewatch.detector.sketching.raw_chunks import raw_chunks_of
from reusewatch.detector.sketching.sketches import Sketches, sketch
from reusewatch.detector.sketching.tokens import TokenBatch
from reusewatch.detector.sketching.word_places import WordPlaces

NONE = 0  # no hash: an empty file, a page without words
TITLE = 300
MOST_CANONICAL = 4096
"""Bytes of an address: what is longer names nothing."""
_LIMITS = ScanLimits()
_TAG = re.compile(rb"<[A-Za-z/!?][^<>]*(?:>|$)")
_SOURCE = 64 * EXCERPT


@dataclass(frozen=True, slots=True)
class Document:
    """A page as the detector takes it. `host` and `site` as DNS has them."""

    body: bytes
    url: str = ""
    host: str = ""
    site: str = ""
    charset: str = "utf-8"
    html: bool = True


def source_of(document: Document, decoded: Decoded) -> Source:
    """What the scanner reads of a page."""
    return Source(decoded.utf8, document.host, document.site, document.url, document.html)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is told of a page beside its sketches. Offsets are bytes of its body."""

    file_hash: int
    title: str
    excerpt: str
    start: int
    end: int
    truncated: bool
    obfuscated: float  # the share of its words that had to be unfolded, or were hidden
    # The address that the page says it stands at, resolved; empty where it says nothing.
    canonical: str = ""
    # Where it leads on other sites: addresses, and where in the body their words begin.
    outlinks: Sequence[Outlink] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """A batch: facts by page, sketches as columns. `NONE` stands for no hash.

    `chunk_starts` and `chunk_ends` say where in the body each chunk of the sketches stands,
    `gram_starts` and `gram_ends` where each gram first does. `all_grams`: of which pages all are
    there, and not a sample.
    """

    facts: Sequence[Facts]
    sketches: Sketches
    chunk_starts: NDArray[np.int64]
    chunk_ends: NDArray[np.int64]
    gram_starts: NDArray[np.int64]
    gram_ends: NDArray[np.int64]
    all_grams: NDArray[np.bool_]
    texts: ChunkTexts | RawTexts
    places: WordPlaces

    def __len__(self) -> int:
        return len(self.facts)

    def text_of(self, page: int, first: int, last: int) -> str:
        """The beginning of what stands from word to word of a page's visible text."""
        ends = self.places.words(np.array([page, page]), np.array([first, last])).tolist()
        return excerpt_of(self.places.decoded[page].utf8, self.places.batch, ends[0], ends[1] + 1)


@dataclass(frozen=True, slots=True, eq=False)
class ChunkTexts:
    """What the chunks of a batch say, for people; made of the scan's offsets when it is asked for.

    `first` and `last` are the words of each chunk among the batch's.
    """

    utf8: Sequence[bytes]
    batch: Batch
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def of(self, page: int, chunk: int) -> str:
        """The beginning of a chunk's text; `chunk` counts through all pages of the batch."""
        stop = int(self.last[chunk]) + 1
        return excerpt_of(self.utf8[page], self.batch, int(self.first[chunk]), stop)


@dataclass(frozen=True, slots=True, eq=False)
class RawTexts:
    """What chunks that are bytes of their bodies say, without the markup between the words."""

    documents: Sequence[Document]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]

    def of(self, page: int, chunk: int) -> str:
        """The beginning of a chunk's text, as `ChunkTexts.of`."""
        document = self.documents[page]
        start = int(self.starts[chunk])
        source = document.body[start : min(int(self.ends[chunk]), start + _SOURCE)]
        return plain(_TAG.sub(b" ", decode(source, document.charset).utf8))[:EXCERPT]


def fingerprints(
    documents: Sequence[Document],
    scheme: HashScheme,
    *,
    limits: ScanLimits = _LIMITS,
    gram_sample: float = 1.0,
    chunks: Unit = "text",
) -> Fingerprints:
    """The fingerprints of a batch of pages; the same for a page in any batch."""
    decoded = [decode(document.body, document.charset) for document in documents]
    sources = list(map(source_of, documents, decoded))
    batch = scan_batch(sources, key=scheme.key, limits=limits)
    made = sketch(tokens_of(batch), scheme, gram_sample=gram_sample)
    at = WordPlaces.of(batch, decoded, made.words, made.places)
    first, last = _chunk_words(at, made)
    starts, ends = batch.starts[first].astype(np.int64), batch.ends[last].astype(np.int64)
    whole = np.full(len(made), gram_sample >= 1) | (made.words < SHORT + GRAM_K)
    of_grams = (*_gram_places(at, made), whole)
    chunk_at = made.chunks.hashes.offsets.tolist()
    gram_at = made.grams.hashes.offsets.tolist()
    told = batch.facts.tolist()
    outlinks = outlinks_of(batch)
    below, excerpts = _beginnings(batch, decoded)
    facts = []
    for page, (document, text) in enumerate(zip(documents, decoded, strict=True)):
        own = slice(chunk_at[page], chunk_at[page + 1])
        spans = _to_body(text, starts[own], ends[own])
        _to_body(text, *(place[gram_at[page] : gram_at[page + 1]] for place in of_grams[:2]))
        leads = _in_body(text, outlinks[page])
        span = _span(spans, below[page])
        facts.append(_facts(document, text.utf8, told[page], excerpts[page], span, leads, scheme))
    if chunks == "raw":
        return _with_raw_chunks(facts, made, documents, at, scheme, limits, of_grams)
    texts = ChunkTexts([source.utf8 for source in sources], batch, first, last)
    return Fingerprints(facts, made, starts, ends, *of_grams, texts, at)


def _with_raw_chunks(
    facts: Sequence[Facts],
    made: Sketches,
    documents: Sequence[Document],
    at: WordPlaces,
    scheme: HashScheme,
    limits: ScanLimits,
    of_grams: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]],
) -> Fingerprints:
    raw, cut = raw_chunks_of(at.decoded, scheme, most=limits.blocks)
    facts = [
        replace(told, truncated=True) if more else told
        for told, more in zip(facts, cut, strict=True)
    ]
    starts, ends = raw.starts.astype(np.int64), raw.ends.astype(np.int64)
    texts = RawTexts(documents, starts, ends)
    return Fingerprints(facts, replace(made, chunks=raw), starts, ends, *of_grams, texts, at)


def tokens_of(batch: Batch) -> TokenBatch:
    """A scan's tokens as the sketches take them."""
    return TokenBatch(
        Ragged(batch.hashes, batch.token_at),
        batch.fields,
        batch.blocks.view(np.uint32),
        batch.lengths,
    )


def _to_body(
    decoded: Decoded, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make the spans of a page's chunks bytes of its body, in place."""
    if decoded.charset != "utf-8":
        starts[:], ends[:] = decoded.body_offsets(np.stack((starts, ends)))
    return starts, ends


def _in_body(decoded: Decoded, outlinks: Sequence[Outlink]) -> Sequence[Outlink]:
    if not outlinks or decoded.charset == "utf-8":
        return outlinks
    starts = decoded.body_offsets(np.array([link.start for link in outlinks])).tolist()
    return [Outlink(link.address, at) for link, at in zip(outlinks, starts, strict=True)]


def _facts(
    document: Document,
    utf8: bytes,
    told: list[int],
    excerpt: str,
    span: tuple[int, int],
    outlinks: Sequence[Outlink],
    scheme: HashScheme,
) -> Facts:
    """`told` are the scan's facts of a page."""
    return Facts(
        file_hash=scheme.of_bytes(document.body) if document.body else NONE,
        title=_title(utf8, told[state.TITLE_START], told[state.TITLE_END]),
        excerpt=excerpt,
        start=span[0],
        end=span[1],
        truncated=any(told[state.TOKENS_LOST : state.BYTES_LOST + 1]) or told[state.SAMPLED] > 0,
        obfuscated=_obfuscated(told),
        canonical=_canonical(document.url, utf8, told),
        outlinks=outlinks,
    )


def _span(spans: tuple[NDArray[np.int64], NDArray[np.int64]], below: int) -> tuple[int, int]:
    """From a page's first chunk, or the second, to its last."""
    starts, ends = spans
    return (int(starts[below]), int(ends[-1])) if len(starts) else (0, 0)


def _beginnings(batch: Batch, decoded: Sequence[Decoded]) -> tuple[list[int], list[str]]:
    """Of each page the chunk that its text begins with below a title, and the text's beginning."""
    first = batch.token_at[:-1]
    stop = first + batch.facts[:, state.TEXT_TOKENS]
    # The words of a page begin with the title's, which is then the first chunk.
    of_titles = np.flatnonzero(batch.fields == Field.TITLE)
    titled = first + np.diff(of_titles.searchsorted(batch.token_at))
    below = (first < titled) & (titled < stop)
    first = np.where(below, titled, first)
    excerpts = excerpts_of([text.utf8 for text in decoded], batch, first, stop)
    return below.astype(int).tolist(), excerpts


def _obfuscated(told: list[int]) -> float:
    folded, hidden = told[state.FOLDED], told[state.HIDDEN]
    # Words over the limit are counted as well, and not among the page's.
    return min(1.0, (folded + hidden) / max(1, told[state.TEXT_TOKENS] + hidden))


def _chunk_words(at: WordPlaces, made: Sketches) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and the last word of each chunk: from positions in the visible text to words."""
    chunks = made.chunks
    of_page = np.repeat(np.arange(len(made)), chunks.hashes.counts)
    last = chunks.ends.astype(np.int64) - 1
    return at.words(of_page, chunks.starts), at.words(of_page, last)


def _canonical(url: str, utf8: bytes, told: list[int]) -> str:
    """The first `rel=canonical` of a page, as a browser would resolve it."""
    start, end = told[state.CANONICAL_START], told[state.CANONICAL_END]
    if not 0 <= start < end <= start + MOST_CANONICAL:
        return ""
    if utf8[start:end] == url.encode("utf-8", "replace"):
        return url
    base, base_end = told[state.BASE_START], told[state.BASE_END]
    if 0 <= base < base_end <= base + MOST_CANONICAL:
        url = resolved(url, _address(utf8[base:base_end]))
    return resolved(url, _address(utf8[start:end]))


def _address(value: bytes) -> str:
    return address_text(value.decode("utf-8", "replace"))


def _gram_places(at: WordPlaces, made: Sketches) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the first word of each gram begins and its last word ends, as `_chunk_words`."""
    grams = made.grams
    of_page = np.repeat(np.arange(len(made)), grams.hashes.counts)
    first = grams.positions.astype(np.int64)
    starts = at.batch.starts[at.words(of_page, first)].astype(np.int64)
    return starts, at.batch.ends[at.words(of_page, first + (GRAM_K - 1))].astype(np.int64)


def _title(utf8: bytes, start: int, end: int) -> str:
    return plain(utf8[start : min(end, start + 4 * TITLE)])[:TITLE] if start >= 0 else ""
