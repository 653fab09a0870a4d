"""A tokenizer for plain text, in place of the scan: letters and digits, one block a line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from detector.words import words_of

from detector.batches import TokenBatch
from detector.fields import Field
from detector.hashing import HashScheme
from detector.ragged import Ragged

SCHEME = HashScheme()


def tokenize(texts: Sequence[str]) -> TokenBatch:
    pages = [
        [(word, block) for block, line in enumerate(text.split("\n")) for word in words_of(line)]
        for text in texts
    ]
    flat = [token for page in pages for token in page]
    return TokenBatch(
        Ragged.of([[SCHEME.of_text(word) for word, _ in page] for page in pages]),
        np.full(len(flat), Field.BODY, np.uint8),
        np.array([block for _, block in flat], np.uint32),
        np.array([len(word) for word, _ in flat], np.uint32),
    )
