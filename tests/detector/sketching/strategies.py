"""Hypothesis strategies for token columns."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.sketching.tokens import TokenBatch

words = st.integers(0, (1 << 64) - 1)
few_words = st.sampled_from([0, 1, 2, 1 << 63, (1 << 64) - 1, 0x0123456789ABCDEF])
sequences = st.lists(words | few_words, max_size=80)
pages = st.lists(sequences, max_size=6)
schemes = st.builds(HashScheme, words)


@st.composite
def token_pages(draw: st.DrawFn) -> list[list[tuple[int, int, int, int]]]:
    """Pages of tokens: hash, field, block and length of each."""
    lengths = st.integers(0, 40)
    lengths |= lengths.map((1 << 31).__add__)
    token = st.tuples(words | few_words, st.integers(0, 7), st.integers(0, 3), lengths)
    return draw(st.lists(st.lists(token, max_size=60), max_size=5))


def batch_of(pages: list[list[tuple[int, int, int, int]]]) -> TokenBatch:
    """The columns of such pages."""
    flat = [token for page in pages for token in page]
    hashes, fields, blocks, lengths = zip(*flat, strict=True) if flat else ((), (), (), ())
    return TokenBatch(
        Ragged(np.array(hashes, np.uint64), page_offsets(map(len, pages))),
        np.array(fields, np.uint8),
        np.array(blocks, np.uint32),
        np.array(lengths, np.uint32),
    )
