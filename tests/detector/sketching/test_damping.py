"""How often a token counts in a simhash."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.agreement import c_similarity
from reusewatch.detector.sketching.damping import damped
from reusewatch.detector.sketching.simhash import simhashes, simhashes_of_counts
from tests.detector.sketching import twins
from tests.detector.sketching.counting import counted

SCHEME = HashScheme()


def plain(page: list[int]) -> list[int]:
    """Of each token the first occurrences, at most 4 or the 32nd part of the page."""
    most = max(4, len(page) // 32)
    return [token for at, token in enumerate(page) if page[:at].count(token) < most]


def votes(pages: list[list[int]]) -> tuple[Ragged, NDArray[np.uint32]]:
    """Words, and how often they count."""
    found, sizes = counted(pages), np.array([len(page) for page in pages], np.int64)
    return found.words, damped(found.words, found.seen, sizes)


@given(st.lists(st.lists(st.integers(0, 9), max_size=300), max_size=5))
def test_twin(pages: list[list[int]]) -> None:
    words, found = votes(pages)
    expected = [
        plain(page).count(word) for page, own in zip(pages, words, strict=True) for word in own
    ]
    assert found.tolist() == expected


def test_one_frequent_token_does_not_decide() -> None:
    """Two tables of numbers that share nothing but many ones (349 of 1 562)."""
    draw = np.random.default_rng(14)
    pages = []
    for _ in range(2):
        page = draw.integers(1 << 40, 1 << 60, 1562)
        page[draw.permutation(1562)[:349]] = 1
        pages.append(page.tolist())
    before = c_similarity(*simhashes(Ragged.of(pages), SCHEME))
    after = simhashes_of_counts(*votes(pages), SCHEME)
    assert after.tolist() == [twins.simhash(plain(page), SCHEME) for page in pages]
    assert c_similarity(*after) < before - 30
