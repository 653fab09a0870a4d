"""The words in which two pages differ, for people who are shown a near-duplicate.

Counts words and forgets their order, so that it takes linear time whatever the pages are. What is
not named is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

MOST = 10
LONGEST = 80
"""Characters of a word that is shown; pages come from strangers."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Words that one page has and the other has not, with how often, most frequent first.

    `shared` counts the words that both have, `unnamed_here` and `unnamed_there` the different
    ones for which there was no room.
    """

    only_here: tuple[tuple[str, int], ...]
    only_there: tuple[tuple[str, int], ...]
    shared: int
    unnamed_here: int = 0
    unnamed_there: int = 0


def differences(here: Iterable[str], there: Iterable[str], most: int = MOST) -> Difference:
    """What differs, at most so many words of each page; of equally frequent ones the longest.

    >>> differences(["at", "10:31", "visits"], ["at", "visits", "11:02"]).only_here
    (('10:31', 1),)
    """
    one, other = Counter(here), Counter(there)
    shared = sum(min(count, other[word]) for word, count in one.items() if word in other)
    only_here, unnamed_here = _only(one, other, most)
    only_there, unnamed_there = _only(other, one, most)
    return Difference(only_here, only_there, shared, unnamed_here, unnamed_there)


def _only(
    one: Counter[str], other: Counter[str], most: int
) -> tuple[tuple[tuple[str, int], ...], int]:
    own = [(word, count) for word, count in one.items() if word not in other]
    own.sort(key=lambda found: (-found[1], -len(found[0]), found[0]))
    return tuple((_shown(word), count) for word, count in own[:most]), max(len(own) - most, 0)


def _shown(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
