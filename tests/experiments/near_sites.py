"""Pages of different sites with the exact Jaccard of their phrases as truth.

Three kinds: one manual in several editions, a site each (PostgreSQL's, Python's); one template on
eight sites, over which the pages of a manual are strewn (GHC's, Free Pascal's, Eigen's); and pages
that are made up: short, or tables of numbers, in a template or without.

Truth is the Jaccard coefficient of circular 5-word phrases (Fetterly et al. 2005, §3.2). A page's
*own* phrases are those on less than a tenth of the corpus's pages: a pair is of the template alone
if its own phrases have a coefficient below a tenth.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reusewatch.crawler.demo.prose import paragraph, title
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.scanning.scan import Source, scan_batch
from reusewatch.detector.sketching.chunks import text_of
from reusewatch.detector.sketching.fingerprint import Document, fingerprints, tokens_of
from reusewatch.detector.sketching.shingles import PHRASE_K, phrases
from reusewatch.detector.sketching.simhash import simhashes
from reusewatch.detector.window.near_rules import sample_of
from tests.corpora import (
    EIGEN_34,
    FREE_PASCAL_32,
    GHC_90,
    POSTGRES_13,
    POSTGRES_15,
    POSTGRES_17,
    PYTHON_311,
    PYTHON_313,
    Package,
    pages,
)

SCHEME = HashScheme(counts="damped")
_SEED = 14
_SITES = 8
_LEAST_WORDS = 20
_COMMON = 0.1
_CANDIDATE_BITS, _CANDIDATE_SHARED = 350, 5
_BATCH = 32
_EDITION, _TEMPLATE = 500, 800
Served = tuple[str, bytes]


@dataclass(frozen=True, slots=True, eq=False)
class Strewn:
    """Pairs of pages of different sites that a rule might call near, and what is true of them.

    `c` of damped counts and `c_paper` of all; `shared` of 16 sampled min-values.
    """

    name: str
    b: NDArray[np.int64]
    c: NDArray[np.int64]
    c_paper: NDArray[np.int64]
    shared: NDArray[np.int64]
    jaccard: NDArray[np.float64]
    own: NDArray[np.float64]


def corpora(quick: bool) -> Iterator[Strewn]:
    """Each with its pairs."""
    for name, served in all_served(quick).items():
        yield _pairs(name, served)


def all_served(quick: bool) -> Mapping[str, list[Served]]:
    """Each corpus's pages and their sites."""
    made = {"made up": made_up(60 if quick else 300)}
    return made if quick else {**_real(), **made}


def _real() -> dict[str, list[Served]]:
    return {
        "PostgreSQL 13, 15, 17": _editions(POSTGRES_13, POSTGRES_15, POSTGRES_17),
        "Python 3.11, 3.13": _editions(PYTHON_311, PYTHON_313),
        "Eigen, strewn": strewn(EIGEN_34),
        "Free Pascal, strewn": strewn(FREE_PASCAL_32),
        "GHC, strewn": strewn(GHC_90),
    }


def _editions(*packages: Package) -> list[Served]:
    found = {one.name: pages(one) for one in packages}
    names = sorted(set.intersection(*(set(each) for each in found.values())))
    random.Random(_SEED).shuffle(names)
    return [(site, each[name]) for site, each in found.items() for name in names[:_EDITION]]


def strewn(package: Package) -> list[Served]:
    """A documentation's pages on eight sites, by chance."""
    rng = random.Random(_SEED)
    found = list(pages(package).values())
    rng.shuffle(found)
    return [(f"site{rng.randrange(_SITES)}.example", html) for html in found[:_TEMPLATE]]


def made_up(count: int) -> list[Served]:
    """A third tables of mostly ones, a third a text in a template, a third next to none in it."""
    rng = random.Random(_SEED)
    frame = " ".join(paragraph(rng) for _ in range(3))
    served = []
    for number in range(count):
        if number % 3 == 0:
            cells = (rng.randrange(50) if rng.random() < 0.4 else 1 for _ in range(600))
            body = " ".join(map(str, cells))
        else:
            body = paragraph(rng) if number % 3 == 1 else f"price {rng.randrange(1000)}"
            body = f"{frame} {body}"
        html = f"<body><h1>{title(rng)}</h1><p>{body}</p></body>".encode()
        served.append((f"shop{rng.randrange(20)}.example", html))
    return served


