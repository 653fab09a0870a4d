"""Plain definitions of every sketch, straight from the papers, to hold the kernels to.

They share constants with the detector (drawn by `HashScheme.numbers`) and nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

from reusewatch.detector.fields import Field
from reusewatch.detector.hashing import HashScheme

MASK = (1 << 64) - 1
NO_PHRASE = MASK
ALONE = 1 << 31
UNSEEN = {Field.KEYWORDS, Field.DESCRIPTION, Field.URL}
TABLE_1 = {
    Field.URL: 2,
    Field.HEADING: 2,
    Field.TITLE: 2,
    Field.ANCHOR_SAME: 1,
    Field.ANCHOR_OTHER: 0.5,
    Field.KEYWORDS: 3,
    Field.DESCRIPTION: 3,
    Field.BODY: 1,
}


def numbers(scheme: HashScheme, purpose: str, count: int) -> list[int]:
    return [int(number) for number in scheme.numbers(purpose, count)]


def mix(x: int) -> int:
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & MASK
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def fold(values: list[int], state: int, factor: int) -> int:
    for value in values:
        state = (state ^ value) * factor & MASK
        state ^= state >> 32
    return mix(state)


def identity(tokens: list[int], scheme: HashScheme) -> int:
    return max(sequence(tokens, scheme), 1) if tokens else 0


def sequence(tokens: list[int], scheme: HashScheme) -> int:
    return fold(tokens, *numbers(scheme, "sequence", 2))


def phrases(tokens: list[int], k: int, scheme: HashScheme, circular: bool) -> list[int]:
    n = len(tokens)
    count = n if circular else max(n - k + 1, 0)
    runs = [[tokens[(start + j) % n] for j in range(k)] for start in range(count)]
    factors = numbers(scheme, f"phrase {k}", k)
    return [mix(sum(f * t for f, t in zip(factors, run, strict=True)) & MASK) for run in runs]


def min_values(phrases: list[int], scheme: HashScheme) -> list[int]:
    factors = numbers(scheme, "min-wise", 84)
    return [min((f * phrase & MASK for phrase in phrases), default=NO_PHRASE) for f in factors]


def resemblance(one: Sequence[int], other: Sequence[int]) -> float:
    """Share of agreeing min-values: an estimate of the Jaccard resemblance of two phrase sets."""
    agree = [a == b != NO_PHRASE for a, b in zip(one, other, strict=True)]
    return sum(agree) / len(agree)


def supershingles(min_values: list[int], scheme: HashScheme) -> list[int]:
    if all(value == NO_PHRASE for value in min_values):
        return [0] * 6
    seeds, (factor,) = numbers(scheme, "supershingle", 6), numbers(scheme, "run", 1)
    runs = [min_values[at : at + 14] for at in range(0, 84, 14)]
    return [max(fold(run, seed, factor), 1) for run, seed in zip(runs, seeds, strict=True)]


def simhash(tokens: list[int], scheme: HashScheme) -> list[int]:
    constants = numbers(scheme, "projection", 16)
    sums = [0] * 384
    for token, times in Counter(tokens).items():
        for i in range(384):
            sums[i] += times * (1 if projection(token, constants)[i // 64] >> i % 64 & 1 else -1)
    bits = [total > 0 for total in sums]
    return [sum(bits[64 * word + i] << i for i in range(64)) for word in range(6)]


def projection(token: int, constants: list[int]) -> list[int]:
    words = []
    for factor, spread in zip(constants[:6], constants[8:14], strict=True):
        bits = token * factor & MASK
        bits = (bits ^ bits >> 32) * spread & MASK
        words.append(bits ^ bits >> 29)
    return words


def text_chunks(
    tokens: list[int], blocks: list[int], lengths: list[int], scheme: HashScheme
) -> list[tuple[int, int, int, int]]:
    """Hash, length, start and end of each chunk."""
    chunks = []
    for _, run in groupby(range(len(tokens)), key=lambda at: blocks[at]):
        places = list(run)
        words = [lengths[at] < ALONE for at in places]
        spaces = sum(one and other for one, other in pairwise(words))
        length = sum(lengths[at] % ALONE for at in places) + spaces
        hashed = sequence([tokens[at] for at in places], scheme)
        chunks.append((hashed, length, places[0], places[-1] + 1))
    return chunks


def raw_chunks(data: bytes) -> list[bytes]:
    """The parts between paragraph tags, for data without stray angle brackets."""
    parts = re.split(rb"(?i)(</?p(?:[\s/][^>]*)?>)", data)
    chunks = [parts[0]] if parts[0].strip() else []
    for tag, part in zip(parts[1::2], parts[2::2], strict=True):
        if not tag.startswith(b"</") or part.strip():
            chunks.append(part)
    return chunks


def grams(tokens: list[int], k: int, scheme: HashScheme) -> dict[int, int]:
    """Each gram with its first position, in that order."""
    first: dict[int, int] = {}
    for position, gram in enumerate(phrases(tokens, k, scheme, circular=False)):
        first.setdefault(gram, position)
    return first


def weighted_terms(
    tokens: list[int], fields: list[int], least_share: float
) -> list[tuple[int, float]]:
    weights: dict[int, float] = {}
    for token, field in zip(tokens, fields, strict=True):
        weights[token] = weights.get(token, 0) + TABLE_1[Field(field)]
    total, heaviest = sum(weights.values()), max(weights.values(), default=0)
    threshold = min(least_share * total, heaviest)
    ranked = sorted(weights.items(), key=lambda term: -term[1])[: int(1 / least_share)]
    kept = [(term, weight) for term, weight in ranked if weight >= threshold]
    return [(term, weight / sum(w for _, w in kept)) for term, weight in kept]
