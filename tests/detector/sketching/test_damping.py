"""How often a token counts in a simhash."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.agreement import c_similarity
from reusewatch.detector.sketching.damping import damped
from reusewatch.detector.sketching.identity import identity_hashes
from reusewatch.detector.sketching.simhash import simhashes

SCHEME = HashScheme()


def plain(page: list[int]) -> list[int]:
    """Of each token the first occurrences, at most 4 or the 32nd part of the page."""
    most = max(4, len(page) // 32)
    return [token for at, token in enumerate(page) if page[:at].count(token) < most]


def counted(pages: list[list[int]]) -> Ragged:
    tokens = Ragged.of(pages)
    return damped(tokens, identity_hashes(tokens, SCHEME))


@given(st.lists(st.lists(st.integers(0, 9), max_size=300), max_size=5))
def test_twin(pages: list[list[int]]) -> None:
    found = counted(pages)
    assert [one.tolist() for one in found] == [plain(page) for page in pages]


def test_one_frequent_token_does_not_decide() -> None:
    """Two tables of numbers that share nothing but many ones (349 of 1 562)."""
    draw = np.random.default_rng(14)
    pages = []
    for _ in range(2):
        page = draw.integers(1 << 40, 1 << 60, 1562)
        page[draw.permutation(1562)[:349]] = 1
        pages.append(page.tolist())
    before = c_similarity(*simhashes(Ragged.of(pages), SCHEME))
    assert c_similarity(*simhashes(counted(pages), SCHEME)) < before - 30


def test_a_salt_a_page() -> None:
    with pytest.raises(ValueError, match="0 salts for 1 pages"):
        damped(Ragged.of([[1]]), np.zeros(0, np.uint64))
