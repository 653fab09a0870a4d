"""The pieces of a dashboard, as Grafana's classic JSON has them (its file provisioning takes no
other): panels in a grid of 24 columns, each with a unit, legends and a description.

Each selector of a query is narrowed to the jobs and instances that are chosen above the panels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

COLUMNS = 24
SCHEMA = 39
Json = dict[str, Any]
_DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
_CHOSEN = 'job=~"$job", instance=~"$instance"'
_SELECTOR = re.compile(r"(?<![\w:])((?:reusewatch|process)_\w+)(?:\{([^}]*)\})?")


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and how a line of the answer is called."""

    expr: str
    legend: str = "__auto"

    @property
    def narrowed(self) -> str:
        """Of the jobs and instances that are chosen.

        >>> Query('rate(reusewatch_pages_total{stage="index"}[5m])').narrowed
        'rate(reusewatch_pages_total{job=~"$job", instance=~"$instance", stage="index"}[5m])'
        """
        return _SELECTOR.sub(_narrow, self.expr)


def _narrow(found: re.Match[str]) -> str:
    more = f", {found[2]}" if found[2] else ""
    return f"{found[1]}{{{_CHOSEN}{more}}}"


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture. `most`: the end of its axis."""

    title: str
    description: str
    unit: str
    queries: Sequence[Query]
    kind: Literal["timeseries", "stat", "bargauge"] = "timeseries"
    width: int = 12
    height: int = 8
    most: float | None = None
    stacked: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """Panels under one heading."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page of panels."""

    uid: str
    title: str
    description: str
    rows: Sequence[Row]


def as_json(dashboard: Dashboard) -> Json:
    """A dashboard as Grafana loads it from a file."""
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.description,
        "tags": ["reusewatch"],
        "editable": False,
        "graphTooltip": 1,
        "schemaVersion": SCHEMA,
        "version": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "utc",
        "annotations": {"list": []},
        "links": [_link()],
        "templating": {"list": list(_variables())},
        "panels": list(_placed(dashboard.rows)),
    }


def _link() -> Json:
    return {
        "title": "reusewatch", "type": "dashboards", "tags": ["reusewatch"], "asDropdown": False,
        "includeVars": True, "keepTime": True, "targetBlank": False, "icon": "external link",
        "tooltip": "", "url": "",
    }  # fmt: skip


def _variables() -> Iterator[Json]:
    yield {
        "name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus",
        "multi": False, "includeAll": False, "hide": 0, "refresh": 1, "regex": "",
    }  # fmt: skip
    yield _variable("job", "Job", "label_values(process_start_time_seconds, job)", "reusewatch")
    instances = 'label_values(process_start_time_seconds{job=~"$job"}, instance)'
    yield _variable("instance", "Instance", instances, None)


def _variable(name: str, label: str, query: str, first: str | None) -> Json:
    chosen = {"text": first, "value": first} if first else {"text": "All", "value": "$__all"}
    return {
        "name": name, "label": label, "type": "query", "datasource": _DATASOURCE,
        "query": {"query": query, "refId": "Variable"}, "refresh": 2,
        "multi": True, "includeAll": True, "allValue": ".+", "sort": 1, "hide": 0, "regex": "",
        "current": {key: [value] for key, value in chosen.items()},
    }  # fmt: skip


def _placed(rows: Sequence[Row]) -> Iterator[Json]:
    numbers, top = count(1), 0
    for row in rows:
        yield {
            "id": next(numbers), "type": "row", "title": row.title, "collapsed": False,
            "panels": [], "gridPos": {"x": 0, "y": top, "w": COLUMNS, "h": 1},
        }  # fmt: skip
        top, left, tallest = top + 1, 0, 0
        for panel in row.panels:
            if left + panel.width > COLUMNS:
                top, left, tallest = top + tallest, 0, 0
            place = {"x": left, "y": top, "w": panel.width, "h": panel.height}
            yield {"id": next(numbers), "gridPos": place, **_panel(panel)}
            left, tallest = left + panel.width, max(tallest, panel.height)
        top += tallest


def _panel(panel: Panel) -> Json:
    return {
        "type": panel.kind,
        "title": panel.title,
        "description": panel.description,
        "datasource": _DATASOURCE,
        "targets": [
            _target(query, "ABCDEFGH"[at], instant=panel.kind != "timeseries")
            for at, query in enumerate(panel.queries)
        ],
        "fieldConfig": {"defaults": _defaults(panel), "overrides": []},
        "options": _options(panel),
    }


def _target(query: Query, letter: str, *, instant: bool) -> Json:
    return {
        "refId": letter, "datasource": _DATASOURCE, "expr": query.narrowed,
        "legendFormat": query.legend, "instant": instant, "range": not instant,
    }  # fmt: skip


def _defaults(panel: Panel) -> Json:
    found: Json = {"unit": panel.unit, "min": 0}
    if panel.most is not None:
        found["max"] = panel.most
    if panel.kind == "timeseries":
        found["custom"] = {
            "lineWidth": 1,
            "fillOpacity": 25 if panel.stacked else 5,
            "showPoints": "never",
            "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
        }
    return found


def _options(panel: Panel) -> Json:
    if panel.kind == "timeseries":
        legend = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
        return {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}}
    shown: Json = {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}
    if panel.kind == "stat":
        return shown | {"colorMode": "none", "graphMode": "none", "textMode": "value_and_name"}
    return shown | {"orientation": "horizontal", "displayMode": "basic"}
