"""A page's fingerprint: all of its sketches, from one reading of its bytes.

A batch of pages is scanned and sketched in a few kernel calls. What a person wants to read of a
page (title, the beginning of its text) is cut from the scan's offsets; nothing is parsed twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.compiling.kernels import BYTES, OFFSETS, OUT_OFFSETS, kernel, types
from reusewatch.detector.fields import Field
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.scanning import state
from reusewatch.detector.scanning.decoding import Decoded, decode
from reusewatch.detector.scanning.readable import address_text, resolved
from reusewatch.detector.scanning.scan import Batch, ScanLimits, Source, scan_batch
from reusewatch.detector.sketching.chunks import Chunks, Unit
from reusewatch.detector.sketching.excerpts import EXCERPT, excerpt_of, excerpts_of, plain
from reusewatch.detector.sketching.grams import GRAM_K, SHORT
from reusewatch.detector.sketching.outlinks import Outlinks, outlinks_of
from reusewatch.detector.sketching.raw_chunks import raw_chunks_of
from reusewatch.detector.sketching.sketches import Sketches, sketch
from reusewatch.detector.sketching.tokens import TokenBatch
from reusewatch.detector.sketching.word_places import WordPlaces, not_utf8

NONE = 0  # no hash: an empty file, a page without words
TITLE = 300
MOST_CANONICAL = 4096
"""Bytes of an address: what is longer names nothing."""
_LIMITS = ScanLimits()
_OF_TITLE = int(Field.TITLE)
_TAG = re.compile(rb"<[A-Za-z/!?][^<>]*(?:>|$)")
_SOURCE = 64 * EXCERPT
# Of a scan's facts: where the page's `base` stands, and where what it says that it is.
_CLAIMED = slice(state.BASE_START, state.CANONICAL_END + 1)


class Document(NamedTuple):
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


class Facts(NamedTuple):
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
    # Where pages lead on other sites; their words begin at bytes of the body.
    outlinks: Outlinks
    texts: ChunkTexts | RawTexts
    places: WordPlaces

    def __len__(self) -> int:
        return len(self.facts)

    def text_of(self, page: int, first: int, last: int) -> str:
        """The beginning of what stands from word to word of a page's visible text."""
        return _excerpt(self.places, page, first, last)


def _excerpt(places: WordPlaces, page: int, first: int, last: int) -> str:
    """The beginning of what stands from position to position of a page's visible text."""
    utf8, start = places.decoded[page].utf8, places.word(page, first)
    return excerpt_of(utf8, places.batch, start, places.word(page, last) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class ChunkTexts:
    """What the chunks of a batch say, for people: cut when somebody asks, by the scan's offsets."""

    places: WordPlaces
    chunks: Chunks

    def of(self, page: int, chunk: int) -> str:
        """The beginning of a chunk's text; `chunk` counts through all pages of the batch."""
        first, behind = int(self.chunks.starts[chunk]), int(self.chunks.ends[chunk])
        return _excerpt(self.places, page, first, behind - 1)


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
    below, excerpts = _beginnings(batch, decoded)
    tokens, batch = [tokens_of(batch)], batch.only_places()
    # Taken out of the list: nobody else holds the tokens, and they go when they were counted.
    made = sketch(tokens.pop(), scheme, gram_sample=gram_sample)
    at = WordPlaces.of(batch, decoded, made.words, made.places)
    offsets = made.chunks.hashes.offsets
    starts, ends = at.spans(offsets, made.chunks.starts, made.chunks.ends, behind=-1)
    whole = np.full(len(made), gram_sample >= 1) | (made.words < SHORT + GRAM_K)
    grams = made.grams
    in_grams = at.spans(grams.hashes.offsets, grams.positions, grams.positions, behind=GRAM_K - 1)
    of_grams = (*in_grams, whole)
    spans = _spans(offsets, below, starts, ends)
    facts = _facts_of(documents, decoded, batch, spans, excerpts, scheme)
    outlinks = _in_bodies(outlinks_of(batch), decoded)
    if chunks == "raw":
        return _with_raw_chunks(facts, made, documents, at, scheme, limits, of_grams, outlinks)
    texts = ChunkTexts(at, made.chunks)
    return Fingerprints(facts, made, starts, ends, *of_grams, outlinks, texts, at)


def _with_raw_chunks(
    facts: Sequence[Facts],
    made: Sketches,
    documents: Sequence[Document],
    at: WordPlaces,
    scheme: HashScheme,
    limits: ScanLimits,
    of_grams: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]],
    outlinks: Outlinks,
) -> Fingerprints:
    raw, cut = raw_chunks_of(at.decoded, scheme, most=limits.blocks)
    facts = [
        told._replace(truncated=True) if more else told
        for told, more in zip(facts, cut, strict=True)
    ]
    starts, ends = raw.starts.astype(np.int64), raw.ends.astype(np.int64)
    texts = RawTexts(documents, starts, ends)
    sketches = replace(made, chunks=raw)
    return Fingerprints(facts, sketches, starts, ends, *of_grams, outlinks, texts, at)


