"""Partial copies: which are found, and which pages are reported that are none.

A share of a page's words is taken, in one run or scattered, as it stands or with words changed, and
stands among own text. Judged are these and all original pages, each manual a site; a copy is found
if its donor is the page that it was taken from. All of it by the share of the grams that is kept.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.quilts.rules import QuiltRules
from tests.corpora import EIGEN_34, FREE_PASCAL_32, JAVA_17, POSTGRES_15, PYTHON_311
from tests.experiments.parts import (
    SAMPLES,
    SEED,
    Served,
    Worded,
    as_page,
    gram_pages,
    judged,
    made_up_manual,
    manual,
    own_text,
    paragraphs,
    posted,
    sentences,
    vocabulary,
    worded,
)
from tests.experiments.report import Experiment, Panel, Row, Series, plot, write_table

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
PADDED = (0.5, 2.0, 10.0)
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
LEAST = (4, 8, 16, 32)
_DEFAULT = QuiltRules()
_NAME = "partial-copies"
_COPIES, _WORDS, _MOST_WORDS = 40, 200, 2500
_NOTICES, _QUOTING, _NOTICE = 30, 3, 120
"""Notices, the pages that quote each, and their words."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How pages were copied: the share, how it was taken, and own words for each that was."""

    share: float
    taken: str
    padded: float


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Originals, with the number of each that is copied; copies, by kind and by donor."""

    originals: Worded
    copies: Worded
    kinds: tuple[Kind, ...]
    donors: NDArray[np.int64]


def _run(page: bytes, share: float, rng: random.Random) -> list[str]:
    words = " ".join(paragraphs(page)).split()
    size = max(1, round(share * len(words)))
    begin = rng.randrange(len(words) - size + 1)
    return [" ".join(words[begin : begin + size])]


def _scattered(parts: Sequence[str], share: float, rng: random.Random) -> list[str]:
    """Parts drawn until so much is taken, the last one cut."""
    left = max(1, round(share * sum(len(one.split()) for one in parts)))
    taken = []
    for one in rng.sample(parts, len(parts)):
        words = one.split()[:left]
        left -= len(words)
        taken.append(" ".join(words))
        if left <= 0:
            break
    return taken


def _by_paragraph(page: bytes, share: float, rng: random.Random) -> list[str]:
    return _scattered(paragraphs(page), share, rng)


def _by_sentence(page: bytes, share: float, rng: random.Random) -> list[str]:
    return _scattered(sentences(page, 1, 1 << 20), share, rng)


def _changed(every: int) -> Callable[[bytes, float, random.Random], list[str]]:
    """One run, in which one word in so many is another one."""

    def taken(page: bytes, share: float, rng: random.Random) -> list[str]:
        (text,) = _run(page, share, rng)
        words = text.split()
        for at in range(rng.randrange(every), len(words), every):
            words[at] = f"other{rng.randrange(1 << 30)}"
        return [" ".join(words)]

    return taken


TAKEN: dict[str, Callable[[bytes, float, random.Random], list[str]]] = {
    "one run": _run,
    "paragraphs": _by_paragraph,
    "sentences": _by_sentence,
    "run, one word in 10 changed": _changed(10),
    "run, one word in 5 changed": _changed(5),
    "run, one word in 3 changed": _changed(3),
}


def _originals(quick: bool) -> list[Served]:
    if quick:
        manuals = [made_up_manual(12, seed) for seed in range(3)]
    else:
        manuals = [
            manual(package, most)
            for package, most in ((POSTGRES_15, 700), (PYTHON_311, 400), (JAVA_17, 500),
                                  (EIGEN_34, 300), (FREE_PASCAL_32, 400))
        ]  # fmt: skip
    return [
        Served(page, f"manual{number}.example") for number, one in enumerate(manuals)
        for page in one
    ]  # fmt: skip


def _quoting(words: Sequence[str], rng: random.Random, notices: int) -> Iterator[Served]:
    """Pages of their own, of which a few have a notice in common: a quotation, and no copy."""
    for number in range(notices):
        notice = own_text(words, _NOTICE, rng)
        for at in range(_QUOTING):
            page = as_page(own_text(words, rng.randrange(400, 800), rng), notice)
            yield Served(page, f"quoting{number}-{at}.example")


def corpus(quick: bool) -> Corpus:
    """Always the same."""
    rng = random.Random(SEED)
    served = _originals(quick)
    words = vocabulary([one.html for one in served])
    served += _quoting(words, rng, 2 if quick else _NOTICES)
    fit = [
        number for number, one in enumerate(served)
        if _WORDS <= len(" ".join(paragraphs(one.html)).split()) <= _MOST_WORDS
        and one.site.startswith("manual")
    ]  # fmt: skip
    chosen = rng.sample(fit, min(4 if quick else _COPIES, len(fit)))
    copies, kinds, donors = [], [], []
    for share in SHARES[2::3] if quick else SHARES:
        for taken, take in TAKEN.items():
            for padded in PADDED[:1] if quick else PADDED:
                for donor in chosen:
                    parts = take(served[donor].html, share, rng)
                    size = sum(len(one.split()) for one in parts)
                    own = [own_text(words, max(1, round(padded * size / len(parts))), rng)
                           for _ in parts]  # fmt: skip
                    mixed = [one for pair in zip(own, parts, strict=True) for one in pair]
                    copies.append(Served(as_page(*mixed), f"copy{len(copies)}.example"))
                    kinds.append(Kind(share, taken, padded))
                    donors.append(donor)
    return Corpus(worded(served), worded(copies), tuple(kinds), np.array(donors))


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Of pages: grams that are kept, those of them that every page keeps, the larger share in
    common with one donor, and which it is."""

    kept: NDArray[np.int64]
    ranged: NDArray[np.int64]
    share: NDArray[np.float64]
    donor: NDArray[np.int64]

    def told(self, threshold: float, least: int) -> NDArray[np.bool_]:
        """Which are reported as partial copies."""
        known: NDArray[np.bool_] = (
            (self.kept >= least) & (self.donor >= 0) & (self.share >= threshold)
        )
        return known


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """With one share of the grams kept: what is found of originals and copies, by the least number
    of grams that a share is told of; and what it costs."""

    originals: dict[int, Found]
    copies: dict[int, Found]
    bytes_per_page: float
    us_per_page: float


