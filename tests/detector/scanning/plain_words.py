"""The tokens of plain texts, as the scan reads them: one page a text, one block a line."""

from __future__ import annotations

from collections.abc import Sequence

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.scanning.scan import Source, scan_batch
from reusewatch.detector.sketching.fingerprint import tokens_of
from reusewatch.detector.sketching.tokens import TokenBatch

SCHEME = HashScheme()


def tokenize(texts: Sequence[str]) -> TokenBatch:
    sources = [Source(text.replace("\n", "\n\n").encode(), html=False) for text in texts]
    return tokens_of(scan_batch(sources, key=SCHEME.key))