def tokens_of(batch: Batch) -> TokenBatch:
    """A scan's tokens as the sketches take them."""
    return TokenBatch(
        Ragged(batch.hashes, batch.token_at),
        batch.fields,
        batch.blocks.view(np.uint32),
        batch.lengths,
    )


def _in_bodies(outlinks: Outlinks, decoded: Sequence[Decoded]) -> Outlinks:
    """Where the words of links begin, by bytes of the bodies."""
    for page in not_utf8(decoded):
        rows = slice(outlinks.at[page], outlinks.at[page + 1])
        if rows.start < rows.stop:
            outlinks.starts[rows] = decoded[page].body_offsets(outlinks.starts[rows])
    return outlinks


def _facts_of(
    documents: Sequence[Document],
    decoded: Sequence[Decoded],
    batch: Batch,
    spans: tuple[list[int], list[int]],
    excerpts: Sequence[str],
    scheme: HashScheme,
) -> list[Facts]:
    """The facts of each page: in columns, since a batch has hundreds of pages."""
    told, utf8 = batch.facts, [text.utf8 for text in decoded]
    over = told[:, state.TOKENS_LOST : state.BYTES_LOST + 1].any(axis=1) | (
        told[:, state.SAMPLED] > 0
    )
    of_titles = told[:, state.TITLE_START : state.TITLE_END + 1].T.tolist()
    columns = (
        [scheme.of_bytes(one.body) if one.body else NONE for one in documents],
        map(_title, utf8, *of_titles),
        excerpts,
        *spans,
        over.tolist(),
        _obfuscated(told).tolist(),
        map(_canonical, documents, utf8, told[:, _CLAIMED].tolist()),
    )
    return list(map(Facts, *columns))


def _spans(
    offsets: NDArray[np.int64],
    below: NDArray[np.bool_],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> tuple[list[int], list[int]]:
    """From each page's first chunk, or the second, to its last."""
    found = np.zeros((2, len(below)), np.int64)
    some = np.flatnonzero(offsets[1:] > offsets[:-1])
    last = offsets[1:][some] - 1
    # At the limit of blocks the title and the text below it are one chunk.
    found[0, some] = starts[np.minimum(offsets[:-1][some] + below[some], last)]
    found[1, some] = ends[last]
    first, behind = found.tolist()
    return first, behind


def _beginnings(batch: Batch, decoded: Sequence[Decoded]) -> tuple[NDArray[np.bool_], list[str]]:
    """Which pages' texts begin below a title, with the second chunk; and the texts' beginnings."""
    first = batch.token_at[:-1]
    stop = first + batch.facts[:, state.TEXT_TOKENS]
    # The words of a page begin with the title's, which is then the first chunk.
    titled = np.empty_like(first)
    _behind_titles(batch.fields, batch.token_at, titled)
    below = (first < titled) & (titled < stop)
    first = np.where(below, titled, first)
    excerpts = excerpts_of([text.utf8 for text in decoded], batch, first, stop)
    return below, excerpts


@kernel(types.void(BYTES, OFFSETS, OUT_OFFSETS), allocates=False)
def _behind_titles(fields: Any, token_at: Any, out: Any) -> None:
    for page in range(out.size):
        word = token_at[page]
        while word < token_at[page + 1] and fields[word] == _OF_TITLE:
            word += 1
        out[page] = word


def _obfuscated(told: NDArray[np.int64]) -> NDArray[np.float64]:
    folded, hidden = told[:, state.FOLDED], told[:, state.HIDDEN]
    # Words over the limit are counted as well, and not among the page's.
    share = (folded + hidden) / np.maximum(1, told[:, state.TEXT_TOKENS] + hidden)
    found: NDArray[np.float64] = np.minimum(1.0, share)
    return found


def _canonical(document: Document, utf8: bytes, claimed: Sequence[int]) -> str:
    """The first `rel=canonical` of a page, as a browser would resolve it. `claimed` is where it
    stands, behind where the page's `base` does."""
    base, base_end, start, end = claimed
    if not 0 <= start < end <= start + MOST_CANONICAL:
        return ""
    url = document.url
    if utf8[start:end] == url.encode("utf-8", "replace"):
        return url
    if 0 <= base < base_end <= base + MOST_CANONICAL:
        url = resolved(url, _address(utf8[base:base_end]))
    return resolved(url, _address(utf8[start:end]))


def _address(value: bytes) -> str:
    return address_text(value.decode("utf-8", "replace"))


def _title(utf8: bytes, start: int, end: int) -> str:
    return plain(utf8[start : min(end, start + 4 * TITLE)])[:TITLE] if start >= 0 else ""
