"""Chunk hash vectors of paragraphs' words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from detector.chunks import Chunks, text_chunks
from detector.hashing import HashScheme
from detector.ragged import Ragged
from tests.detector import twins
from tests.detector.sketch_strategies import batch_of, schemes, token_pages


def rows(chunks: Chunks, page: int) -> list[tuple[int, int, int, int]]:
    span = slice(chunks.hashes.offsets[page], chunks.hashes.offsets[page + 1])
    columns = (chunks.hashes.values, chunks.lengths, chunks.starts, chunks.ends)
    return list(zip(*(column[span].tolist() for column in columns), strict=True))


@given(token_pages(), schemes)
def test_text_twin(pages: list[list[tuple[int, int, int, int]]], scheme: HashScheme) -> None:
    batch = batch_of(pages)
    chunks = text_chunks(batch.tokens, batch.blocks, batch.lengths, scheme)
    for at, page in enumerate(pages):
        tokens, _, blocks, lengths = ([token[i] for token in page] for i in range(4))
        assert rows(chunks, at) == twins.text_chunks(tokens, blocks, lengths, scheme)


def test_the_vector_keeps_duplicates() -> None:
    tokens, blocks = Ragged.of([[1, 2, 1, 2]]), np.array([0, 0, 1, 1], np.uint32)
    chunks = text_chunks(tokens, blocks, np.array([3, 4, 3, 4], np.uint32), HashScheme())
    one, other = chunks.hashes[0].tolist()
    assert one == other
    assert chunks.lengths.tolist() == [8, 8]


def test_a_chunk_does_not_cross_pages() -> None:
    tokens, blocks = Ragged.of([[1, 2], [1, 2]]), np.zeros(4, np.uint32)
    chunks = text_chunks(tokens, blocks, np.ones(4, np.uint32), HashScheme())
    assert chunks.hashes.counts.tolist() == [1, 1]
    assert chunks.hashes.values[0] == chunks.hashes.values[1]


def test_lengths_saturate() -> None:
    lengths = np.full(3, (1 << 32) - 1, np.uint32)
    chunks = text_chunks(Ragged.of([[1, 2, 3]]), np.zeros(3, np.uint32), lengths, HashScheme())
    assert chunks.lengths.tolist() == [(1 << 32) - 1]


@pytest.mark.parametrize(("blocks", "lengths"), [(2, 3), (3, 2)])
def test_columns_of_other_sizes_are_refused(blocks: int, lengths: int) -> None:
    columns = np.zeros(blocks, np.uint32), np.zeros(lengths, np.uint32)
    with pytest.raises(ValueError, match="for 3 tokens"):
        text_chunks(Ragged.of([[1, 2, 3]]), *columns, HashScheme())
