"""The window of weighted terms by its definition: every page compared with every other."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor

import numpy as np
from hypothesis import strategies as st

from reusewatch.detector.compiling.mixers import mix
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.similar.answers import Search
from reusewatch.detector.similar.index import MwoIndex
from reusewatch.detector.similar.overlap import least
from reusewatch.detector.similar.weighted_pages import WeightedPages
from reusewatch.detector.window.adding import WEB_BEGINS_US

NOW = 1 << 60
T0 = WEB_BEGINS_US

Terms = dict[int, float]


@dataclass(frozen=True)
class Fetch:
    """A page as it was fetched once."""

    page: int
    at: int
    terms: Terms

    @property
    def url(self) -> str:
        return f"https://example.org/{'x' * (self.page % 7)}{self.page}"


def normalized(raw: Terms) -> Terms:
    """Weights as the rendering phase leaves them: rounded after they were divided."""
    total = sum(raw.values())
    return {term: float(np.float32(weight / total)) for term, weight in raw.items()}


# Few terms, so that pages overlap; among them two that one slot of a table may want.
_words = st.integers(0, 30) | st.sampled_from([1 << 63, (1 << 64) - 1])
_raw = st.dictionaries(_words, st.integers(1, 40) | st.floats(1e-3, 1e3), max_size=20)
documents = _raw.map(normalized)
fetches = st.builds(Fetch, st.integers(0, 25), st.integers(0, 40), documents)
thresholds = st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9, 1.0]) | st.floats(0.1, 1.0)


def batch(seen: list[Fetch]) -> WeightedPages:
    """The columns of such pages."""
    return WeightedPages.of(
        [fetch.page for fetch in seen],
        [T0 + fetch.at for fetch in seen],
        Ragged.of([list(fetch.terms) for fetch in seen]),
        [weight for fetch in seen for weight in fetch.terms.values()],
        [fetch.url for fetch in seen],
    )


def mwo(one: Terms, other: Terms) -> float:
    """Table 3."""
    return min(sum(min(weight, other.get(term, 0.0)) for term, weight in one.items()), 1.0)


class Twin:
    """A window as a dictionary."""

    def __init__(self, max_pages: int, max_age: int | None = None) -> None:
        self.max_pages, self.max_age = max_pages, max_age
        self.held: dict[int, Fetch] = {}
        self.newest = 0

    def add(self, fetch: Fetch) -> None:
        held = self.held.get(fetch.page)
        if held and (held.at, content(held.terms)) >= (fetch.at, content(fetch.terms)):
            return
        self.held[fetch.page] = fetch
        self.newest = max(self.newest, fetch.at)
        if self.max_age is not None:
            least_at = self.newest - self.max_age
            self.held = {page: seen for page, seen in self.held.items() if seen.at >= least_at}
        while len(self.held) > self.max_pages:
            del self.held[min((seen.at, page) for page, seen in self.held.items())[1]]

    def similar(self, terms: Terms, threshold: float) -> list[tuple[int, str, float]]:
        overlaps = [(mwo(terms, seen.terms), seen) for seen in self.held.values()]
        enough = [(m, s) for m, s in overlaps if m >= least(threshold) and terms.keys() & s.terms]
        enough.sort(key=lambda found: (-found[0], found[1].page))
        return [(seen.page, seen.url, m) for m, seen in enough]

    def paper_sets(self, terms: Terms, threshold: float) -> tuple[set[int], set[int]]:
        """The paper's candidate and mezzanine sets (§3.1.3), word by word."""
        documents = [seen.terms for seen in self.held.values()]
        df = {term: sum(term in each for each in documents) for term in {*terms}.union(*documents)}
        r = sorted(terms, key=lambda term: (df[term], term))
        chosen, mezzanine = set(), set()
        for page, seen in self.held.items():
            ri = sorted(seen.terms, key=lambda term: (df[term], term))
            for p, one in enumerate(r[: len(r) - floor(threshold * len(r)) + 1], 1):
                for q, other in enumerate(ri[: len(ri) - floor(threshold * len(ri)) + 1], 1):
                    if one != other:
                        continue
                    chosen.add(page)
                    ubound = 1 + min(len(r) - p, len(ri) - q)
                    if ubound >= threshold / (1 + threshold) * (len(r) + len(ri)):
                        mezzanine.add(page)
        return chosen, mezzanine


def content(terms: Terms) -> int:
    """The hash by which one of two contents stays."""
    bits = {term: int(np.float32(weight).view(np.uint32)) for term, weight in terms.items()}
    return sum(
        int(mix(np.uint64(int(mix(np.uint64(term))) ^ bits[term] << 32))) for term in terms
    ) % (1 << 64)


def ask(index: MwoIndex, terms: Terms, threshold: float, **options: object) -> Search:
    """`similar` of such terms."""
    return index.similar(list(terms), list(terms.values()), threshold=threshold, **options)  # type: ignore[arg-type]


def answers(found: Search) -> list[tuple[int, str, float]]:
    return [(answer.page, answer.url, answer.mwo) for answer in found.answers]
