"""What two pages do not share, word for word: for a reader, beside figures that only count.

Each side's words that the other has fewer times, in the order in which they stand there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
    # Words that are the same to the detectors are the same here, however they are written.
    from reusewatch.detector.scanning.readable import folded  # numba, loaded by who really works

    names = {word: folded(word) for word in {*here, *there}}
    here_as, there_as = [names[word] for word in here], [names[word] for word in there]
    counts, others = Counter(here_as), Counter(there_as)
    return Difference(
        only_here=_first(here, names, counts - others, most),
        only_there=_first(there, names, others - counts, most),
        shared=(counts & others).total(),
    )


def _first(
    words: Sequence[str], names: Mapping[str, str], differ: Counter[str], most: int
) -> tuple[str, ...]:
    firsts = {names[word]: word for word in reversed(words) if names[word] in differ}
    own = (firsts[name] for name in dict.fromkeys(names[word] for word in words) if name in firsts)
    return tuple(map(_shown, islice(own, most)))


def _shown(word: str) -> str:
    return word if len(word) <= LONGEST else word[: LONGEST - 1] + "…"
