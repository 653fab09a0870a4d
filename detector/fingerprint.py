"""A page's fingerprint: all of its sketches, from one reading of its bytes.

A batch of pages is scanned and sketched in a few kernel calls. What a person wants to read of a
page (title, the beginning of its text) is cut from the scan's offsets; nothing is parsed twice.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from detector.batches import TokenBatch
from detector.decoding import Decoded, decode
from detector.fields import Field
from detector.hashing import HashScheme
from detector.identity_sets import NONE
from detector.ragged import Ragged
from detector.scan import Scan, ScanLimits, Source, scan_batch
from detector.sketches import Sketches, sketch

EXCERPT = 300
TITLE = 300
# Words looked at for the excerpt: enough to fill it, whatever stands between them.
_EXCERPT_WORDS = 80
_LIMITS = ScanLimits()
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Document:
    """A page as the detector takes it. `host` and `site` as DNS has them."""

    body: bytes
    url: str = ""
    host: str = ""
    site: str = ""
    charset: str = "utf-8"
    html: bool = True


@dataclass(frozen=True, slots=True)
class Facts:
    """What is told of a page beside its sketches. Offsets are bytes of its body."""

    file_hash: int
    title: str
    excerpt: str
    start: int
    end: int
    truncated: bool


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """A batch: facts by page, sketches as columns. `NONE` stands for no hash."""

    facts: Sequence[Facts]
    sketches: Sketches

    def __len__(self) -> int:
        return len(self.facts)


def fingerprints(
    documents: Sequence[Document],
    scheme: HashScheme,
    *,
    limits: ScanLimits = _LIMITS,
    gram_sample: float = 1.0,
) -> Fingerprints:
    """The fingerprints of a batch of pages; the same for a page in any batch."""
    decoded = [decode(document.body, document.charset) for document in documents]
    sources = [
        Source(text.utf8, document.host, document.site, document.url, document.html)
        for document, text in zip(documents, decoded, strict=True)
    ]
    batch = scan_batch(sources, key=scheme.key, limits=limits)
    tokens = TokenBatch(
        Ragged(batch.hashes, batch.token_at),
        batch.fields,
        batch.blocks.view(np.uint32),
        (batch.ends - batch.starts).view(np.uint32),
    )
    facts = [
        _facts(document, text, batch[index], scheme)
        for index, (document, text) in enumerate(zip(documents, decoded, strict=True))
    ]
    return Fingerprints(facts, sketch(tokens, scheme, gram_sample=gram_sample))


def _facts(document: Document, decoded: Decoded, scanned: Scan, scheme: HashScheme) -> Facts:
    body = _body_tokens(scanned)
    start = end = 0
    if len(body):
        start = decoded.body_offset(int(scanned.starts[body[0]]))
        end = decoded.body_offset(int(scanned.ends[body[-1]]))
    return Facts(
        file_hash=scheme.of_bytes(document.body) if document.body else NONE,
        title=_title(decoded.utf8, scanned),
        excerpt=_excerpt(decoded.utf8, scanned, body[:_EXCERPT_WORDS]),
        start=start,
        end=end,
        truncated=scanned.truncated,
    )


def _body_tokens(scanned: Scan) -> NDArray[np.int64]:
    """The words that a reader sees below the title; in a page of a title alone, the title's."""
    text = scanned.fields[: scanned.text_tokens]
    below = np.flatnonzero(text != Field.TITLE)
    return below if len(below) else np.arange(len(text))


def _title(utf8: bytes, scanned: Scan) -> str:
    if scanned.title is None:
        return ""
    start, end = scanned.title
    return _plain(utf8[start : min(end, start + 4 * TITLE)])[:TITLE]


def _excerpt(utf8: bytes, scanned: Scan, tokens: NDArray[np.int64]) -> str:
    """The text from word to word; what stands between two of them counts unless it is markup."""
    parts: list[bytes] = []
    last = -1
    size = 0
    for start, end in zip(
        scanned.starts[tokens].tolist(), scanned.ends[tokens].tolist(), strict=True
    ):
        if last >= 0:
            between = utf8[last:start] if start - last <= EXCERPT else b" "
            parts.append(b" " if b"<" in between else between)
        word = utf8[start:end]
        parts.append(word[:EXCERPT] if b"<" not in word else re.sub(rb"<[^>]*>", b"", word))
        last = end
        size += len(parts[-1])
        if size > EXCERPT:
            break
    return _plain(b"".join(parts))[:EXCERPT]


def _plain(text: bytes) -> str:
    decoded = html.unescape(text.decode("utf-8", "replace")).replace("\0", "")
    return _SPACES.sub(" ", decoded).strip()
