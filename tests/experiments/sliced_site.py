"""A slice-and-dice site among innocent documentation (Fetterly et al. 2005, §1, §3.3 to §3.5).

A machine has collected sentences of other sites' pages, and makes each of its pages of some of
them, at random; its hosts are one domain's by wildcard, and one address serves all. Around it stand
manuals as Debian has them, each on a site of its own, one of them strewn over several hosts: pages
in templates. Popular shingles are counted as in Figure 2, covering sets made as in Figure 7, and
hosts looked at as in Figure 8; then the donors of a page, the length of its sentences and its own
text vary, and it is counted what `quilt` and `phrase-host` find.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.phrases.classes import representatives
from reusewatch.detector.phrases.covering import CoveringSet, covering_set, foreign_to
from reusewatch.detector.phrases.documents import Documents
from reusewatch.detector.phrases.hosts import LEAST_MEAN, LEAST_PAGES
from reusewatch.detector.phrases.popular import popular_shingles
from reusewatch.detector.phrases.window import FETCH, PhraseWindow
from reusewatch.detector.quilts.judging import quilted
from reusewatch.detector.quilts.rules import QuiltRules
from reusewatch.detector.ragged import Ragged, page_offsets
from reusewatch.detector.sketching.shingles import PHRASE_K, min_values, phrases, supershingles
from tests.corpora import EIGEN_34, FREE_PASCAL_32, JAVA_17, POSTGRES_15, PYTHON_311
from tests.experiments.parts import (
    SCHEME,
    SEED,
    Served,
    Worded,
    as_page,
    gram_pages,
    judged,
    made_up_manual,
    manual,
    own_text,
    posted,
    sentences,
    text_of,
    vocabulary,
    worded,
)
from tests.experiments.report import Experiment, Panel, Row, Series, plot, write_table

_NAME = "sliced-site"
MACHINE = "sliced.example"
_COVERED = 40
"""Pages of the machine, and of the others, of which covering sets are made."""
_STREWN = 6
_HISTOGRAM = 10


@dataclass(frozen=True, slots=True)
class Machine:
    """How pages are made: so many of them, each of sentences of so many words of so many pages,
    out of a collection of so many sentences; and the share of its words that is the page's own.
    Sentences are taken of pages of so many words at most."""

    pages: int = 600
    hosts: int = 12
    collected: int = 300
    donors: int = 16
    length: int = 15
    own: float = 0.0
    of_pages: int = 1 << 20


REPEATING = Machine()
"""As in §1: few sentences, each on thousands of its pages (here dozens)."""
SPARING = Machine(pages=200, hosts=4, collected=1 << 20, donors=8)
"""Takes each sentence about once: what a scraper with enough to take from does."""


def _tried(usual: Machine) -> dict[str, Machine]:
    """One at a time is moved."""
    moved = {"as it is": usual, "donors of up to 400 words": replace(usual, of_pages=400)}
    for donors in (2, 4, 8, 16, 32):
        moved[f"{donors} donors"] = replace(usual, donors=donors)
    for length in (6, 8, 15, 30):
        moved[f"{length} words a sentence"] = replace(usual, length=length)
    for own in (0.25, 0.5, 0.75):
        moved[f"own text {own:.0%}"] = replace(usual, own=own)
    return moved


def _innocent(quick: bool) -> list[Served]:
    if quick:
        manuals = [made_up_manual(14, seed) for seed in range(3)]
    else:
        manuals = [
            manual(package, most)
            for package, most in ((JAVA_17, 500), (POSTGRES_15, 500), (PYTHON_311, 300),
                                  (FREE_PASCAL_32, 300), (EIGEN_34, 200))
        ]  # fmt: skip
    served = []
    for number, pages in enumerate(manuals):
        for at, page in enumerate(pages):
            # One template on several hosts, as of one software on many sites.
            host = f"manual{number}-{at % _STREWN}" if number == 0 else f"manual{number}"
            served.append(Served(page, f"{host}.example", f"10.0.0.{number}-{at % _STREWN}"))
    return served


def _sliced(innocent: Sequence[Served], how: Machine, rng: random.Random) -> list[Served]:
    """The machine's pages; `site` is the host that each is on."""
    whole = [
        (at, one) for at, page in enumerate(innocent)
        if len(text_of(page.html).split()) <= how.of_pages
        for one in sentences(page.html, how.length, 400)
    ]  # fmt: skip
    collected: dict[int, list[str]] = {}
    for donor, text in rng.sample(whole, min(how.collected, len(whole))):
        collected.setdefault(donor, []).append(" ".join(text.split()[: how.length]))
    donors, words = [*collected.values()], vocabulary([one.html for one in innocent[:20]])
    made = []
    for number in range(how.pages):
        chosen = rng.sample(donors, min(how.donors, len(donors)))
        # As many words whatever the number of donors: each gives as many sentences as it takes.
        parts = [rng.choice(some) for some in chosen]
        while len(parts) * how.length < 240:
            parts += [rng.choice(some) for some in chosen]
        rng.shuffle(parts)
        size = round(len(parts) * how.length * how.own / (1 - how.own))
        text = ". ".join(parts)
        page = as_page(text, own_text(words, size, rng)) if size else as_page(text)
        made.append(Served(page, f"w{number % how.hosts}.{MACHINE}", "10.1.1.1"))
    return made


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Innocent pages, then the machine's; shingles of all."""

    pages: Worded
    names: tuple[str, ...]
    innocent: int
    documents: Documents


