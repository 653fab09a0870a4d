"""The dashboards, by the rules of Grafana's dashboard-linter and some of our own.

That every query has an answer is seen with a real Prometheus, in `test_stack`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from deploy.watching import __main__ as writing
from reusewatch.streams.running.crawl_metrics import DECLARED
from reusewatch.streams.running.metrics import Meters

FILES = sorted((writing.DEPLOY / "grafana").glob("*.json"))
DASHBOARDS = [json.loads(file.read_text("utf-8")) for file in FILES]
# Those of Grafana's units that are used: a name that it does not know is shown as a suffix.
UNITS = {"short", "percentunit", "s", "bytes", "Bps", "ops", "cpm"}
SELECTOR = re.compile(r"(?<![\w:])((?:reusewatch|process)_\w+)(\{[^}]*\})?")


def panels() -> Iterator[Any]:
    for dashboard in DASHBOARDS:
        for panel in dashboard["panels"]:
            if panel["type"] != "row":
                yield pytest.param(panel, id=f"{dashboard['uid']}-{panel['id']}")


def test_there_are_three() -> None:
    assert [file.stem for file in FILES] == ["findings", "index-and-labels", "stream-health"]
    assert len({dashboard["uid"] for dashboard in DASHBOARDS}) == len(FILES)


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda one: str(one["uid"]))
def test_a_dashboard(dashboard: Any) -> None:
    assert dashboard["title"].startswith("reusewatch / ")
    assert dashboard["description"].endswith(".")
    assert dashboard["editable"] is False
    # The schema of before Grafana's "v2", which file provisioning refuses.
    assert isinstance(dashboard["schemaVersion"], int)
    assert "apiVersion" not in dashboard
    (link,) = dashboard["links"]
    assert (link["type"], link["includeVars"], link["keepTime"]) == ("dashboards", True, True)
    assert set(link["tags"]) <= set(dashboard["tags"])
    source, *others = dashboard["templating"]["list"]
    assert (source["name"], source["type"], source["query"], source["label"]) == (
        "datasource", "datasource", "prometheus", "Data source",
    )  # fmt: skip
    assert [one["name"] for one in others] == ["job", "instance"]
    for one in others:
        assert one["datasource"]["uid"] == "${datasource}"
        assert (one["multi"], one["includeAll"], one["allValue"], one["refresh"]) == (
            True, True, ".+", 2,
        )  # fmt: skip
        assert one["query"]["query"].startswith("label_values(")


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda one: str(one["uid"]))
def test_panels_stand_beside_each_other(dashboard: Any) -> None:
    ids = Counter(panel["id"] for panel in dashboard["panels"])
    assert set(ids.values()) == {1}
    taken: Counter[tuple[int, int]] = Counter()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        assert 0 <= place["x"] <= place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            taken.update((x, y) for y in range(place["y"], place["y"] + place["h"]))
    assert set(taken.values()) == {1}


@pytest.mark.parametrize("panel", list(panels()))
def test_a_panel(panel: Any) -> None:
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["datasource"]["uid"] == "${datasource}"
    assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
    letters = [target["refId"] for target in panel["targets"]]
    assert letters
    assert len(set(letters)) == len(letters)
    declared = {one.name: one.kind for one in (*Meters("", "").declared, *DECLARED)}
    for target in panel["targets"]:
        assert target["datasource"]["uid"] == "${datasource}"
        assert target["legendFormat"] not in ("", "__auto")
        expr = target["expr"]
        assert expr.count("(") == expr.count(")")
        # Steps of the picture, and no shorter than a scrape: a fixed range shows holes or noise.
        assert set(re.findall(r"\[(.+?)\]", expr)) <= {"$__rate_interval", "$__range"}
        assert ("$__range" in expr) <= (panel["type"] != "timeseries")
        for found in SELECTOR.finditer(expr):
            name, narrowed = found[1], found[2] or ""
            assert 'job=~"$job"' in narrowed
            assert 'instance=~"$instance"' in narrowed
            base = name.removesuffix("_bucket")
            assert base in declared or name.startswith("process_")
            if name.endswith(("_total", "_bucket")):
                before = expr[: found.start()].rstrip()
                assert re.search(r"(rate|increase)\($", before), f"{name} is not a rate"
        for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
            by = re.findall(r"by \(([^)]*)\)", expr)
            assert not by or any(label in labels.split(", ") for labels in by), label
