"""Identity hashes."""

from __future__ import annotations

from hypothesis import assume, given

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.identity import NO_IDENTITY, identity_hashes
from tests.detector.sketching import twins
from tests.detector.sketching.strategies import pages, schemes, sequences


@given(pages, schemes)
def test_twin(pages: list[list[int]], scheme: HashScheme) -> None:
    hashes = identity_hashes(Ragged.of(pages), scheme)
    assert hashes.tolist() == [twins.identity(page, scheme) for page in pages]


@given(sequences, sequences)
def test_equal_iff_the_sequences_are(one: list[int], other: list[int]) -> None:
    first, second, again = identity_hashes(Ragged.of([one, other, list(one)]), HashScheme())
    assert first == again
    assert (first == second) == (one == other)


@given(sequences)
def test_order_counts(tokens: list[int]) -> None:
    assume(tokens != tokens[::-1])
    there, back = identity_hashes(Ragged.of([tokens, tokens[::-1]]), HashScheme())
    assert there != back


@given(sequences)
def test_only_pages_without_tokens_have_none(tokens: list[int]) -> None:
    (identity,) = identity_hashes(Ragged.of([tokens]), HashScheme())
    assert (identity == NO_IDENTITY) == (not tokens)