@lru_cache(maxsize=2)
def _known(quick: bool) -> tuple[list[Served], Worded]:
    served = _innocent(quick)
    return served, worded(served)


def world(how: Machine, quick: bool) -> World:
    """Always the same of the same machine."""
    served, known = _known(quick)
    sliced = _sliced(served, how, random.Random(SEED))
    pages = _joined(known, worded(sliced))
    hosts = tuple(one.site for one in (*served, *sliced))
    circular = phrases(pages.tokens, PHRASE_K, SCHEME, circular=True)
    values = min_values(circular, SCHEME)
    # Of registered domains: all hosts of the machine are one site.
    site = np.array([MACHINE if name.endswith(MACHINE) else name for name in hosts])
    numbers = [np.unique(column, return_inverse=True)[1].astype(np.int64)
               for column in (site, np.array(hosts), pages.ips)]  # fmt: skip
    rows = np.arange(len(pages))
    return World(
        replace(pages, sites=np.array([SCHEME.of_text(name) for name in site], np.uint64)), hosts,
        len(served),
        Documents(rows.astype(np.uint64), rows, pages.identity, supershingles(values, SCHEME),
                  np.ascontiguousarray(values.T), *numbers),
    )  # fmt: skip


def _joined(one: Worded, other: Worded) -> Worded:
    tokens = Ragged(
        np.concatenate([one.tokens.values, other.tokens.values]),
        page_offsets(np.concatenate([one.tokens.counts, other.tokens.counts])),
    )
    columns = (
        np.concatenate([getattr(one, name), getattr(other, name)])
        for name in ("identity", "sites", "ips")
    )
    return Worded(tokens, *columns)


def run(output: Path, quick: bool) -> list[Row]:
    """A row for each machine; histogram, covering sets and hosts of the first in tables beside."""
    machines = {
        "repeating": Machine(60, 4, 40) if quick else REPEATING,
        "sparing": replace(SPARING, pages=20, hosts=2) if quick else SPARING,
    }
    rows: list[Row] = []
    for name, usual in machines.items():
        for moved, how in _tried(usual).items():
            if (quick and moved not in ("as it is", "own text 75%")) or (
                moved != "as it is" and how == usual
            ):
                continue
            made = world(how, quick)
            if how is usual and name == "repeating":
                _figures(made, output)
            rows.append({"machine": name, "moved": moved} | _found(made))
    return rows


def _found(made: World) -> Row:
    """What is found of the machine's pages and hosts, and of others'."""
    mine = np.arange(len(made.pages)) >= made.innocent
    kept, _ = representatives(made.documents)
    popular = popular_shingles(made.documents, kept).per_document[mine[kept]]
    told = _phrase_hosts(made)
    hosts = {name for name in made.names if name.endswith(MACHINE)}
    most = (popular >= 50) & (popular <= 80)
    row: Row = {
        "popular, median": float(np.median(popular)) if popular.size else None,
        "from 50 to 80": float(most.mean()) if popular.size else None,
    }
    for name, rules in (("quilt", QuiltRules()), ("quilt, φ 0.01", QuiltRules(phi=0.01))):
        quilts = _quilts(made, rules)
        row[f"{name}: recall"] = float(quilts[mine].mean())
        row[f"{name}: precision"] = _precision(int(quilts[mine].sum()), int(quilts[~mine].sum()))
    row["phrase-host: recall"] = len(told & hosts) / len(hosts)
    row["phrase-host: precision"] = _precision(len(told & hosts), len(told - hosts))
    return row


def _precision(right: int, wrong: int) -> float | None:
    return right / (right + wrong) if right + wrong else None


def _quilts(made: World, rules: QuiltRules) -> NDArray[np.bool_]:
    pages = gram_pages(made.pages)
    found = [one.pages for _, one in judged(posted(pages), pages, rules)]
    return np.concatenate([quilted(one, rules) for one in found])


