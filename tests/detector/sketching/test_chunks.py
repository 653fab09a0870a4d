"""Chunk hash vectors of paragraphs' words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from reusewatch.detector.fields import Field
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.chunks import Chunks, text_of
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.detector.sketching.tokens import TokenBatch
from tests.detector.sketching import twins
from tests.detector.sketching.strategies import batch_of, schemes, token_pages


def rows(chunks: Chunks, page: int) -> list[tuple[int, int, int, int]]:
    span = slice(chunks.hashes.offsets[page], chunks.hashes.offsets[page + 1])
    columns = (chunks.hashes.values, chunks.lengths, chunks.starts, chunks.ends)
    return list(zip(*(column[span].tolist() for column in columns), strict=True))


def chunks_of(pages: list[list[int]], blocks: list[int], lengths: list[int]) -> Chunks:
    body = np.full(len(blocks), Field.BODY, np.uint8)
    columns = np.array(blocks, np.uint32), np.array(lengths, np.uint32)
    return text_of(TokenBatch(Ragged.of(pages), body, *columns), HashScheme()).chunks


@given(token_pages(), schemes)
def test_text_twin(pages: list[list[tuple[int, int, int, int]]], scheme: HashScheme) -> None:
    chunks = text_of(batch_of(pages), scheme).chunks
    for at, page in enumerate(pages):
        seen = [token for token in page if token[1] not in twins.UNSEEN]
        tokens, _, blocks, lengths = ([token[i] for token in seen] for i in range(4))
        assert rows(chunks, at) == twins.text_chunks(tokens, blocks, lengths, scheme)


def test_the_vector_keeps_duplicates() -> None:
    chunks = chunks_of([[1, 2, 1, 2]], [0, 0, 1, 1], [3, 4, 3, 4])
    one, other = chunks.hashes[0].tolist()
    assert one == other
    assert chunks.lengths.tolist() == [8, 8]


def test_a_chunk_does_not_cross_pages() -> None:
    chunks = chunks_of([[1, 2], [1, 2]], [0] * 4, [1] * 4)
    assert chunks.hashes.counts.tolist() == [1, 1]
    assert chunks.hashes.values[0] == chunks.hashes.values[1]


def test_lengths_saturate() -> None:
    chunks = chunks_of([[*range(5)]], [0] * 5, [(1 << 31) - 1] * 5)
    assert chunks.lengths.tolist() == [(1 << 32) - 1]


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("one", 3), ("One,  two;", 7), ("где дом", 7), ("漢字かな", 4), ("漢字 kana 漢", 7),
        ("caf&eacute;", 4), ("c<b>a</b>f&#233; a", 6), ("Straße", 7), ("น้ำ", 3),
        ("<img src=/x/y.png>", 5), ("<img src=//b/%C3%A9/é.png>", 21), ("&#x1F71;", 1),
    ],
)  # fmt: skip
def test_characters_are_counted_not_bytes(text: str, length: int) -> None:
    made = fingerprints([Document(text.encode(), "http://a/", "a", "a")], HashScheme())
    assert made.sketches.chunks.lengths.tolist() == [length]


@pytest.mark.parametrize(("blocks", "lengths"), [(2, 3), (3, 2)])
def test_columns_of_other_sizes_are_refused(blocks: int, lengths: int) -> None:
    with pytest.raises(ValueError, match="for 3 tokens"):
        chunks_of([[1, 2, 3]], [0] * blocks, [0] * lengths)
