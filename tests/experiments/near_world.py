"""A small web with known truth: which pairs are correct near-duplicates (Henzinger 2006, §3.1).

Every page is a real page, its *item*, served by a site. Some items are served again, by the same
site or by another, with nothing changed but what the definition allows: a session id, a timestamp,
an execution time, a visitor count, a server name, all or part of the URL, or several of them. Two
pages of one item are correct near-duplicates; two pages of different items are not, however
much of a template they share. Nothing is undecided. Beside the pages of the packages stand such as
the paper blames and praises, in their words (`near_templates`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from reusewatch.crawler.demo.prose import paragraph, title
from reusewatch.detector.hashing import HashScheme
from reusewatch.detector.ragged import Ragged
from reusewatch.detector.scanning.scan import Source, scan_batch
from reusewatch.detector.sketching.chunks import text_of
from reusewatch.detector.sketching.fingerprint import Document, fingerprints, tokens_of
from reusewatch.detector.sketching.simhash import simhashes
from reusewatch.detector.window.near_rules import sample_of
from tests.corpora import JAVA_17, POSTGRES_15, PYTHON_311, pages
from tests.experiments import near_templates
from tests.experiments.near_templates import words_of

SCHEME = HashScheme()
_SITES = 6
_SHORTEST, _LONGEST = 40, 5000  # words
_FRAME = 2000
_BATCH = 32
_REPEATED = 0.12
_SEED = 2006
_JAVADOC = 5000


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the world. `change` is what distinguishes it from its item as first served."""

    item: int
    site: str
    change: str
    html: bytes


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What is asked of pages, a row a page; of a token sequence that comes twice, the first.

    `simhash_once` is the projection of a page's distinct words, however often each stands there.
    """

    pages: Sequence[Page]
    items: NDArray[np.int64]
    sites: NDArray[np.int64]
    words: NDArray[np.int64]
    supershingles: NDArray[np.uint64]
    simhash: NDArray[np.uint64]
    simhash_once: NDArray[np.uint64]
    sample: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.pages)


def _digits(rng: random.Random, count: int) -> str:
    return str(rng.randrange(10 ** (count - 1), 10**count))


def _clock(rng: random.Random) -> str:
    day, hour = rng.randint(1, 28), rng.randrange(24)
    return f"{day} March 2006 {hour:02}:{rng.randrange(60):02}:{rng.randrange(60):02}"


# What a server writes into a page that it makes: each is another text at each request.
WRITTEN: Mapping[str, Callable[[random.Random, str], str]] = {
    "session id": lambda rng, site: f"Your session is {rng.randbytes(12).hex()}",
    "timestamp": lambda rng, site: f"This page was fetched on {_clock(rng)} UTC",
    "execution time": lambda rng, site: f"Generated in {rng.uniform(0.01, 2):.4f} seconds",
    "visitor count": lambda rng, site: f"You are visitor number {_digits(rng, 6)} of this page",
    "server name": lambda rng, site: f"Served by node{rng.randrange(100, 1000)}.{site}",
    "URL": lambda rng, site: (
        f"The address of this page is http://{site}/{rng.choice(('docs', 'manual', 'mirror'))}/"
        f"{_digits(rng, 5)}"
    ),
}
COMBINATION = "combination"
CHANGES = (*WRITTEN, COMBINATION)


def serve(item: bytes, site: str, kinds: Sequence[str], seed: int, rng: random.Random) -> bytes:
    """An item as a site serves it, with what its server writes, in the item's own places."""
    places, parts = random.Random(seed), item.split(b"</p>")
    for _ in range(places.choice((1, 1, 1, 2, 3))):
        at = places.randrange(len(parts))
        for kind in kinds:
            parts[at] += f"<p>{WRITTEN[kind](rng, site)}</p>".encode()
    return b"</p>".join(parts)


@lru_cache(maxsize=2)
def world(quick: bool) -> World:
    """The web of these experiments."""
    families = made_up() if quick else real()
    texts = [words_of(page) for pages in families.values() for page in pages[:500]]
    texts = [text for text in texts if len(text) >= _SHORTEST]
    few = {"databases": 3, "directories": 2} if quick else {}
    if max(map(len, texts)) < _FRAME:  # made-up pages are short
        texts = [[word for text in texts for word in text][at : at + _FRAME] for at in (0, 99)]
    found = [*served(families | near_templates.families(texts, **few))]
    return sketched([*found, *_parked(texts, found[-1].item + 1)])


