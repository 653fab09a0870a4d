"""The tables of `deploy/README.md`, made from the code: settings, metrics, events.

`make docs` writes them between their markers; a test keeps them current.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from reusewatch.streams.running.crawl_metrics import DECLARED, DROPS
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.settings import described
from reusewatch.streams.stages.events import EVENTS, FINDINGS

FILE = Path(__file__).resolve().parents[2] / "deploy" / "README.md"


def metrics() -> str:
    """Every metric of a worker, but those of Python and of the process."""
    rows = ["| metric | type | labels | meaning |", "| --- | --- | --- | --- |"]
    for one in (*Meters("", "").declared, *DECLARED):
        # Every metric has the stage that it is of: the text says so once.
        labels = ", ".join(f"`{name}`" for name in one.labels if name != "stage")
        rows.append(f"| `{one.name}` | {one.kind} | {labels} | {one.meaning} |")
    return "\n".join(rows) + "\n"


def events() -> str:
    """The names that `reusewatch_events_total` has as its label `event`."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in EVENTS.items()]
    return "\n".join(["| event | meaning |", "| --- | --- |", *rows]) + "\n"


def findings() -> str:
    """The names that `reusewatch_findings_total` has as its label `finding`."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in FINDINGS.items()]
    return "\n".join(["| finding | a page counts where |", "| --- | --- |", *rows]) + "\n"


def drops() -> str:
    """The names that `reusewatch_crawl_drops_total` has as its label `reason`."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in DROPS.items()]
    return "\n".join(["| reason | dropped since |", "| --- | --- |", *rows]) + "\n"


TABLES: Mapping[str, Callable[[], str]] = {
    "settings": described.markdown,
    "metrics": metrics,
    "events": events,
    "findings": findings,
    "drops": drops,
}


def current(text: str) -> str:
    """The text, with each table as the code has it now."""
    for name, table in TABLES.items():
        text = replaced(text, name, table())
    return text


def replaced(text: str, name: str, table: str) -> str:
    """The text with another table of this name."""
    begin, end = f"<!-- {name}: written by make docs -->\n", f"<!-- end of {name} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the text has no place for {name}: put {begin}{end}into it once")
    inside = re.escape(begin) + ".*?" + re.escape(end)
    made = begin + table + end
    return re.sub(inside, made.replace("\\", r"\\"), text, flags=re.S)


def main(file: Path = FILE) -> None:
    """Write the tables of the file anew."""
    file.write_text(current(file.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