def _phrase_hosts(made: World) -> set[str]:
    """The hosts that are told while a crawl runs."""
    documents = made.documents
    fetches = np.zeros(len(documents), FETCH)
    fetches["page"], fetches["identity"] = documents.page, documents.identity
    fetches["fetched"], fetches["site"] = documents.seen, documents.site
    fetches["host"], fetches["popular"] = documents.host, -1
    fetches["supershingles"], fetches["shingles"] = documents.supershingles, documents.shingles.T
    window = PhraseWindow(1_000_000)
    window.add(fetches)
    number = dict(zip(documents.host.tolist(), made.names, strict=True))
    return {number[one.host] for one in window.judge().hosts}


def _figures(made: World, output: Path) -> None:
    documents = made.documents
    kept, _ = representatives(documents)
    popular = popular_shingles(documents, kept).per_document
    mine = kept >= made.innocent
    bins = np.arange(0, 90, _HISTOGRAM)
    shares = {name: np.histogram(popular[some], bins)[0] / max(1, int(some.sum()))
              for name, some in (("machine", mine), ("innocent", ~mine))}  # fmt: skip
    write_table(
        [{"popular shingles": f"{low} to {low + _HISTOGRAM - 1}"}
         | {name: float(share[at]) for name, share in shares.items()}
         for at, low in enumerate(bins[:-1].tolist())],
        output / f"{_NAME}-histogram",
    )  # fmt: skip
    covers = _covers(made, kept, popular)
    write_table(
        [{"pages": name} | _told(found) for name, found in covers.items()],
        output / f"{_NAME}-covers",
    )
    hosts = _hosts(made, kept, popular)
    write_table(hosts, output / f"{_NAME}-hosts")
    _plot(bins, shares, covers, hosts, output)


def _covers(
    made: World, kept: NDArray[np.int64], popular: NDArray[np.int64]
) -> dict[str, list[CoveringSet]]:
    """Covering sets of pages of at least 30 popular shingles, foreign by address (Figure 7)."""
    rng, found = np.random.default_rng(SEED), {}
    for name, some in (("machine", kept >= made.innocent), ("innocent", kept < made.innocent)):
        rows = kept[some & (popular >= LEAST_MEAN)]
        chosen = rng.permutation(rows)[:_COVERED]
        found[name] = [
            covering_set(made.documents, int(row), kept[kept != row],
                         foreign_to(made.documents, int(row), "ip"))
            for row in chosen
        ]  # fmt: skip
    return found


def _told(found: Sequence[CoveringSet]) -> Row:
    def mean(values: Sequence[float]) -> float | None:
        return float(np.mean(values)) if values else None

    return {
        "covering sets": len(found),
        "popular shingles": mean([one.popular for one in found]),
        "size": mean([len(one.donors) for one in found]),
        "largest": max((len(one.donors) for one in found), default=None),
        "foreign contribution": mean([one.foreign / max(1, one.popular) for one in found]),
    }


def _hosts(made: World, kept: NDArray[np.int64], popular: NDArray[np.int64]) -> list[Row]:
    """Mean and deviation of popular shingles by host (Figure 8), the highest mean first."""
    told = _phrase_hosts(made)
    host, rows = made.documents.host[kept], []
    for one in np.unique(host).tolist():
        mine = popular[host == one]
        name = made.names[int(kept[host == one][0])]
        if mine.size >= LEAST_PAGES:
            rows.append({"host": name, "pages": mine.size, "mean": float(mine.mean()),
                         "deviation": float(mine.std()), "phrase-host": name in told})  # fmt: skip
    return sorted(rows, key=lambda row: -row["mean"])


def _plot(
    bins: NDArray[np.int64], shares: dict[str, NDArray[np.float64]],
    covers: dict[str, list[CoveringSet]], hosts: Sequence[Row], output: Path,
) -> None:  # fmt: skip
    figure_8 = [
        Series(name, [row["mean"] for row in some], [row["pages"] for row in some], marks="o")
        for name, some in (
            ("machine", [row for row in hosts if row["host"].endswith(MACHINE)]),
            ("others", [row for row in hosts if not row["host"].endswith(MACHINE)]),
        )
    ]
    plot(
        [
            Panel("as in Figure 2", "popular shingles", "share of the pages",
                  [Series(name, bins[:-1].tolist(), share.tolist())
                   for name, share in shares.items()]),
            Panel("as in Figure 7", "popular shingles", "size of the covering set",
                  [Series(name, [one.popular for one in found],
                          [len(one.donors) for one in found], marks="o")
                   for name, found in covers.items()]),
            Panel("as in Figure 8", "mean of popular shingles", "pages of the host", figure_8,
                  places={"30": LEAST_MEAN}),
        ],
        output / _NAME,
    )  # fmt: skip


EXPERIMENT = Experiment(_NAME, run)