def measured(made: Corpus, sample: float) -> Measured:
    """Post the originals, and judge all pages."""
    pages = gram_pages(made.originals, sample=sample)
    postings = posted(pages)
    later = gram_pages(made.copies, begin=len(pages) + 1, sample=sample)
    originals, copies, seconds = {}, {}, 0.0
    for least in LEAST:
        rules = QuiltRules(least=least)
        both = []
        for some in (pages, later):
            begin = time.process_time()
            parts = [
                (one.documents[["kept", "ranged"]], found.pages, found.holders.documents["page"])
                for one, found in judged(postings, some, rules, sample=sample)
            ]
            seconds = time.process_time() - begin
            both.append(_joined(parts))
        originals[least], copies[least] = both
    return Measured(originals, copies, postings.nbytes / len(pages), seconds / len(later) * 1e6)


def _joined(parts: Sequence[tuple[NDArray[Any], ...]]) -> Found:
    kept, ranged = (
        np.concatenate([counts[name] for counts, _, _ in parts]).astype(np.int64)
        for name in ("kept", "ranged")
    )
    shares = [np.maximum(found["here"], found["there"]) for _, found, _ in parts]
    donors = [
        np.where(found["donor"] >= 0, pages[found["donor"]].astype(np.int64), 0)
        if len(pages) else np.zeros(len(found), np.int64)
        for _, found, pages in parts
    ]  # fmt: skip
    # Pages are counted from 1.
    return Found(kept, ranged, np.concatenate(shares), np.concatenate(donors) - 1)


def run(output: Path, quick: bool) -> list[Row]:
    """A row for each kind of copy and share of grams; thresholds and errors in tables beside."""
    made = corpus(quick)
    results = {name: measured(made, SAMPLES[name]) for name in _samples(quick)}
    write_table(_thresholds(made, results), output / f"{_NAME}-thresholds")
    write_table(_errors(made, results), output / f"{_NAME}-errors")
    write_table(_costs(results), output / f"{_NAME}-costs")
    _plot(made, results, output)
    return [
        {"taken": taken, "share": share, "own words for each": padded}
        | {f"found, {name}": _recall(made, one, Kind(share, taken, padded))
           for name, one in results.items()}
        for taken in TAKEN
        for share in dict.fromkeys(kind.share for kind in made.kinds)
        for padded in dict.fromkeys(kind.padded for kind in made.kinds)
    ]  # fmt: skip


