"""Versions of one page: what the sketches say, beside the exact Jaccard of its shingles.

Pages of the same name in two versions of a documentation package, by their resemblance in
shingles of 8 words (Broder et al.; Henzinger 2006, §2). Two of six supershingles of 14 min-values
agree with a probability that only depends on it; that is the curve to lie on.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from math import comb
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.scanning.scan import Source, scan_batch
from reusewatch.detector.sketching.agreement import b_similarity, c_similarity
from reusewatch.detector.sketching.chunks import text_of
from reusewatch.detector.sketching.fingerprint import Document, fingerprints, tokens_of
from reusewatch.detector.sketching.shingles import SHINGLE_K, phrases
from reusewatch.detector.sketching.sketches import Sketches
from reusewatch.detector.window.near_rules import Policy, sample_of
from tests.corpora import (
    POSTGRES_13,
    POSTGRES_15,
    POSTGRES_17,
    PYTHON_311,
    PYTHON_313,
    pages,
)
from tests.detector.sketching.twins import resemblance
from tests.experiments.near_world import SCHEME, made_up
from tests.experiments.report import Experiment, Panel, Row, Series, plot

PACKAGES = (
    (POSTGRES_13, POSTGRES_15), (POSTGRES_15, POSTGRES_17), (POSTGRES_13, POSTGRES_17),
    (PYTHON_311, PYTHON_313),
)  # fmt: skip
BINS = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0)
_BATCH = 16
_RUN, _SUPERSHINGLES = 14, 6
_C, _COMBINED = Policy("c"), Policy("combined")
Versions = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Compared:
    """A page in two versions."""

    package: str
    jaccard: float
    estimate: float
    b: int
    c: int
    shared: int


def b_chance(jaccard: float, least: int = 2) -> float:
    """The probability that a pair is B-similar.

    >>> round(b_chance(0.9), 3), round(b_chance(0.95), 3)
    (0.383, 0.855)
    """
    one = jaccard**_RUN
    return sum(
        comb(_SUPERSHINGLES, k) * one**k * (1 - one) ** (_SUPERSHINGLES - k)
        for k in range(least, _SUPERSHINGLES + 1)
    )


def run(output: Path, quick: bool) -> list[Row]:
    """By exact Jaccard: what is called near, and how well it is estimated."""
    if quick:
        found = list(compare("made up", list(_edited())))
    else:
        found = [
            one
            for older, newer in PACKAGES
            for one in compare(f"{older.name} → {newer.name}",
                               _of_one_name(pages(older), pages(newer)))
        ]  # fmt: skip
    rows = [_row("all", found)]
    rows += [_row(name, [one for one in found if one.package == name])
             for name in dict.fromkeys(one.package for one in found)]  # fmt: skip
    bins = [(low, high, [one for one in found if low <= one.jaccard < high])
            for low, high in pairwise(BINS)]  # fmt: skip
    rows += [_row(f"Jaccard {low:g}–{high:g}", some) for low, high, some in bins if some]
    rows.append(_row("Jaccard 1", [one for one in found if one.jaccard == 1]))
    plot([_panel(found, bins)], output / "near-versions")
    return [row for row in rows if row["pairs"]]


def _of_one_name(older: dict[str, bytes], newer: dict[str, bytes]) -> list[Versions]:
    return [(older[name], newer[name]) for name in older if name in newer]


def _edited() -> Iterator[Versions]:
    """Made-up pages with some words changed, for a quick run."""
    rng = random.Random(7)
    for number, page in enumerate(made_up()["shop"]):
        words = page.decode().split(" ")
        for _ in range(number):
            words[rng.randrange(2, len(words) - 2)] = f"edited{rng.randrange(10**6)}"
        yield page, " ".join(words).encode()


def compare(package: str, versions: Sequence[Versions]) -> Iterator[Compared]:
    """Pairs of versions that both have shingles and do not have the same words."""
    rest = iter(versions)
    while batch := list(islice(rest, _BATCH)):
        both = [page for pair in batch for page in pair]
        made = fingerprints([Document(page) for page in both], SCHEME, gram_sample=0.0).sketches
        sets = shingles(both)
        for one in range(0, len(both), 2):
            if made.identity[one] != made.identity[one + 1] and sets[one].size:
                yield _compared(package, made, sets, one)


def shingles(batch: Sequence[bytes]) -> list[NDArray[np.uint64]]:
    """The exact set of each page's shingles."""
    tokens = text_of(
        tokens_of(scan_batch([Source(p) for p in batch], key=SCHEME.key)), SCHEME
    ).tokens
    column = phrases(tokens, SHINGLE_K, SCHEME, circular=False)
    return [
        np.unique(column.values[begin:end])
        for begin, end in zip(column.offsets, column.offsets[1:], strict=False)
    ]


def _compared(
    package: str, made: Sketches, sets: Sequence[NDArray[np.uint64]], one: int
) -> Compared:
    two = one + 1
    common = np.intersect1d(sets[one], sets[two], assume_unique=True).size
    sample = sample_of(made.min_values5[one : two + 1])
    return Compared(
        package,
        common / (sets[one].size + sets[two].size - common),
        resemblance(made.min_values8[one], made.min_values8[two]),
        b_similarity(made.supershingles8[one], made.supershingles8[two]),
        c_similarity(made.simhash[one], made.simhash[two]),
        int((sample[0] == sample[1]).sum()),
    )


def _row(name: str, found: Sequence[Compared]) -> Row:
    jaccard = np.array([one.jaccard for one in found])
    estimate = np.array([one.estimate for one in found])

    def mean(values: Sequence[float]) -> float | None:
        return float(np.mean(values)) if values else None

    return {
        "versions": name,
        "pairs": len(found),
        "Jaccard": mean(jaccard.tolist()),
        "error of min-values": mean(np.abs(jaccard - estimate).tolist()),
        "B-similar": mean([one.b >= 2 for one in found]),
        "B-similar, computed": mean([b_chance(one.jaccard) for one in found]),
        "mean C-similarity": mean([one.c for one in found]),
        "C-similar": mean([_near(_C, one) for one in found]),
        "combined": mean([_near(_COMBINED, one) for one in found]),
    }


def _near(policy: Policy, one: Compared) -> bool:
    return policy.near(one.b, one.c, one.shared, same_site=True)


def _panel(
    found: Sequence[Compared], bins: Sequence[tuple[float, float, Sequence[Compared]]]
) -> Panel:
    x = np.linspace(0, 1, 101).tolist()
    some = [_row("", each) for _, _, each in bins if each]
    places = [row["Jaccard"] for row in some]
    return Panel(
        "Versions of one page", "exact Jaccard of 8-word shingles", "share called near",
        [Series("B, computed", x, [b_chance(at) for at in x]),
         *(Series(name, places, [row[name] for row in some], marks=mark)
           for name, mark in (("B-similar", "o"), ("C-similar", "^"), ("combined", "s")))],
    )  # fmt: skip


EXPERIMENT = Experiment("near-versions", run)
