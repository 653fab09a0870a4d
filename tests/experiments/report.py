"""What an experiment is, and how its results are written: a table for people, one for scripts, and
a plot where matplotlib is installed.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A question, asked by `run(output, quick)`; its rows are the answer in short.

    Whatever else it writes goes below `output`. `quick` is for tests: made-up pages, two runs.
    """

    name: str
    run: Callable[[Path, bool], list[Row]]


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a plot; `marks` without a line, as "o" or "^"."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    marks: str = ""
    color: str | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One of the plots side by side; `levels` and `places` are dotted lines with their names."""

    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    levels: Mapping[str, float] = field(default_factory=dict)
    places: Mapping[str, float] = field(default_factory=dict)
    logarithmic: str = ""


def write_table(rows: Sequence[Row], path: Path) -> None:
    """The rows as `path` with the suffixes .csv and .md; columns as in the first row."""
    names = list(rows[0]) if rows else []
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    lines = [_line(names), _line(["---"] * len(names))]
    lines += [_line([shown(row[name]) for name in names]) for row in rows]
    path.with_suffix(".md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def shown(value: object) -> str:
    """A cell as people read it.

    >>> shown(0.123456), shown(1234.5), shown(None), shown("text")
    ('0.123', '1234.5', '–', 'text')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.1f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value)


def show(name: str, rows: Sequence[Row]) -> None:
    """The rows on the terminal."""
    table = Table(title=name)
    for column in rows[0] if rows else ():
        table.add_column(column)
    for row in rows:
        table.add_row(*map(shown, row.values()))
    # Wider than some terminals: a table that is cut cannot be read at all.
    Console(width=16 * max(len(table.columns), 5)).print(table)


def plot(panels: Sequence[Panel], path: Path) -> bool:
    """The panels as `path` with the suffix .png; False, and a line that says so, without
    matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        say(f"no plot {path.with_suffix('.png')}: matplotlib is not installed "
            "(pip install -r tests/experiments/requirements.txt)")  # fmt: skip
        return False
    figure = Figure(figsize=(6 * len(panels), 4.5), layout="constrained")
    for panel, axes in zip(panels, figure.subplots(1, len(panels), squeeze=False)[0], strict=True):
        _draw(panel, axes)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".png"), dpi=100)
    return True


def _draw(panel: Panel, axes: Any) -> None:
    for one in panel.series:
        style = {"marker": one.marks, "linestyle": "none"} if one.marks else {}
        axes.errorbar(one.x, one.y, yerr=one.error, label=one.name, color=one.color,
                      markersize=4, **style)  # fmt: skip
    for name, y in panel.levels.items():
        axes.axhline(y, color="red", linestyle=":", label=name)
    for name, x in panel.places.items():
        axes.axvline(x, color="red", linestyle=":", label=name)
    if "x" in panel.logarithmic:
        axes.set_xscale("log")
    if "y" in panel.logarithmic:
        axes.set_yscale("log")
    axes.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(fontsize="small")


def say(text: str) -> None:
    """A line for people, beside the tables."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201
