"""The tokens of plain texts, as the scan reads them: one page a text, one block a line."""

from __future__ import annotations

from collections.abc import Sequence

from detector.batches import TokenBatch
from detector.fingerprint import tokens_of
from detector.hashing import HashScheme
from detector.scan import Source, scan_batch

SCHEME = HashScheme()


def tokenize(texts: Sequence[str]) -> TokenBatch:
    sources = [Source(text.replace("\n", "\n\n").encode(), html=False) for text in texts]
    return tokens_of(scan_batch(sources, key=SCHEME.key))
