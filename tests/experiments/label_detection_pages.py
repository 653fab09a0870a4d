"""Detection of pages while chunks are added, deleted and changed (Ardi, Heidemann 2014, §5.3,
Figures 4 to 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reusewatch.detector.labels.contains import Contained
from reusewatch.detector.mean_and_deviation import PAPER_PAGES
from tests.experiments.curves import (
    Case,
    Figures,
    Point,
    amounts,
    cases,
    crossing,
    expected,
    panel,
    point_rows,
    sweep,
    tolerance,
)
from tests.experiments.mutations import MUTATIONS
from tests.experiments.report import Experiment, Panel, Row, plot, write_table

NAME = "label_detection_pages"


def measure(found: Contained) -> Figures:
    """The average of contains over the pages that are left, and how many are detected."""
    there = found.total > 0
    ratios = found.ratios[there]
    return {
        "contains": float(ratios.mean()) if len(ratios) else 0.0,
        "detected": float((ratios > PAPER_PAGES).sum()),
        "pages": float(there.sum()),
    }


def run(output: Path, quick: bool) -> list[Row]:
    """Curves as tables and plots; what is tolerated as rows."""
    rows, points, panels = [], [], []
    for case in cases(output, quick):
        for operation in MUTATIONS:
            curves = sweep(case, operation, measure, quick)
            points += point_rows(case, operation, curves)
            rows += _rows(case, operation, curves, quick)
            panels += _panels(case, operation, curves)
    write_table(points, output / f"{NAME}_points")
    half = len(panels) // 2
    plot(panels[:half], output / f"{NAME}_raw")
    plot(panels[half:], output / f"{NAME}_text")
    return rows


def _panels(case: Case, operation: str, curves: Mapping[str, Sequence[Point]]) -> list[Panel]:
    found = [panel(case, operation, curves, "contains", "average contains", PAPER_PAGES)]
    if operation == "change":
        found.append(panel(case, operation, curves, "detected", "pages detected", None))
    return found


def _rows(
    case: Case, operation: str, curves: Mapping[str, Sequence[Point]], quick: bool
) -> list[Row]:
    rows = []
    for labeled in case.labeled:
        points = curves[labeled.name]
        first, last = points[0].means, points[-1].means
        half = [(point.multiple, point.means["detected"]) for point in points]
        by_formula = None
        if operation != "delete":
            by_formula = crossing(
                [
                    (k / case.mean_chunks, float(expected(case, operation, labeled, k).mean()))
                    for k in amounts(case, operation, quick)
                ],
                PAPER_PAGES,
            )
        rows.append({
            "chunks": case.unit, "operation": operation, "labeled": labeled.name,
            "labels": labeled.size, "mean_chunks": case.mean_chunks,
            "contains": first["contains"], "detected": first["detected"] / first["pages"],
            "tolerance": tolerance(points, "contains", PAPER_PAGES), "expected": by_formula,
            "half_detected": crossing(half, first["detected"] / 2),
            "pages_left": last["pages"], "contains_last": last["contains"],
        })  # fmt: skip
    return rows


EXPERIMENT = Experiment(NAME, run)
