"""The pages that Table 4's queries are asked among: two manuals, and versions of the query pages.

All are in one window, by their weighted terms; which are near-duplicates is known.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.ragged import Ragged
from reusewatch.detector.similar.answers import Search
from reusewatch.detector.similar.index import MwoIndex
from reusewatch.detector.similar.overlap import decide
from reusewatch.detector.similar.weighted_pages import WeightedPages
from reusewatch.detector.sketching.fingerprint import Document, fingerprints
from reusewatch.detector.window.adding import WEB_BEGINS_US
from tests.experiments.corpus import SCHEME, Corpus
from tests.experiments.planted_versions import Cut, Version, versions

STOP_WORDS = (
    "a about after all also an and any are as at be because been before but by can cannot could do "
    "does each for from had has have he her here him his how i if in into is it its may more most "
    "must no not of on one only or other our same she should since so some such than that the "
    "their them then there these they this those to two up use used using was we were what when "
    "where which while who will with would you your"
)
"""English ones: the paper removes them, whichever its list was; what we weigh keeps them."""
_SEED = 2011
_SHORTEST, _LONGEST = 200, 3000  # words of a query page
_BATCH, _ROWS = 32, 1024
Terms = tuple[NDArray[np.uint64], NDArray[np.float32]]


@dataclass(frozen=True, slots=True, eq=False)
class Repository:
    """The pages asked among, a row each: `queries` are rows, `planted` versions by row."""

    terms: Sequence[Terms]
    titles: Sequence[str]
    queries: Sequence[int]
    words: Sequence[int]
    planted: Mapping[int, Version]

    def versions(self, query: int) -> set[int]:
        """The rows of a query page's versions."""
        return {row for row, one in self.planted.items() if one.query == query}

    def near(self, query: int) -> set[int]:
        """The rows of those that are its near-duplicates."""
        return {row for row in self.versions(query) if self.planted[row].near}

    def overlap(self, query: int, row: int) -> float:
        """MWO of a query's page and another."""
        return decide(*self.terms[self.queries[query]], *self.terms[row])

    def without_stop_words(self) -> Repository:
        """The same pages by fewer terms."""
        return replace(self, terms=[without_stop_words(terms) for terms in self.terms])

    def index(self) -> MwoIndex:
        """All pages in one window."""
        index = MwoIndex(max_pages=len(self.terms))
        for begin in range(0, len(self.terms), _ROWS):
            rows = range(begin, min(begin + _ROWS, len(self.terms)))
            some = [self.terms[row] for row in rows]
            index.add(
                WeightedPages.of(
                    np.array(rows) + 1, np.full(len(rows), WEB_BEGINS_US),
                    Ragged.of([terms for terms, _ in some]),
                    np.concatenate([weights for _, weights in some]), ["" for _ in rows],
                ),
                now=WEB_BEGINS_US,
            )  # fmt: skip
        return index

    def search(self, index: MwoIndex, query: int, threshold: float) -> tuple[Search, set[int]]:
        """What is like a query's page, and in which rows."""
        row = self.queries[query]
        found = index.similar(*self.terms[row], threshold=threshold, without=row + 1)
        return found, {answer.page - 1 for answer in found.answers}


@dataclass(frozen=True, slots=True)
class Served:
    """A page and where it stands."""

    url: str
    html: bytes


def repository(found: Corpus, counts: Sequence[int]) -> Repository:
    """Both manuals, and the versions of a query page for each of the counts."""
    real = [*found.site, *found.background]
    queries = _drawn(found, len(counts))
    others = [words for page in real if (words := Cut(page).words)]
    planted = [
        version
        for query, (row, count) in enumerate(zip(queries, counts, strict=True))
        for version in versions(query, real[row], count, others)
    ]
    served = [Served(f"http://docs.example/{row}.html", html) for row, html in enumerate(real)]
    served += [
        Served(f"http://mirror{number}.example/{queries[one.query]}.html", one.html)
        for number, one in enumerate(planted)
    ]
    told = list(_sketched(served))
    return Repository(
        [terms for terms, _ in told], [title for _, title in told], queries,
        [len(Cut(real[row])) for row in queries], dict(enumerate(planted, len(real))),
    )  # fmt: skip


def _drawn(found: Corpus, count: int) -> list[int]:
    """Query pages, of the site and of the background in turns."""
    rng, site = random.Random(_SEED), len(found.site)
    sides = [[*range(site)], [*range(site, site + len(found.background))]]
    for side in sides:
        rng.shuffle(side)
    pages = [*found.site, *found.background]
    fits = [
        (row for row in side if _SHORTEST <= len(Cut(pages[row])) <= _LONGEST) for side in sides
    ]
    return [next(fits[number % 2]) for number in range(count)]


def _sketched(pages: Sequence[Served]) -> Iterator[tuple[Terms, str]]:
    """The weighted terms of each page, and its title."""
    for begin in range(0, len(pages), _BATCH):
        batch = pages[begin : begin + _BATCH]
        hosts = [page.url.split("/")[2] for page in batch]
        made = fingerprints(
            [Document(page.html, page.url, host, host)
             for page, host in zip(batch, hosts, strict=True)],
            SCHEME, gram_sample=0.0,
        )  # fmt: skip
        column = made.sketches.terms
        for page, facts in enumerate(made.facts):
            span = slice(column.hashes.offsets[page], column.hashes.offsets[page + 1])
            yield (column.hashes.values[span].copy(), column.weights[span].copy()), facts.title


def without_stop_words(terms: Terms) -> Terms:
    """A page's terms without English stop words, their weights normalized again."""
    (stop, _), _ = next(_sketched([Served("http:///", f"<p>{STOP_WORDS}</p>".encode())]))
    kept = ~np.isin(terms[0], stop)
    weights = terms[1][kept].astype(np.float64)
    return terms[0][kept], (weights / weights.sum()).astype(np.float32)
