"""Detection of a neighborhood while chunks of all its pages are added, deleted and changed (Ardi,
Heidemann 2014, §5.4, Figures 8 to 10).

The paper defines badness twice: as the mean of contains over the files (§3.1 step 6), and as
contains over all chunks of the neighborhood (§3.3). Both are measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reusewatch.detector.labels.contains import Contained
from reusewatch.detector.mean_and_deviation import PAPER_NEIGHBORHOODS, PAPER_PAGES, Threshold
from reusewatch.detector.neighborhoods.figures import PageFacts
from reusewatch.detector.neighborhoods.neighborhoods import Neighborhoods
from tests.experiments.curves import (
    Case,
    Figures,
    Point,
    cases,
    panel,
    point_rows,
    sweep,
    tolerance,
)
from tests.experiments.mutations import MUTATIONS
from tests.experiments.report import Experiment, Row, plot, write_table

NAME = "label_detection_neighborhoods"
_HOST = "https://ripped.example/"
_FIXED = Threshold(PAPER_NEIGHBORHOODS, fixed=PAPER_NEIGHBORHOODS)


def measure(found: Contained) -> Figures:
    """The figures of the host that all pages stand on."""
    known = Neighborhoods(threshold=_FIXED)
    for page, (labeled, total) in enumerate(
        zip(found.labeled.tolist(), found.total.tolist(), strict=True)
    ):
        known.add(PageFacts(page, f"{_HOST}{page}.html", 0, labeled, total))
    # None, after all pages were deleted.
    hosts = [one for one in known if one.prefix == _HOST]
    return {
        "badness": sum(host.badness for host in hosts),
        "chunk_ratio": sum(host.chunk_ratio for host in hosts),
        "bad": float(any(host.badness > known.threshold for host in hosts)),
    }


def run(output: Path, quick: bool) -> list[Row]:
    """Curves as tables and plots; what is tolerated as rows."""
    rows, points = [], []
    for case in cases(output, quick):
        panels = []
        for operation in MUTATIONS:
            curves = sweep(case, operation, measure, quick)
            points += point_rows(case, operation, curves)
            rows += _rows(case, operation, curves)
            for figure in ("badness", "chunk_ratio"):
                panels.append(panel(case, operation, curves, figure, figure, PAPER_NEIGHBORHOODS))
        plot([*panels[::2], *panels[1::2]], output / f"{NAME}_{case.unit}")
    write_table(points, output / f"{NAME}_points")
    return rows


def _rows(case: Case, operation: str, curves: Mapping[str, Sequence[Point]]) -> list[Row]:
    rows = []
    for labeled in case.labeled:
        points = curves[labeled.name]
        page = tolerance(points, "badness", PAPER_PAGES)
        by_chunks = tolerance(points, "chunk_ratio", PAPER_NEIGHBORHOODS)
        rows.append({
            "chunks": case.unit, "operation": operation, "labeled": labeled.name,
            "badness": points[0].means["badness"],
            "chunk_ratio": points[0].means["chunk_ratio"],
            "tolerance_badness": tolerance(points, "badness", PAPER_NEIGHBORHOODS),
            "tolerance_chunk_ratio": by_chunks,
            "tolerance_pages": page,
            "chunk_ratio_over_pages": by_chunks / page if by_chunks and page else None,
        })  # fmt: skip
    return rows


EXPERIMENT = Experiment(NAME, run)
