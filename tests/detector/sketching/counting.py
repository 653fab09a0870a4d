"""The words of pages that are all text, counted."""

from __future__ import annotations

import numpy as np

from reusewatch.detector.fields import Field
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.identity import identity_hashes
from reusewatch.detector.sketching.tokens import TokenBatch
from reusewatch.detector.sketching.word_counts import WordCounts, word_counts


def counted(pages: list[list[int]]) -> WordCounts:
    """Of pages whose tokens are all of the body."""
    tokens = Ragged.of(pages)
    fields = np.full(tokens.values.size, int(Field.BODY), np.uint8)
    return word_counts(tokens, fields, identity_hashes(tokens, HashScheme()))


def counted_in(batch: TokenBatch) -> WordCounts:
    """Of a batch of tokens in any fields."""
    return word_counts(batch.tokens, batch.fields, identity_hashes(batch.tokens, HashScheme()))
