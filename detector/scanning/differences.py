"""What two pages do not share, word for word: for a reader, beside figures that only count.

Each side's words that the other has fewer times, in the order in which they stand there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

LONGEST = 80
"""Characters of a word that is shown; pages come from strangers."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first words that only one of two pages has, and how many words both have."""

    only_here: tuple[str, ...]
    only_there: tuple[str, ...]
    shared: int


def differences(here: Sequence[str], there: Sequence[str], most: int = 10) -> Difference:
    """The words that differ, at most so many of a side, each told once.

    >>> differences("a b c b".split(), "a b d".split())
    Difference(only_here=('b', 'c'), only_there=('d',), shared=2)
    """
    counts, others = Counter(here), Counter(there)
    return Difference(
        only_here=_first(here, counts - others, most),
        only_there=_first(there, others - counts, most),
        shared=(counts & others).total(),
    )


def _first(words: Sequence[str], differ: Counter[str], most: int) -> tuple[str, ...]:
    own = (word for word in dict.fromkeys(words) if word in differ)
    return tuple(map(_shown, islice(own, most)))


def _shown(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
