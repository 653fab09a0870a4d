"""How a figure falls as copies are mutated, averaged over runs; and how far it may go.

A tolerance is the number of mutations per page, in mean numbers of chunks per page, at which the
average figure falls to the threshold (Ardi, Heidemann 2014, §5.3: 3.4 to 4.5 for adding).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.labels.contains import Contained, contained
from reusewatch.detector.ragged import Ragged
from tests.experiments.corpus import UNITS, Unit, chunks_of, corpus
from tests.experiments.datasets import Labeled, labeled_datasets, stop_chunks
from tests.experiments.mutations import MUTATIONS
from tests.experiments.report import Panel, Row, Series

Figures = Mapping[str, float]
Measure = Callable[[Contained], Figures]
RUNS = 10
# Multiples of the mean number of chunks per page; deletions are told in chunks, as in the paper.
_MULTIPLES = (*np.arange(0, 4, 0.25).tolist(), *np.arange(4, 14.5, 0.5).tolist())
_DELETIONS = tuple(range(0, 420, 20))
_QUICK = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A ripped site in one unit of chunks, and the labeled datasets to find it with."""

    unit: Unit
    pages: Ragged
    labeled: Sequence[Labeled]

    @property
    def mean_chunks(self) -> float:
        """The paper's cpp: mean number of chunks per page."""
        return float(self.pages.counts.mean())


@dataclass(frozen=True, slots=True)
class Point:
    """Figures after so many mutations per page: their means over the runs, and standard errors."""

    count: int
    multiple: float
    means: Figures
    errors: Figures


def cases(output: Path, quick: bool) -> list[Case]:
    """The site in both units."""
    made = []
    for unit in UNITS:
        chunks = chunks_of(corpus(quick).site, unit)
        made.append(Case(unit, chunks.hashes, labeled_datasets(chunks, output)))
    return made


def amounts(case: Case, operation: str, quick: bool) -> list[int]:
    """How many mutations per page are tried."""
    if quick:
        return [round(multiple * case.mean_chunks) for multiple in _QUICK]
    if operation == "delete":
        return [*_DELETIONS]
    return [round(multiple * case.mean_chunks) for multiple in _MULTIPLES]


def count_in(pages: Ragged, labeled: Labeled) -> Contained:
    """What the detector counts of pages, without stop chunks."""
    found = labeled.dataset.match("chunks", pages.values)
    return contained(pages, found, stop_chunks().has_chunks(pages.values))


def sweep(case: Case, operation: str, measure: Measure, quick: bool) -> dict[str, list[Point]]:
    """The curve of each labeled dataset; all of them see the same mutated pages."""
    curves: dict[str, list[Point]] = defaultdict(list)
    for count in amounts(case, operation, quick):
        found: dict[str, list[Figures]] = defaultdict(list)
        for run in range(2 if quick else RUNS):
            rng = np.random.default_rng([run, count])
            mutated = MUTATIONS[operation](case.pages, count, rng)
            for labeled in case.labeled:
                found[labeled.name].append(measure(count_in(mutated, labeled)))
        for name, runs in found.items():
            curves[name].append(_point(count, case.mean_chunks, runs))
    return dict(curves)


def _point(count: int, mean_chunks: float, runs: Sequence[Figures]) -> Point:
    columns = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    means = {name: float(column.mean()) for name, column in columns.items()}
    errors = {name: float(c.std(ddof=1)) / sqrt(len(runs)) for name, c in columns.items()}
    return Point(count, count / mean_chunks, means, errors)


def tolerance(points: Sequence[Point], figure: str, threshold: float) -> float | None:
    """Multiples of cpp at which a figure falls to the threshold; None if it never does."""
    return crossing([(point.multiple, point.means[figure]) for point in points], threshold)


def crossing(curve: Sequence[tuple[float, float]], threshold: float) -> float | None:
    """Where a curve falls to the threshold, between the points before and after.

    >>> crossing([(0, 1.0), (2, 0.5), (4, 0.0)], 0.25), crossing([(0, 1.0), (2, 0.5)], 0.25)
    (3.0, None)
    """
    if curve[0][1] <= threshold:
        return 0.0
    for (x, y), (next_x, next_y) in pairwise(curve):
        if next_y <= threshold:
            return x + (next_x - x) * (y - threshold) / (y - next_y)
    return None


def expected(case: Case, operation: str, labeled: Labeled, count: int) -> NDArray[np.float64]:
    """contains of each page that the definition leads one to expect, without drawing anything.

    Of n chunks, l labeled and s stop chunks: l / (n - s + k) after k are added. After k changes
    with replacement a chunk is as it was with q = (1 - 1/n)^k, and a changed stop chunk is none:
    about l q / (n - s q).
    """
    found, n = count_in(case.pages, labeled), case.pages.counts
    if operation == "add":
        return found.labeled / (found.total + count)
    left = (1 - 1 / n) ** count
    return found.labeled * left / (n - (n - found.total) * left)


def point_rows(case: Case, operation: str, curves: Mapping[str, Sequence[Point]]) -> list[Row]:
    """Every point of every curve, for scripts."""
    return [
        {"chunks": case.unit, "operation": operation, "labeled": name, "mutations": point.count,
         "times_cpp": point.multiple, **point.means,
         **{f"{figure}_error": error for figure, error in point.errors.items()}}
        for name, points in curves.items() for point in points
    ]  # fmt: skip


def panel(
    case: Case,
    operation: str,
    curves: Mapping[str, Sequence[Point]],
    figure: str,
    y_label: str,
    threshold: float | None,
) -> Panel:
    """A figure of the paper: one operation, all labeled datasets; error bars from 0.01."""
    is_delete = operation == "delete"
    series = [
        Series(
            name,
            [point.count if is_delete else point.multiple for point in points],
            [point.means[figure] for point in points],
            [e if (e := point.errors[figure]) >= 0.01 else 0.0 for point in points],
        )
        for name, points in curves.items()
    ]
    unit = "" if is_delete else f", × {case.mean_chunks:.0f} chunks per page"
    words = {"add": "added", "delete": "deleted", "change": "changed"}
    return Panel(
        f"{case.unit} chunks, {words[operation]}", f"chunks {words[operation]} per page{unit}",
        y_label, series, {f"threshold {threshold}": threshold} if threshold else {},
    )  # fmt: skip
