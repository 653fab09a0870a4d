"""The chunks and grams of pages and of plain texts, without the other sketches: what labels are
built of (Ardi, Heidemann 2014, §3.1 steps 2 and 3; grams as a set, Najork 2012, §2). The same that
fingerprints carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.stop_chunks import StopChunks, StopList
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.scanning.decoding import decode
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import Source, scan, scan_batch
from reusewatch.detector.sketching.chunks import Chunks, Unit, text_of
from reusewatch.detector.sketching.fingerprint import Document, source_of, tokens_of
from reusewatch.detector.sketching.grams import GRAM_K, gram_sets
from reusewatch.detector.sketching.raw_chunks import raw_chunks_of
from reusewatch.detector.sketching.shingles import phrases
from reusewatch.detector.sketching.tokens import TokenBatch
from reusewatch.detector.sketching.word_places import WordPlaces

Spans = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """What may be labeled of a batch of pages, with the bytes of their bodies at which it stands.
    `grams` are none where they were not asked for."""

    chunks: Chunks
    chunk_spans: Spans
    grams: Ragged
    gram_spans: Spans


def content_of(
    documents: Sequence[Document],
    scheme: HashScheme,
    unit: Unit = "text",
    *,
    gram_share: float = 1.0,
) -> Content:
    """Chunks and grams of these pages; of the grams this share, chosen by value."""
    decoded = [decode(page.body, page.charset) for page in documents]
    batch = scan_batch(list(map(source_of, documents, decoded)), key=scheme.key)
    text = text_of(tokens_of(batch), scheme)
    at = WordPlaces.of(batch, decoded, text.tokens.counts, text.places)
    if unit == "raw":
        chunks = raw_chunks_of(decoded, scheme)[0]
        spans = chunks.starts.astype(np.int64), chunks.ends.astype(np.int64)
    else:
        chunks = text.chunks
        spans = at.spans(chunks.hashes.offsets, chunks.starts, chunks.ends, behind=-1)
    straight = phrases(text.tokens, GRAM_K, scheme, circular=False)
    found = gram_sets(straight, text.identities, sample=gram_share)
    positions = found.positions
    in_grams = at.spans(found.hashes.offsets, positions, positions, behind=GRAM_K - 1)
    return Content(chunks, spans, found.hashes, in_grams)


def chunks_of(documents: Sequence[Document], scheme: HashScheme, unit: Unit = "text") -> Chunks:
    """The chunk hash vectors of these pages."""
    decoded = [decode(page.body, page.charset) for page in documents]
    if unit == "raw":
        return raw_chunks_of(decoded, scheme)[0]
    sources = list(map(source_of, documents, decoded))
    return text_of(tokens_of(scan_batch(sources, key=scheme.key)), scheme).chunks


def stop_chunks_of(listed: StopList, scheme: HashScheme) -> StopChunks:
    """The hashes of a list of stop chunks, by the tokenizer that reads pages."""

    def tokenize(texts: Sequence[str]) -> TokenBatch:
        # In plain text a paragraph ends at an empty line; in a list, every line is one.
        lines = (text.replace("\n", "\n\n").encode("utf-8", "replace") for text in texts)
        sources = [Source(line, html=False) for line in lines]
        return tokens_of(scan_batch(sources, key=scheme.key))

    return StopChunks.of(listed, scheme, tokenize)


def plain_text(body: bytes, charset: str) -> str:
    """What a piece of a page says, as a reader sees it."""
    scanned = scan(decode(body, charset).utf8, key=HashScheme().key)
    return " ".join(Readable(scanned).text.split())
