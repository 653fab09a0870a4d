"""The chunks of pages and of plain texts, without the other sketches: what labels are built of
(Ardi, Heidemann 2014, §3.1 steps 2 and 3). The same chunks that fingerprints carry.
"""

from __future__ import annotations

from collections.abc import Sequence

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.labels.stop_chunks import StopChunks, StopList
from reusewatch.detector.scanning.decoding import decode
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import Source, scan, scan_batch
from reusewatch.detector.sketching.chunks import Chunks, Unit, text_chunks
from reusewatch.detector.sketching.fingerprint import Document, source_of, tokens_of
from reusewatch.detector.sketching.raw_chunks import raw_chunks_of
from reusewatch.detector.sketching.tokens import TokenBatch, text_of


def chunks_of(documents: Sequence[Document], scheme: HashScheme, unit: Unit = "text") -> Chunks:
    """The chunk hash vectors of these pages."""
    decoded = [decode(page.body, page.charset) for page in documents]
    if unit == "raw":
        return raw_chunks_of(decoded, scheme)[0]
    sources = list(map(source_of, documents, decoded))
    text = text_of(tokens_of(scan_batch(sources, key=scheme.key)))
    return text_chunks(text.tokens, text.blocks, text.lengths, scheme)


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
