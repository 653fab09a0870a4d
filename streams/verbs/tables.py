"""The tables of the READMEs, made from the code: kinds of alerts, settings, metrics, events.

`make docs` writes them between their markers; a test keeps them current.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.running.crawl_metrics import DECLARED, DROPS, STEERED
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.settings import described
from reusewatch.streams.stages.events import EVENTS, FINDINGS

_METRIC = re.compile(r"(?<![:\w])reusewatch_\w+")
_OF_HISTOGRAMS = re.compile(r"_(?:bucket|sum|count)$")
_RULE = re.compile(r"- (?:alert|record): (\S+)\n +expr: (.+)")
ROOT = Path(__file__).resolve().parents[2]


def metrics() -> str:
    """Every metric of a worker, but those of Python and of the process; with who looks at it."""
    users = seen_in()
    rows = ["| metric | type | labels | meaning | seen in |", "| --- | --- | --- | --- | --- |"]
    for one in (*Meters("", "").declared, *DECLARED):
        # Every metric has the stage that it is of: the text says so once.
        labels = ", ".join(f"`{name}`" for name in one.labels if name != "stage")
        seen = "; ".join(users.get(one.name, ()))
        rows.append(f"| `{one.name}` | {one.kind} | {labels} | {one.meaning} | {seen} |")
    return "\n".join(rows) + "\n"


def seen_in() -> dict[str, list[str]]:
    """The rules and the panels that name each metric."""
    found: dict[str, list[str]] = {}
    for user, expr in (*_rules(), *_panels()):
        for name in dict.fromkeys(_METRIC.findall(expr)):
            users = found.setdefault(_OF_HISTOGRAMS.sub("", name), [])
            if user not in users:
                users.append(user)
    return found


def _rules() -> Iterator[tuple[str, str]]:
    for file in sorted((ROOT / "deploy" / "prometheus").glob("*ing.yml")):
        for name, expr in _RULE.findall(file.read_text("utf-8")):
            yield f"`{name}`", expr


def _panels() -> Iterator[tuple[str, str]]:
    for file in sorted((ROOT / "deploy" / "grafana").glob("*.json")):
        dashboard = json.loads(file.read_text("utf-8"))
        title = dashboard["title"].removeprefix("reusewatch / ")
        for panel in dashboard["panels"]:
            for target in panel.get("targets", ()):
                yield f"*{title}*: {panel['title']}", target["expr"]


def kinds() -> str:
    """Every kind of alert: its subject, what it says, its figure, its severity."""
    rows = [
        "| kind | it says | `figure` | unit | severity |", "| --- | --- | --- | --- | --- |"
    ]  # fmt: skip
    for one in KINDS.values():
        severity = f"`{one.severity}`" + (f"; {one.raised}" if one.raised else "")
        rows.append(f"| `{one.name}` | {one.meaning} | … {one.counts} | {one.unit} | {severity} |")
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


def steered() -> str:
    """The names that `reusewatch_crawl_steered_total` has as its label `done`."""
    rows = [f"| `{name}` | {meaning} |" for name, meaning in STEERED.items()]
    return "\n".join(["| done | what became of the request |", "| --- | --- |", *rows]) + "\n"


_UNITS = {
    "pages": "how many",
    "share": "the share",
}
TABLES: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "detector/README.md": {"kinds": kinds},
    "deploy/README.md": {
        "settings": described.markdown,
        "metrics": metrics,
        "events": events,
        "findings": findings,
        "drops": drops,
        "steered": steered,
    },
}


def current(text: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """The text, with each table as the code has it now."""
    for name, table in tables.items():
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


def main(root: Path = ROOT) -> None:
    """Write the tables of the READMEs anew."""
    for name, tables in TABLES.items():
        file = root / name
        file.write_text(current(file.read_text("utf-8"), tables), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
