"""A page's fingerprint as people and scripts read it: everything that is known of one page.

Slow beside the stage, which needs no strings; for a look at some pages, never for a stream.
"""

from __future__ import annotations

import msgspec

from reusewatch.detector.hashing import HashScheme, hex_of
from reusewatch.detector.scanning.decoding import Decoded, decode
from reusewatch.detector.scanning.readable import Readable
from reusewatch.detector.scanning.scan import Scan
from reusewatch.detector.sketching.chunks import Unit
from reusewatch.detector.sketching.fingerprint import Document, Fingerprints, fingerprints
from reusewatch.detector.sketching.simhash import simhash_hex
from reusewatch.detector.sketching.term_words import scan_of, words_in


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """A paragraph: where it stands in the body, what it says, the hash of its chunk."""

    start: int
    end: int
    text: str
    chunk: str


class LinkView(msgspec.Struct, frozen=True, kw_only=True):
    """A link as a reader sees it."""

    url: str
    anchor: str
    same_site: bool


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """A weighted term (Das et al., Table 1)."""

    term: str
    weight: float


class FingerprintView(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All facts of one page."""

    url: str
    charset: str
    title: str
    tokens: int
    text: str
    blocks: list[Block]
    links: list[LinkView]
    file_hash: str
    identity_hash: str
    supershingles: dict[str, list[str]]
    simhash: str
    terms: list[Term]
    truncated: bool | None
    scheme: str
    words: list[str] | None = None
    chunks: Unit = "text"


def view_of(
    document: Document, scheme: HashScheme, *, words: bool = False, chunks: Unit = "text"
) -> FingerprintView:
    """The fingerprint of one page, with the strings behind its hashes."""
    made = fingerprints([document], scheme, chunks=chunks)
    facts, sketches = made.facts[0], made.sketches
    decoded = decode(document.body, document.charset)
    scanned = scan_of(document, scheme)
    readable = Readable(scanned)
    weights = sketches.terms.weights.tolist()
    terms = list(zip(sketches.terms.hashes.values.tolist(), weights, strict=True))
    # A long page has half a million words: only those that are shown become strings.
    word_of = words_in(scanned, readable, [term for term, _ in terms])
    return FingerprintView(
        url=document.url,
        charset=decoded.charset,
        title=readable.title,
        tokens=int(sketches.words[0]),
        words=readable.words()[: scanned.text_tokens] if words else None,
        chunks=chunks,
        text=readable.text,
        blocks=_blocks(made, decoded, scanned, readable),
        links=[LinkView(url=x.url, anchor=x.anchor, same_site=x.same_site)
               for x in readable.links()],
        file_hash=hex_of(facts.file_hash),
        identity_hash=hex_of(int(sketches.identity[0])),
        supershingles={
            "k5": [hex_of(value) for value in sketches.supershingles5[0].tolist()],
            "k8": [hex_of(value) for value in sketches.supershingles8[0].tolist()],
        },
        simhash=simhash_hex(sketches.simhash[0]),
        terms=[Term(term=word_of[term], weight=weight) for term, weight in terms],
        truncated=facts.truncated,
        scheme=scheme.name,
    )  # fmt: skip


def _blocks(made: Fingerprints, decoded: Decoded, scanned: Scan, readable: Readable) -> list[Block]:
    chunks = made.sketches.chunks
    starts, ends = made.chunk_starts.tolist(), made.chunk_ends.tolist()
    if chunks.unit == "raw":
        parts = [decoded.body[start:end] for start, end in zip(starts, ends, strict=True)]
        texts = [part.decode(decoded.charset, "replace") for part in parts]
    else:
        texts = _texts(scanned, readable)
    hashes = map(hex_of, chunks.hashes.values.tolist())
    return [
        Block(start=start, end=end, text=text, chunk=chunk)
        for start, end, text, chunk in zip(starts, ends, texts, hashes, strict=True)
    ]


def _texts(scanned: Scan, readable: Readable) -> list[str]:
    """A chunk is the words of a block; the block's text is read by the scan's own offsets."""
    numbers = scanned.blocks[: scanned.text_tokens]
    if not len(numbers):
        return []
    first = [
        0,
        *(index for index in range(1, len(numbers)) if numbers[index] != numbers[index - 1]),
    ]
    last = [*(index - 1 for index in first[1:]), len(numbers) - 1]
    return [
        readable.text_of(int(scanned.starts[a]), int(scanned.ends[b]))
        for a, b in zip(first, last, strict=True)
    ]