def _samples(quick: bool) -> list[str]:
    return ["all", "1/8"] if quick else [*SAMPLES]


def _right(
    made: Corpus, one: Measured, threshold: float, least: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which copies are reported, and which of these with their donor."""
    found = one.copies[least]
    told = found.told(threshold, least)
    return told, told & (found.donor == made.donors)


def _recall(made: Corpus, one: Measured, kind: Kind) -> float:
    mine = np.array([each == kind for each in made.kinds])
    _, right = _right(made, one, _DEFAULT.partial_share, _DEFAULT.least)
    return float(right[mine].mean())


def _thresholds(made: Corpus, results: dict[str, Measured]) -> list[Row]:
    """By `partial_share` and by `least`: recall, and who is reported wrongly. `of these` are the
    copies that have so much in common with their donor by all grams."""
    whole = results["all"].copies[LEAST[0]]
    rows: list[Row] = []
    for name, one in results.items():
        for threshold in THRESHOLDS:
            these = (whole.donor == made.donors) & (whole.share >= threshold)
            for least in LEAST:
                told, right = _right(made, one, threshold, least)
                innocent = int(one.originals[least].told(threshold, least).sum())
                rows.append(
                    {"grams": name, "partial_share": threshold, "least": least,
                     "recall": float(right.mean()), "of these": _mean(right[these]),
                     "precision": float(right.sum() / max(1, told.sum() + innocent)),
                     "wrong donor": int((told & ~right).sum()), "innocent pages": innocent}
                )  # fmt: skip
    return rows


def _mean(of: NDArray[np.bool_]) -> float | None:
    return float(of.mean()) if of.size else None


def _errors(made: Corpus, results: dict[str, Measured]) -> list[Row]:
    """Estimated shares beside those of all grams, of copies whose donor is known to both."""
    least = LEAST[0]
    whole = results["all"].copies[least]
    rows: list[Row] = []
    for name, one in results.items():
        found = one.copies[least]
        both = (found.donor == made.donors) & (whole.donor == made.donors)
        for low, high in ((4, 16), (16, 32), (32, 64), (64, 128), (128, 1 << 30)):
            some = both & (found.ranged >= low) & (found.ranged < high)
            if name == "all" or not some.any():
                continue
            true = whole.share[some]
            chance = np.sqrt(np.mean(true * (1 - true) / found.ranged[some]))
            wrong, crossed = found.share[some] - true, true >= _DEFAULT.partial_share
            rows.append(
                {"grams": name,
                 "grams in the sample": f"{low} to {high - 1}" if high < 1 << 30 else f"{low} on",
                 "copies": int(some.sum()), "bias": float(wrong.mean()),
                 "error": float(np.sqrt(np.mean(wrong**2))), "error of drawing": float(chance),
                 "found of what all grams find":
                     _mean(found.share[some][crossed] >= _DEFAULT.partial_share)}
            )  # fmt: skip
    return rows


def _costs(results: dict[str, Measured]) -> list[Row]:
    return [
        {"grams": name, "bytes a page": one.bytes_per_page, "µs a page": one.us_per_page}
        for name, one in results.items()
    ]


def _plot(made: Corpus, results: dict[str, Measured], output: Path) -> None:
    shares = list(dict.fromkeys(kind.share for kind in made.kinds))
    padded = made.kinds[-1].padded
    plot(
        [
            Panel(
                f"{name} grams, {padded:g} own words for each", "share of the donor that is copied",
                "found",
                [Series(taken, shares,
                        [_recall(made, one, Kind(share, taken, padded)) for share in shares])
                 for taken in TAKEN],
            )
            for name, one in results.items()
        ],
        output / _NAME,
    )  # fmt: skip


EXPERIMENT = Experiment(_NAME, run)
