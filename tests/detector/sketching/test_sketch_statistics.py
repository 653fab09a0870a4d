"""What the papers promise of random sketches, measured on seeded samples.

Bounds are four standard errors or wider: they hold for any good hash and fail for a bad one.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.sketching.agreement import BITS, b_similarity, distance
from reusewatch.detector.sketching.identity import identity_hashes
from reusewatch.detector.sketching.shingles import (
    MIN_VALUES,
    min_values,
    phrases,
    supershingles,
)
from reusewatch.detector.sketching.simhash import simhashes
from tests.detector.sketching.twins import mix, resemblance

SCHEMES = [HashScheme(), HashScheme(12345)]
Pair = tuple[NDArray[np.uint64], NDArray[np.uint64]]


def pairs_of_commonality(shared: int, union: int, count: int, seed: int) -> list[Pair]:
    """Pairs of phrase sets of which `shared` of `union` members are common."""
    rng = np.random.default_rng(seed)
    split = (union - shared) // 2
    pairs = []
    for _ in range(count):
        drawn = rng.integers(0, 1 << 64, union, np.uint64)
        common = drawn[:shared]
        one, other = drawn[shared : shared + split], drawn[shared + split :]
        pairs.append((np.concatenate([common, one]), np.concatenate([common, other])))
    return pairs


def sketched(pairs: list[Pair], scheme: HashScheme) -> NDArray[np.uint64]:
    """Min-values of the pairs: two rows a pair."""
    rows = min_values(Ragged.of([page for pair in pairs for page in pair]), scheme)
    return rows.reshape(len(pairs), 2, MIN_VALUES)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("shared", [10, 50, 100, 160, 190])
def test_agreement_estimates_jaccard_without_bias(shared: int, scheme: HashScheme) -> None:
    jaccard, count = shared / 200, 600
    rows = sketched(pairs_of_commonality(shared, 200, count, shared), scheme)
    estimates = np.array([resemblance(one, other) for one, other in rows])
    variance = jaccard * (1 - jaccard) / MIN_VALUES
    assert abs(estimates.mean() - jaccard) < 4 * (variance / count) ** 0.5
    # Functions that depend on each other would leave the mean and spread the estimates.
    assert estimates.var() == pytest.approx(variance, rel=0.3)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_function_is_unbiased_on_tokens_that_are_hardly_random(scheme: HashScheme) -> None:
    """Consecutive numbers as tokens; pages that differ at their ends."""
    texts = [range(at, at + 60) for start in range(0, 60_000, 100) for at in (start, start + 15)]
    column = phrases(Ragged.of(texts), 8, scheme, circular=False)
    rows = min_values(column, scheme).reshape(-1, 2, MIN_VALUES)
    agreed = (rows[:, 0] == rows[:, 1]).mean(axis=0)
    jaccard = 38 / 68
    error = (jaccard * (1 - jaccard) / len(rows)) ** 0.5
    assert abs(agreed.mean() - jaccard) < 4 * error / MIN_VALUES**0.5
    assert (abs(agreed - jaccard) < 4.5 * error).all()


def test_every_phrase_of_a_set_is_as_likely_to_be_kept() -> None:
    rng = np.random.default_rng(3)
    pages = rng.integers(0, 1 << 64, (4000, 10), np.uint64)
    rows = min_values(Ragged.of(list(pages)), HashScheme())
    factors = HashScheme().numbers("min-wise", MIN_VALUES)
    for function in (0, 41, 83):
        values = pages * factors[function]
        assert (values.min(axis=1) == rows[:, function]).all()
        kept = np.bincount(values.argmin(axis=1), minlength=10)
        assert ((kept - 400) ** 2 / 400).sum() < 33.7  # chi-square, 9 degrees, p = 0.0001


def two_of_six(commonality: float) -> float:
    """Chance that two of six runs of 14 agree (Fetterly et al. 2005, §3.3)."""
    run = commonality**14
    return 1 - (1 - run) ** 6 - 6 * run * (1 - run) ** 5


@pytest.mark.parametrize(
    ("shared", "least", "most"),
    [(965, 0.95, 1), (900, 0, 1), (820, 0, 0.055), (760, 0, 0.01)],
)
def test_supershingles_follow_the_curve(shared: int, least: float, most: float) -> None:
    count = 3000
    rows = sketched(pairs_of_commonality(shared // 5, 200, count, shared), HashScheme())
    supers = supershingles(rows.reshape(-1, MIN_VALUES), HashScheme()).reshape(count, 2, 6)
    found = sum(b_similarity(one, other) >= 2 for one, other in supers) / count
    expected = two_of_six(shared / 1000)
    assert abs(found - expected) < 4 * (expected * (1 - expected) / count) ** 0.5
    assert least < found < most


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kept", [0, 60, 120, 180, 196])
def test_simhash_distance_follows_the_angle(kept: int, scheme: HashScheme) -> None:
    """`kept` of 200 words, each of them once to four times, stay; the rest is exchanged."""
    rng = np.random.default_rng(kept)
    found, expected = [], []
    for _ in range(150):
        words = rng.integers(0, 1 << 64, 400 - kept, np.uint64)
        times = rng.integers(1, 5, 200)
        pair = Ragged.of([np.repeat(words[:200], times), np.repeat(words[-200:], times[::-1])])
        one, other = np.zeros(400 - kept), np.zeros(400 - kept)
        one[:200], other[-200:] = times, times[::-1]
        cosine = one @ other / (one @ one * (other @ other)) ** 0.5
        found.append(distance(*simhashes(pair, scheme)) / BITS)
        expected.append(np.arccos(cosine) / np.pi)
    share = np.mean(expected)
    error = (share * (1 - share) / BITS / len(found)) ** 0.5
    # A count is a sum of few ±1, hence not quite normal, and a sum of zero is taken for negative.
    assert abs(np.mean(found) - share) < 4 * error + 0.006


@pytest.mark.parametrize("scheme", SCHEMES)
def test_simhash_bits_are_balanced_and_independent(scheme: HashScheme) -> None:
    texts = [range(at, at + 101) for at in range(0, 202_000, 101)]
    rows = simhashes(Ragged.of(texts), scheme)
    bits = np.unpackbits(rows.view(np.uint8), axis=1).astype(float)
    count = len(bits)
    assert (abs(bits.mean(axis=0) - 0.5) < 5 * 0.5 / count**0.5).all()
    correlations = np.corrcoef(bits.T)[np.triu_indices(BITS, 1)]
    assert abs(correlations).max() < 6 / count**0.5


def test_keys_give_independent_sketches() -> None:
    rng = np.random.default_rng(11)
    tokens = Ragged.of([rng.integers(0, 1 << 64, 300, np.uint64) for _ in range(50)])
    one, other = HashScheme(1), HashScheme(2)
    columns = [phrases(tokens, 5, scheme, circular=True) for scheme in (one, other)]
    assert not set(columns[0].values.tolist()) & set(columns[1].values.tolist())
    assert not set(identity_hashes(tokens, one)) & set(identity_hashes(tokens, other))
    # The same phrases under another key are sampled elsewhere.
    rows = [min_values(columns[0], scheme) for scheme in (one, other)]
    behind = [(rows[0] == rows[1]).any(), np.mean(rows[0] < rows[1])]
    assert not behind[0]
    assert behind[1] == pytest.approx(0.5, abs=0.05)
    pairs = zip(simhashes(tokens, one), simhashes(tokens, other), strict=True)
    distances = [distance(*pair) / BITS for pair in pairs]
    assert np.mean(distances) == pytest.approx(0.5, abs=4 * 0.5 / (BITS * 50) ** 0.5)


def test_one_bit_of_a_word_changes_half_of_every_hash() -> None:
    rng = np.random.default_rng(5)
    words = rng.integers(0, 1 << 64, 64, np.uint64)
    changed = words ^ (np.uint64(1) << np.arange(64, dtype=np.uint64))
    for make in (identity_hashes, lambda pages, scheme: simhashes(pages, scheme)[:, 0]):
        before = make(Ragged.of([[word] for word in words]), HashScheme())
        after = make(Ragged.of([[word] for word in changed]), HashScheme())
        share = np.bitwise_count(before ^ after).sum() / 64 / 64
        assert share == pytest.approx(0.5, abs=4 * 0.5 / 64)


def test_the_mixer_reaches_every_bit() -> None:
    flips = np.zeros((64, 64))
    rng = np.random.default_rng(9)
    for value in rng.integers(0, 1 << 64, 400, np.uint64).tolist():
        for bit in range(64):
            changed = mix(value) ^ mix(value ^ 1 << bit)
            flips[bit] += [changed >> i & 1 for i in range(64)]
    assert (abs(flips / 400 - 0.5) < 5.5 * 0.5 / 20).all()