@lru_cache(maxsize=1)
def _paper() -> HashScheme:
    return HashScheme(SCHEME.key, "paper")


def _pairs(name: str, served: Sequence[Served]) -> Strewn:
    columns: dict[str, list[NDArray[np.generic]]] = {}
    sets: list[NDArray[np.uint64]] = []
    for at in range(0, len(served), _BATCH):
        batch = [html for _, html in served[at : at + _BATCH]]
        made = fingerprints([Document(html) for html in batch], SCHEME, gram_sample=0.0).sketches
        tokens = tokens_of_batch(batch)
        sets += [np.unique(page) for page in phrases(tokens, PHRASE_K, SCHEME, circular=True)]
        for column, values in (
            ("words", made.words), ("identity", made.identity), ("super8", made.supershingles8),
            ("simhash", made.simhash), ("paper", simhashes(tokens, _paper())),
            ("sample", sample_of(made.min_values5)),
        ):  # fmt: skip
            columns.setdefault(column, []).append(values)
    joined = {column: np.concatenate(parts) for column, parts in columns.items()}
    _, first = np.unique(joined["identity"], return_index=True)
    kept = np.sort(first[joined["words"][first] >= _LEAST_WORDS])
    joined = {column: values[kept] for column, values in joined.items()}
    sites = np.unique([site for site, _ in served], return_inverse=True)[1][kept]
    return _of(name, joined, [sets[at] for at in kept], sites)


def tokens_of_batch(pages: Sequence[bytes]) -> Ragged:
    """The words of pages."""
    return text_of(
        tokens_of(scan_batch([Source(one) for one in pages], key=SCHEME.key)), SCHEME
    ).tokens


def own_phrases(sets: Sequence[NDArray[np.uint64]]) -> list[NDArray[np.uint64]]:
    """Of each page's phrases those that are on less than a tenth of the pages."""
    known, count = np.unique(np.concatenate(sets), return_counts=True)
    common = known[count >= max(12, _COMMON * len(sets))]
    return [np.setdiff1d(each, common, assume_unique=True) for each in sets]


def _of(
    name: str, columns: Mapping[str, NDArray[np.generic]], sets: Sequence[NDArray[np.uint64]],
    sites: NDArray[np.int64],
) -> Strewn:  # fmt: skip
    b, shared = _agreeing(columns["super8"]), _agreeing(columns["sample"])
    c, c_paper = _bits(columns["simhash"]), _bits(columns["paper"])
    likely = (np.maximum(c, c_paper) >= _CANDIDATE_BITS) | (b > 0) | (shared >= _CANDIDATE_SHARED)
    one, two = np.nonzero(np.triu(likely & (sites[:, None] != sites), 1))
    own = own_phrases(sets)
    return Strewn(
        name, b[one, two], c[one, two], c_paper[one, two], shared[one, two],
        np.array([jaccard(sets[i], sets[j]) for i, j in zip(one, two, strict=True)]),
        np.array([jaccard(own[i], own[j]) for i, j in zip(one, two, strict=True)]),
    )  # fmt: skip


def _agreeing(rows: NDArray[np.generic]) -> NDArray[np.int64]:
    found = np.zeros((len(rows), len(rows)), np.int64)
    for place in range(rows.shape[1]):
        found += rows[:, None, place] == rows[None, :, place]
    return found


def _bits(simhash: NDArray[np.generic]) -> NDArray[np.int64]:
    differ = np.zeros((len(simhash), len(simhash)), np.int64)
    for word in range(simhash.shape[1]):
        differ += np.bitwise_count(simhash[:, None, word] ^ simhash[None, :, word])
    return 64 * simhash.shape[1] - differ


def jaccard(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> float:
    """The share of the union that both have."""
    common = np.intersect1d(one, other, assume_unique=True).size
    whole = one.size + other.size - common
    return common / whole if whole else 0.0