def served(families: Mapping[str, Sequence[bytes]]) -> Iterator[Page]:
    """Each family's items on its sites; some again, there or elsewhere."""
    rng, number = random.Random(_SEED), 0
    for family, items in families.items():
        for item in items:
            # As on the web, most pages of a template are on one site.
            site = _site(family, 0 if rng.random() < 0.9 else rng.randrange(1, _SITES))
            change = rng.choice(CHANGES)
            kinds = tuple(WRITTEN) if change == COMBINATION else (change,)
            yield Page(number, site, change, serve(item, site, kinds, number, rng))
            if rng.random() < _REPEATED:
                for _ in range(rng.randint(1, 3)):
                    where = site if rng.random() < 0.6 else _site(family, rng.randrange(_SITES))
                    yield Page(number, where, change, serve(item, where, kinds, number, rng))
            number += 1


def _parked(texts: Sequence[near_templates.Words], number: int) -> Iterator[Page]:
    """Domains for sale: a site each, one item for each that offers them."""
    for item, domains in enumerate(near_templates.parked(texts), number):
        for domain, html in enumerate(domains):
            yield Page(item, f"parked{item}-{domain}.example", "URL", html)


def _site(family: str, number: int) -> str:
    return f"{family}{number}.example"


def real() -> dict[str, list[bytes]]:
    """Javadoc's classes, PostgreSQL's reference pages and the rest of it, Python's manual."""
    java = [
        html
        for path, html in pages(JAVA_17).items()
        if "class-use/" not in path and not path.rpartition("/")[2].startswith("package-")
    ]
    random.Random(_SEED).shuffle(java)
    return {
        "java": java[:_JAVADOC],
        "postgres": list(pages(POSTGRES_15).values()),
        "python": list(pages(PYTHON_311).values()),
    }


def made_up() -> dict[str, list[bytes]]:
    """Two templates whose pages differ in a paragraph or in a few words."""
    rng = random.Random(_SEED)
    frames = [" ".join(paragraph(rng) for _ in range(12)) for _ in range(2)]

    def page(frame: str, item: str) -> bytes:
        return f"<body><p>{frame}</p><h1>{title(rng)}</h1><p>{item}</p></body>".encode()

    return {
        "shop": [page(frames[0], f"{paragraph(rng)} {_digits(rng, 6)}") for _ in range(60)],
        "directory": [page(frames[1], _digits(rng, 9)) for _ in range(60)],
    }


def distinct(batch: Sequence[Page]) -> Ragged:
    """The set of each page's words."""
    sources = [Source(page.html, page.site, page.site) for page in batch]
    tokens = text_of(tokens_of(scan_batch(sources, key=SCHEME.key)), SCHEME).tokens
    return Ragged.of([np.unique(tokens.values[a:b]) for a, b in pairwise(tokens.offsets)])


def sketched(served: Sequence[Page]) -> World:
    """The sketches of all pages, of identity sets one page."""
    columns: dict[str, list[NDArray[np.generic]]] = {}
    rest = iter(served)
    while batch := list(islice(rest, _BATCH)):
        made = fingerprints(
            [Document(page.html, host=page.site, site=page.site) for page in batch],
            SCHEME,
            gram_sample=0.0,
        ).sketches
        once = simhashes(distinct(batch), SCHEME)
        for name, column in (
            ("simhash_once", once),
            ("identity", made.identity), ("words", made.words), ("simhash", made.simhash),
            ("supershingles", made.supershingles8), ("sample", sample_of(made.min_values5)),
        ):  # fmt: skip
            columns.setdefault(name, []).append(column)
    joined = {name: np.concatenate(parts) for name, parts in columns.items()}
    fits = (joined["words"] >= _SHORTEST) & (joined["words"] <= _LONGEST)
    _, first = np.unique(joined["identity"], return_index=True)
    kept = np.sort(first[fits[first]])
    names = sorted({page.site for page in served})
    return World(
        [served[at] for at in kept],
        np.array([served[at].item for at in kept], np.int64),
        np.array([names.index(served[at].site) for at in kept], np.int64),
        joined["words"][kept], joined["supershingles"][kept], joined["simhash"][kept],
        joined["simhash_once"][kept],
        joined["sample"][kept],
    )  # fmt: skip
