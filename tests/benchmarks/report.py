"""The results, for people as a table and for scripts as JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from tests.benchmarks.clock import cores
from tests.benchmarks.corpus import Facts
from tests.benchmarks.rows import Row

PACKAGES = (
    "reusewatch", "fastwarc", "resiliparse", "kafka-python", "numpy", "numba", "pyarrow",
    "msgspec", "xxhash",
)  # fmt: skip


def machine() -> dict[str, Any]:
    """What it was measured on."""
    return {
        "cpu": _cpu_model(),
        "cores": len(cores()),
        "load": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def results(
    rows: Sequence[Row],
    steps: Mapping[str, float],
    facts: Facts,
    about: Mapping[str, Any],
    failed: Mapping[str, str],
) -> dict[str, Any]:
    """The whole, as it is written."""
    return {
        "corpus": asdict(facts),
        "machine": about,
        "results": [_result(row) for row in rows],
        "steps": {"unit": "µs/page", **steps} if steps else None,
        "failed": dict(failed),
    }


def _result(row: Row) -> dict[str, Any]:
    budget = row.budget
    return {
        "name": row.name,
        "value": row.value,
        "unit": row.unit,
        "budget": budget.value if budget else None,
        "bound": budget.bound if budget else None,
        "held": budget.held(row.value) if budget else None,
        "detail": row.detail,
    }


def write(found: Mapping[str, Any], path: Path) -> None:
    """As JSON; the file is whole at any time."""
    partial = path.with_suffix(".partial")
    partial.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    partial.replace(path)


def show(found: Mapping[str, Any]) -> None:
    """As tables on stdout; without colours and lines where that is a file or a pipe."""
    console = Console(highlight=False, soft_wrap=True)
    corpus = found["corpus"]
    console.print(
        f"{corpus['kind']}: {corpus['pages']} pages, {corpus['html_bytes'] / 1e6:.1f} MB, "
        f"{corpus['copies']} of them copies"
    )
    console.print(_rows(found["results"], plain=not console.is_terminal))
    for name, reason in found["failed"].items():
        console.print(f"{name}: not measured: {reason.splitlines()[0]}", markup=False)
    for title, taken in _all_steps(found):
        console.print(_steps(title, taken, plain=not console.is_terminal))


def _table(*columns: str, plain: bool) -> Table:
    table = Table(box=None) if plain else Table()
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number in (0, 2) else "right", no_wrap=True)
    return table


def _rows(rows: Sequence[Mapping[str, Any]], *, plain: bool) -> Table:
    table = _table("name", "value", "unit", "budget", "", plain=plain)
    for row in rows:
        sign = {"at most": "≤", "at least": "≥", None: ""}[row["bound"]]
        budget = f"{sign} {row['budget']:g}" if row["budget"] is not None else ""
        verdict = {True: "held", False: "missed", None: ""}[row["held"]]
        table.add_row(row["name"], figure(row["value"]), row["unit"], budget, verdict)
    return table


def _all_steps(found: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for row in found["results"]:
        if steps := row["detail"].get("steps"):
            yield f"step of {row['name']}", steps
    if found["steps"]:
        yield "step of the local path", found["steps"]


def _steps(title: str, steps: Mapping[str, Any], *, plain: bool) -> Table:
    table = _table(title, "µs/page", plain=plain)
    times = {name: value for name, value in steps.items() if name != "unit"}
    for name, value in times.items():
        table.add_row(name, f"{value:.1f}")
    table.add_row("all", f"{sum(times.values()):.1f}")
    return table


def figure(value: float) -> str:
    """Three digits that mean something.

    >>> figure(21937.3), figure(0.68), figure(45.58)
    ('21,900', '0.68', '45.6')
    """
    if abs(value) >= 1000:
        digits = 3 - len(str(int(abs(value))))
        return f"{round(value, digits):,.0f}"
    return f"{value:.3g}"
