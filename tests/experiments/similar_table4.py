"""Pages like a given one: precision and recall for ten queries (Das et al., Table 4).

*Does MWO return a page's near-duplicates, and nothing else?* The paper asked Google ten times and
looked for near-duplicates of the first result among the rest. Here ten manual pages are drawn; each
has as many near-duplicates as the paper's query of that number, at known distances
(`planted_versions`), and versions that are too far away. All stand in one window with all pages of
both manuals: of the same templates, and no near-duplicates of them.

Beside the index's own filters run the paper's: what passes them, and what they miss.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reusewatch.detector.similar.index import MwoIndex
from tests.detector.similar.paper_filters import with_paper_filters
from tests.experiments.corpus import corpus
from tests.experiments.planted_versions import Version
from tests.experiments.report import Experiment, Panel, Row, Series, plot, say, write_table
from tests.experiments.similar_repository import Repository, repository

TABLE_4 = (
    (167, 94.4, 94.2), (98, 94.9, 94.9), (156, 94.8, 93.6), (123, 93.0, 93.7), (79, 95.2, 95.8),
    (129, 94.6, 94.5), (63, 93.1, 94.1), (112, 94.3, 95.6), (109, 93.6, 94.9), (59, 94.7, 95.8),
)  # fmt: skip
"""Near-duplicates, precision, recall (%)."""
MEAN = (94.3, 94.7)
THRESHOLD = 0.5
SWEPT = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9)


def run(output: Path, quick: bool) -> list[Row]:
    """Table 4; by kind and distance, by threshold and the figure as `similar-table4-…`."""
    paper = TABLE_4[:4] if quick else TABLE_4
    counts = [near // 10 if quick else near for near, _, _ in paper]
    made = repository(corpus(quick), counts)
    index = made.index()
    say(f"{len(index)} pages of {index.terms} terms")
    rows = table(made, index, paper, THRESHOLD)
    write_table(distances(made, index), output / "similar-table4-distances")
    thresholds = SWEPT[1::3] if quick else SWEPT
    asked = sweep(made, index, thresholds)
    bare = made.without_stop_words()
    swept = {"all words": means(asked),
             "without stop words": means(sweep(bare, bare.index(), thresholds))}  # fmt: skip
    write_table([{"terms": name, **row} for name, some in swept.items() for row in some],
                output / "similar-table4-thresholds")  # fmt: skip
    plot([_panel(name, some) for name, some in swept.items()], output / "similar-table4")
    half = len(paper) // 2
    chosen = balanced(means([row for row in asked if row["query"] < half]))
    tested = table(made, index, paper, chosen)
    return [*rows, mean("mean", rows), *tested, mean("mean", tested),
            mean("of those it was not chosen on", tested[half:])]  # fmt: skip


def table(
    made: Repository, index: MwoIndex, paper: Sequence[tuple[int, float, float]], threshold: float
) -> list[Row]:
    """A row for each query."""
    return [
        _row(made, index, query, threshold, f"{precision}/{recall}")
        for query, (_, precision, recall) in enumerate(paper)
    ]


def balanced(swept: Sequence[Row]) -> float:
    """The threshold at which precision and recall are nearest to each other, as in the paper."""
    best = min(swept, key=lambda row: abs(row["precision %"] - row["recall %"]))
    return float(best["threshold"])


def measures(near: set[int], answers: set[int]) -> tuple[float, float]:
    """Precision, 100 of no answers, and recall in percent (§4.3).

    >>> measures({1, 2, 3, 4}, {1, 2, 5})
    (66.66666666666667, 50.0)
    """
    right = len(near & answers)
    return (100 * right / len(answers) if answers else 100.0), 100 * right / len(near)


def _row(made: Repository, index: MwoIndex, query: int, threshold: float, paper: str) -> Row:
    near, own = made.near(query), made.versions(query)
    ours, answers = made.search(index, query, threshold)
    theirs, filtered = made.search(with_paper_filters(index), query, threshold)
    precision, recall = measures(near, answers)
    return {
        "threshold": threshold,
        "query": f"Q{query + 1}",
        "page": made.titles[made.queries[query]],
        "words": made.words[query],
        "relevant": len(near),
        "retrieved": len(answers),
        "of them too far": len((answers & own) - near),
        "of them other pages": len(answers - own),
        "precision %": precision,
        "recall %": recall,
        "paper's": paper,
        "candidates": ours.candidates,
        "mezzanine": ours.mezzanine,
        "paper's filters, candidates": theirs.candidates,
        "paper's filters, mezzanine": theirs.mezzanine,
        "they miss": len(answers - filtered),
        "they miss, relevant": len((answers - filtered) & near),
    }


def mean(name: str, rows: Sequence[Row]) -> Row:
    """Of all columns that are numbers."""
    means = {
        column: None if isinstance(value, str) else float(np.mean([row[column] for row in rows]))
        for column, value in rows[0].items()
    }
    return means | {"query": name, "paper's": f"{MEAN[0]}/{MEAN[1]}"}


def distances(made: Repository, index: MwoIndex) -> list[Row]:
    """How many of the versions of each kind, by distance, are found."""
    found = [made.search(index, query, THRESHOLD)[1] for query in range(len(made.queries))]
    cells: dict[tuple[str, float], list[tuple[int, Version]]] = {}
    for row, one in made.planted.items():
        tenth = -int(-one.distance // 0.1) / 10 if one.distance > 0 else 0.1
        cells.setdefault((one.kind, tenth), []).append((row, one))
    return [
        {
            "kind": kind,
            "distance, at most": tenth,
            "near-duplicates": sum(one.near for _, one in some),
            "versions": len(some),
            "mean MWO": float(np.mean([made.overlap(one.query, row) for row, one in some])),
            "found %": 100 * float(np.mean([row in found[one.query] for row, one in some])),
        }
        for (kind, tenth), some in sorted(cells.items())
    ]


def sweep(made: Repository, index: MwoIndex, thresholds: Sequence[float]) -> list[Row]:
    """Each query at each threshold."""
    return [
        {"threshold": threshold, "query": query, **_asked(made, index, query, threshold)}
        for threshold in thresholds
        for query in range(len(made.queries))
    ]


def _asked(made: Repository, index: MwoIndex, query: int, threshold: float) -> Row:
    near, row = made.near(query), {}
    for asked, prefix in ((index, ""), (with_paper_filters(index), "paper's filters, ")):
        found, answers = made.search(asked, query, threshold)
        precision, recall = measures(near, answers)
        row |= {f"{prefix}precision %": precision, f"{prefix}recall %": recall,
                f"{prefix}candidates": found.candidates, f"{prefix}mezzanine": found.mezzanine,
                f"{prefix}retrieved": len(answers)}  # fmt: skip
    return row


def means(asked: Sequence[Row]) -> list[Row]:
    """Of the queries, by threshold."""
    return [
        {
            column: float(np.mean([row[column] for row in asked if row["threshold"] == threshold]))
            for column in asked[0]
            if column != "query"
        }
        for threshold in sorted({row["threshold"] for row in asked})
    ]


def _panel(title: str, rows: Sequence[Row]) -> Panel:
    places = [row["threshold"] for row in rows]
    names = ("precision %", "recall %", "paper's filters, recall %")
    return Panel(
        title, "threshold of MWO", "%",
        [Series(name, places, [row[name] for row in rows]) for name in names],
        levels={"paper, precision": MEAN[0], "paper, recall": MEAN[1]},
    )  # fmt: skip


EXPERIMENT = Experiment("similar-table4", run)
