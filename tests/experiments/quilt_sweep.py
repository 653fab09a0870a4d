"""Quilts by (k, m, c, θ), as in Table 1 and Figure 3 of Najork 2012, and of foreign parts only.

The corpus is manuals of Debian, a site and an address each; two editions of one manual have sites
of their own and one address, as the two domains of a college in §3. First by the paper's
definition, over all of k, m, c and θ; then with donors foreign by domain, by address, and with what
the detector adds to it: who was there first, templates, and φ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reusewatch.detector.quilts.rules import Foreign, QuiltRules
from tests.corpora import (
    EIGEN_34,
    FREE_PASCAL_32,
    GHC_90,
    JAVA_17,
    POSTGRES_13,
    POSTGRES_15,
    PYTHON_311,
    PYTHON_313,
)
from tests.experiments.parts import (
    Served,
    Worded,
    gram_pages,
    judged,
    made_up_manual,
    manual,
    posted,
    worded,
)
from tests.experiments.report import Experiment, Panel, Row, Series, plot, write_table

PIVOT = QuiltRules(m=50, c=4, theta=0.5, phi=0.0, foreign="none", template=1 << 30, least=1)
"""The paper's, around which one parameter at a time is moved."""
K = range(2, 11)
M = range(10, 81, 10)
C = range(2, 11)
THETA = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_K = 5
_NAME = "quilt-sweep"
_MANUALS = (
    ("postgresql.example", "1", POSTGRES_15, 500),
    ("postgresql.example.net", "1", POSTGRES_13, 500),
    ("python.example", "2", PYTHON_311, 400), ("python.example.net", "3", PYTHON_313, 400),
    ("java.example", "4", JAVA_17, 500), ("eigen.example", "5", EIGEN_34, 300),
    ("pascal.example", "6", FREE_PASCAL_32, 400), ("haskell.example", "7", GHC_90, 400),
)  # fmt: skip


def corpus(quick: bool) -> Worded:
    """All pages, in one order."""
    if quick:
        made = [
            (f"site{seed}.example", f"{seed // 2}", made_up_manual(12, seed // 2))
            for seed in range(4)
        ]
    else:
        made = [(site, ip, manual(package, most)) for site, ip, package, most in _MANUALS]
    return worded([Served(page, site, ip) for site, ip, one in made for page in one])


class Swept:
    """Of each page its patch fraction and its sources, by one k and one set of rules."""

    def __init__(self, pages: Worded, k: int, rules: QuiltRules, *, by_paper: bool = True) -> None:
        made = gram_pages(pages, k=k)
        found = [
            one.pages for _, one in judged(posted(made), made, rules, by_paper=by_paper)
        ]  # fmt: skip
        self.fraction: NDArray[np.float64] = np.concatenate([one["fraction"] for one in found])
        self.sources: NDArray[np.int64] = np.concatenate([one["sources"] for one in found])

    def row(self, k: int, rules: QuiltRules) -> Row:
        """A row of Table 1."""
        quilts = (self.fraction >= rules.theta) & (self.sources >= rules.c)
        sources = self.sources[quilts]
        return {
            "k": k, "m": rules.m, "c": rules.c, "θ": rules.theta, "foreign": rules.foreign,
            "quilted": int(quilts.sum()), "of": len(quilts),
            "sources": float(sources.mean()) if sources.size else None,
        }  # fmt: skip


def run(output: Path, quick: bool) -> list[Row]:
    """Table 1; then foreign ones, and as the detector judges them."""
    pages = corpus(quick)
    write_table(list(_foreign(pages)), output / f"{_NAME}-foreign")
    rows = list(_table_1(pages, quick))
    _plot(rows, output)
    return [{"moved": name} | row for name, row in rows]


def _table_1(pages: Worded, quick: bool) -> Iterator[tuple[str, Row]]:
    for k in K[::4] if quick else K:
        yield "k", Swept(pages, k, PIVOT).row(k, PIVOT)
    for m in M[::4] if quick else M:
        rules = replace(PIVOT, m=m)
        yield "m", Swept(pages, _K, rules).row(_K, rules)
    pivot = Swept(pages, _K, PIVOT)
    for c in C:
        yield "c", pivot.row(_K, replace(PIVOT, c=c))
    for theta in THETA:
        yield "θ", pivot.row(_K, replace(PIVOT, theta=theta))


def _foreign(pages: Worded) -> Iterator[Row]:
    ways: Sequence[Foreign] = ("none", "domain", "ip")
    for foreign in ways:
        rules = replace(PIVOT, foreign=foreign)
        yield {"judged": "by the paper"} | Swept(pages, _K, rules).row(_K, rules)
        for name, usual in (
            ("earlier donors, no templates", QuiltRules(foreign=foreign, phi=0.0)),
            ("as before, φ 0.01", QuiltRules(foreign=foreign, phi=0.01)),
            ("as before, φ 0.05", QuiltRules(foreign=foreign)),
        ):
            yield {"judged": name} | Swept(pages, _K, usual, by_paper=False).row(_K, usual)


def _plot(rows: Sequence[tuple[str, Row]], output: Path) -> None:
    panels = []
    for name in ("k", "m", "c", "θ"):
        mine = [row for moved, row in rows if moved == name]
        panels.append(
            Panel(f"as in Figure 3: {name}", name, "quilted pages",
                  [Series("quilted", [row[name] for row in mine],
                          [row["quilted"] for row in mine])])
        )  # fmt: skip
    plot(panels, output / _NAME)


EXPERIMENT = Experiment(_NAME, run)
