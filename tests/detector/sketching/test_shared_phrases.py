"""What the check for shared phrases costs Algorithm C, and whom it keeps from being framed."""

from __future__ import annotations

import numpy as np
import pytest

from reusewatch.detector.fields import Field
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.agreement import c_similarity
from reusewatch.detector.sketching.sketches import Sketches, sketch
from reusewatch.detector.sketching.tokens import TokenBatch
from reusewatch.detector.window.near_rules import LEAST_SHARED, sample_of

SCHEME = HashScheme()
PAIRS = 300


def sketched(pages: list[np.ndarray]) -> Sketches:
    tokens = Ragged.of(pages)
    size = tokens.values.size
    batch = TokenBatch(
        tokens, np.full(size, Field.BODY, np.uint8), np.zeros(size, np.uint32),
        np.full(size, 5, np.uint32),
    )  # fmt: skip
    return sketch(batch, SCHEME)


def words(draw: np.random.Generator, count: int) -> np.ndarray:
    """Words as frequent as in prose: the n-th one in n."""
    return (draw.pareto(1.0, count) * 3).astype(np.uint64) + np.uint64(1)


def shared(pages: Sketches, one: int, other: int) -> int:
    sample = sample_of(pages.min_values5)
    return int((sample[one] == sample[other]).sum())


@pytest.mark.parametrize(("size", "edits"), [(100, 1), (500, 1), (500, 3), (2_000, 8)])
def test_c_similar_pairs_share_phrases(size: int, edits: int) -> None:
    draw = np.random.default_rng(size + edits)
    pages = []
    for _ in range(PAIRS):
        page = words(draw, size)
        other = page.copy()
        other[draw.integers(0, size, edits)] = draw.integers(1 << 40, 1 << 41, edits)
        pages += [page, other]
    found = sketched(pages)
    similar = [i for i in range(0, 2 * PAIRS, 2) if c_similarity(*found.simhash[i : i + 2]) >= 372]
    assert len(similar) > PAIRS // 20
    assert all(shared(found, i, i + 1) >= LEAST_SHARED for i in similar)


def test_pages_of_the_same_words_in_another_order_share_no_phrases() -> None:
    """As appended words do: the simhash agrees wholly, the phrases do not."""
    draw = np.random.default_rng(5)
    pages = []
    for _ in range(PAIRS):
        page = draw.integers(1 << 40, 1 << 41, 400).astype(np.uint64)
        pages += [page, draw.permutation(page)]
    found = sketched(pages)
    framed = 0
    for i in range(0, 2 * PAIRS, 2):
        assert c_similarity(*found.simhash[i : i + 2]) == 384
        framed += shared(found, i, i + 1) >= LEAST_SHARED
    assert framed == 0
