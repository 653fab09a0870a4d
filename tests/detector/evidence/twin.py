"""Alignment by its definition: lists of words, and nothing clever."""

from __future__ import annotations

from collections.abc import Sequence

from reusewatch.detector.evidence.shared_grams import MOST_PLACES

Words = Sequence[int]
Run = tuple[int, int, int, int]  # here, donor, there, length


def grams(words: Words, k: int) -> list[tuple[int, ...]]:
    return [tuple(words[at : at + k]) for at in range(len(words) - k + 1)]


def places(gram: tuple[int, ...], donors: Sequence[Words]) -> list[tuple[int, int]]:
    k = len(gram)
    return [
        (donor, at)
        for donor, words in enumerate(donors)
        for at, other in enumerate(grams(words, k))
        if other == gram
    ]


def runs(here: Words, donors: Sequence[Words], k: int) -> list[Run]:
    """Seeds by the bits of their number of pairs; each grows until it meets what is taken."""
    own = grams(here, k)
    found = {at: places(gram, donors) for at, gram in enumerate(own)}
    order = sorted(
        (at for at in found if found[at]),
        key=lambda at: ((len(found[at]) * own.count(own[at])).bit_length(), at),
    )
    taken: set[int] = set()
    made = []
    for at in order:
        if taken & set(range(at, at + k)):
            continue
        grown = [grow(here, at, d, donors[d], q, taken) for d, q in found[at][:MOST_PLACES]]
        best = max(grown, key=lambda run: run[3])
        taken |= set(range(best[0], best[0] + best[3]))
        made.append(best)
    return sorted(made)


def grow(here: Words, at: int, donor: int, there: Words, place: int, taken: set[int]) -> Run:
    """The longest run through a pair of places that takes no word that is taken."""
    left = right = 0
    while (
        at + right < len(here) and place + right < len(there)
        and at + right not in taken and here[at + right] == there[place + right]
    ):  # fmt: skip
        right += 1
    while (
        at > left and place > left
        and at - left - 1 not in taken and here[at - left - 1] == there[place - left - 1]
    ):  # fmt: skip
        left += 1
    return at - left, donor, place - left, left + right


def shared(words: Words, others: Sequence[Words], k: int) -> int:
    """The words in a gram that the others have."""
    known = {gram for other in others for gram in grams(other, k)}
    return len({
        at + n for at, gram in enumerate(grams(words, k)) if gram in known for n in range(k)
    })  # fmt: skip
