"""Versions of a page at known distances from it, for asking which of them are found.

The distance of a version is 1 − Jaccard coefficient of the words, counted as they were placed, not
as they compare: of n words, r taken away and a added, it is 1 − (n − r)/(n + a). A word that
another page's word replaces counts as both, also where by chance it is the same again. That is the
measure in which Das et al. give their threshold ("minimum similarity t"), and it knows neither
weights nor how common a word is.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.experiments.near_world import COMBINATION, WRITTEN, serve
from tests.experiments.rerendering import Style, rerender

LIMIT = 0.5
"""Versions at most so far away are near-duplicates: the paper's t = 0.5, set beforehand."""
FARTHEST = 0.9
_RUN = 60  # words of a paragraph
_PIECE = re.compile(
    rb"<(script|style|head)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>|&\w+;|[^\s<&]+|\s+|[<&]", re.I | re.S
)
_LETTER = re.compile(rb"[\w\x80-\xff]")
Words = Sequence[bytes]
Made = tuple[bytes, int, int]
"""A page, and how many words were taken away and added."""


@dataclass(frozen=True, slots=True)
class Version:
    """A page made of the query page number `query`."""

    query: int
    kind: str
    distance: float
    html: bytes

    @property
    def near(self) -> bool:
        """Whether it is a near-duplicate, by definition."""
        return self.distance <= LIMIT


class Cut:
    """A page in pieces; `places` are those that are words of its visible text."""

    def __init__(self, html: bytes) -> None:
        self.pieces = [found[0] for found in _PIECE.finditer(html)]
        self.places = [
            at for at, piece in enumerate(self.pieces)
            if piece[:1] not in b"<&" and _LETTER.search(piece)
        ]  # fmt: skip

    def __len__(self) -> int:
        return len(self.places)

    def with_words(self, changes: Mapping[int, bytes]) -> bytes:
        """The page with other words, or none, at some of the places."""
        pieces = self.pieces.copy()
        for place, word in changes.items():
            pieces[self.places[place]] = word
        return b"".join(pieces)

    def word(self, place: int) -> bytes:
        """The word at a place."""
        return self.pieces[self.places[place]]

    @property
    def words(self) -> list[bytes]:
        """All of them, in their order."""
        return [self.pieces[place] for place in self.places]


def distance(words: int, removed: int, added: int) -> float:
    """1 − Jaccard coefficient.

    >>> distance(100, 0, 0), distance(90, 30, 30), distance(100, 50, 0), distance(100, 0, 100)
    (0.0, 0.5, 0.5, 0.5)
    """
    return 1 - (words - removed) / (words + added)


def _runs(count: int, wanted: int, rng: random.Random) -> list[int]:
    """So many of `count` places, in paragraphs."""
    begins = [*range(0, count, _RUN)]
    rng.shuffle(begins)
    return [at for begin in begins for at in range(begin, min(begin + _RUN, count))][:wanted]


def _replaced(cut: Cut, places: Sequence[int], foreign: Words) -> Made:
    """Paragraphs at a time the words of another page; one after the other."""
    changes = dict(zip(sorted(places), foreign, strict=False))
    return cut.with_words(changes), len(changes), len(changes)


def words_replaced(cut: Cut, d: float, foreign: Words, rng: random.Random) -> Made:
    """Single words, anywhere."""
    return _replaced(cut, rng.sample(range(len(cut)), int(len(cut) * d / (2 - d))), foreign)


def paragraphs_replaced(cut: Cut, d: float, foreign: Words, rng: random.Random) -> Made:
    """Runs of words."""
    return _replaced(cut, _runs(len(cut), int(len(cut) * d / (2 - d)), rng), foreign)


def paragraphs_removed(cut: Cut, d: float, foreign: Words, rng: random.Random) -> Made:
    """Runs of words, gone."""
    places = _runs(len(cut), int(len(cut) * d), rng)
    return cut.with_words(dict.fromkeys(places, b"")), len(places), 0


def paragraphs_added(cut: Cut, d: float, foreign: Words, rng: random.Random) -> Made:
    """Runs of another page's words, between those that are there."""
    more = foreign[: int(len(cut) * d / (1 - d))]
    changes: dict[int, bytes] = {}
    for begin in range(0, len(more), _RUN):
        place = rng.randrange(len(cut))
        text = b" ".join(more[begin : begin + _RUN])
        changes[place] = changes.get(place, cut.word(place)) + b"<p>" + text + b"</p>"
    return cut.with_words(changes), 0, len(more)


Edit = Callable[[Cut, float, Words, random.Random], Made]
EDITS: Mapping[str, Edit] = {
    "words replaced": words_replaced,
    "paragraphs replaced": paragraphs_replaced,
    "paragraphs removed": paragraphs_removed,
    "paragraphs added": paragraphs_added,
}
NAVIGATION = "other navigation"
SERVED = (*WRITTEN, COMBINATION, NAVIGATION)


def versions(query: int, html: bytes, count: int, others: Sequence[Words]) -> Iterator[Version]:
    """So many near-duplicates of a page, and half as many versions that are too far away.

    Half of the near ones are what another server makes of the page. The rest are edited, the
    distances spread evenly up to `LIMIT`; those beyond, evenly up to `FARTHEST`.
    """
    rng, cut = random.Random(query), Cut(html)
    for number in range(count // 2):
        yield _served(query, SERVED[number % len(SERVED)], html, len(cut), rng)
    edited = count - count // 2
    for low, high in ((0.0, LIMIT), (LIMIT, FARTHEST)):
        for number in range(edited):
            kind = [*EDITS][number % len(EDITS)]
            wanted = low + (high - low) * (number + 1) / edited
            foreign = _foreign(others, 10 * len(cut), rng)
            made, removed, added = EDITS[kind](cut, wanted, foreign, rng)
            yield Version(query, kind, distance(len(cut), removed, added), made)


def _served(query: int, kind: str, html: bytes, words: int, rng: random.Random) -> Version:
    if kind == NAVIGATION:
        made = rerender(html, Style(template=True))
        added = len(Cut(rerender(b"<body></body>", Style(template=True))))
        return Version(query, kind, distance(words, words + added - len(Cut(made)), added), made)
    kinds = tuple(WRITTEN) if kind == COMBINATION else (kind,)
    made = serve(html, "mirror.example", kinds, rng.randrange(10**6), rng)
    return Version(query, kind, distance(words, 0, len(Cut(made)) - words), made)


def _foreign(others: Sequence[Words], count: int, rng: random.Random) -> list[bytes]:
    """Words of other pages, in their order."""
    found: list[bytes] = []
    while len(found) < count:
        page = rng.choice(others)
        found += page[rng.randrange(len(page)) :]
    return found
