"""What text normalization adds over raw chunks when a copy was re-rendered: the paper's future work
(Ardi, Heidemann 2014, appendix B: "collapsing case and whitespace").

L_expert is made of the site as it was, once of raw and once of text chunks; copies of all its pages
are re-rendered and looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np

from reusewatch.detector.mean_and_deviation import PAPER_PAGES
from reusewatch.detector.sketching.chunks import Chunks
from tests.experiments.corpus import UNITS, chunks_of, corpus
from tests.experiments.curves import count_in
from tests.experiments.datasets import Labeled, expert, stop_chunks
from tests.experiments.report import Experiment, Panel, Row, Series, plot, write_table
from tests.experiments.rerendering import Style, rerender

NAME = "rerendered"
_INTENSITIES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
_QUICK_INTENSITIES = (0.0, 0.1, 1.0)
# What text normalization is made for: nothing of it is a word, or a boundary of blocks.
_NORMALIZED = ("spaces", "tag_case", "attributes", "letters")


def styles() -> dict[str, Style]:
    """As it is; each thing alone; and, one after the other, all of them."""
    names = Style.names()
    alone = {name: Style(**{name: True}) for name in names}
    summed = accumulate(([name] for name in names[1:]), lambda a, b: a + b, initial=[names[0]])
    together = {
        f"… + {found[-1]}": Style(**dict.fromkeys(found, True)) for found in summed if found[1:]
    }
    return {"as it is": Style(), **alone, **together}


def _figures(pages: Sequence[bytes], labeled: Sequence[Labeled], was: Sequence[Chunks]) -> Row:
    """Average contains, pages over the threshold, and what of the site's chunks is there still."""
    row: Row = {}
    for unit, one, before in zip(UNITS, labeled, was, strict=True):
        hashes = chunks_of(pages, unit).hashes
        ratios = count_in(hashes, one).ratios
        known = before.hashes.values[~stop_chunks().has_chunks(before.hashes.values)]
        row |= {
            f"{unit}_contains": float(ratios.mean()),
            f"{unit}_detected": float((ratios > PAPER_PAGES).mean()),
            f"{unit}_found": float(np.isin(known, hashes.values).mean()),
        }
    return row


def run(output: Path, quick: bool) -> list[Row]:
    """A row for each style; another table for how much of a page is touched."""
    site = corpus(quick).site
    was = [chunks_of(site, unit) for unit in UNITS]
    labeled = [expert("expert", one, output, min_length=0) for one in was]
    rows = []
    for name, style in styles().items():
        pages = [rerender(page, style) for page in site]
        rows.append({"rerendered": name} | _figures(pages, labeled, was))
    touched = []
    style = Style(**dict.fromkeys(_NORMALIZED, True))
    for intensity in _QUICK_INTENSITIES if quick else _INTENSITIES:
        pages = [rerender(p, style, intensity=intensity, seed=n) for n, p in enumerate(site)]
        touched.append({"touched": intensity} | _figures(pages, labeled, was))
    write_table(touched, output / f"{NAME}_touched")
    plot([_style_panel(rows), _touched_panel(touched)], output / NAME)
    return rows


def _style_panel(rows: Sequence[Row]) -> Panel:
    steps = [row for row in rows if row["rerendered"].startswith(("as", "spaces", "…"))]
    series = [
        Series(f"{unit}, {figure}", list(range(len(steps))),
               [row[f"{unit}_{figure}"] for row in steps])
        for unit in UNITS for figure in ("contains", "detected")
    ]  # fmt: skip
    names = ", ".join(Style.names())
    return Panel(
        "Re-rendered copies, one thing after the other", f"things done: {names}", "share", series,
        {f"threshold {PAPER_PAGES}": PAPER_PAGES},
    )  # fmt: skip


def _touched_panel(rows: Sequence[Row]) -> Panel:
    x = [max(row["touched"], 1e-4) for row in rows]
    series = [
        Series(f"{unit}, {figure}", x, [row[f"{unit}_{figure}"] for row in rows])
        for unit in UNITS for figure in ("contains", "detected")
    ]  # fmt: skip
    return Panel(
        "Case, white space and attributes", "share of tags and texts that are touched", "share",
        series, {f"threshold {PAPER_PAGES}": PAPER_PAGES}, logarithmic="x",
    )  # fmt: skip


EXPERIMENT = Experiment(NAME, run)
