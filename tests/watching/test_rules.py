"""The rules: current, sound by Prometheus's own tool, each seen to fire and to be silent."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from deploy.watching import __main__ as writing
from deploy.watching import written
from deploy.watching.rules import ALERTING, RECORDED, RUNBOOK, Alerting
from reusewatch.streams.running.crawl_metrics import DECLARED
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.verbs import tables
from tests.command import ROOT
from tests.monitors import program
from tests.watching.cases import CASES, LONG, Case, Series

DEPLOY = ROOT / "deploy"
_LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")


def run(*command: object) -> str:
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_what_is_published_is_current() -> None:
    found = {name: (DEPLOY / name).read_text("utf-8") for name in writing.FILES}
    assert found == {name: made() for name, made in writing.FILES.items()}, "run `make docs`"
    text = (DEPLOY / "README.md").read_text("utf-8")
    assert tables.replaced(text, "runbook", written.runbook()) == text, "run `make docs`"


def test_what_prometheus_and_alertmanager_read_is_sound() -> None:
    # It reads the rules too.
    for name in ("prometheus.yml", "compose.yml"):
        run(program("promtool"), "check", "config", DEPLOY / "prometheus" / name)
    run(program("amtool"), "check-config", DEPLOY / "alertmanager" / "alertmanager.yml")


def seen(
    rule: Alerting, series: Series, case: Case, fires: tuple[dict[str, str], ...], every: str
) -> Any:
    return {
        "interval": every,
        "input_series": [{"series": name, "values": given} for name, given in series.items()],
        "alert_rule_test": [
            {
                "eval_time": case.at,
                "alertname": rule.name,
                "exp_alerts": [expected(rule, labels) for labels in fires],
            }
        ],
    }


def expected(rule: Alerting, labels: dict[str, str]) -> Any:
    summary = _LABEL.sub(lambda found: labels[found[1]], rule.summary)
    return {
        "exp_labels": labels | {"severity": rule.severity, "team": rule.team},
        "exp_annotations": {
            "summary": summary.replace("{{ $value }}", "2"),
            "description": rule.description,
            "runbook_url": rule.runbook_url,
        },
    }


@pytest.mark.parametrize(("cases", "every"), [(CASES, "1m"), (LONG, "10m")])
def test_each_rule_fires_and_is_silent(
    tmp_path: Path, cases: Mapping[str, Case], every: str
) -> None:
    tests = []
    for rule in (rule for rule in ALERTING if rule.name in cases):
        case = cases[rule.name]
        assert case.firing
        assert case.fires
        assert case.silent
        tests.append(seen(rule, case.firing, case, case.fires, every))
        # … and where nothing comes at all, and nothing ever came.
        silent = [case.silent, {}, *([case.missing] if case.missing else ())]
        tests += [seen(rule, series, case, (), every) for series in silent]
    files = [str(DEPLOY / name) for name in writing.FILES if name.startswith("prometheus/")]
    file = tmp_path / "tests.json"  # which is YAML as well
    wanted = {
        "rule_files": files, "evaluation_interval": every, "tests": tests,
        # Else alerting rules may see what was recorded ten minutes ago, which is too old.
        "group_eval_order": ["reusewatch.recording", "reusewatch.alerting"],
    }  # fmt: skip
    file.write_text(json.dumps(wanted), "utf-8")
    run(program("promtool"), "test", "rules", file)


def test_no_rule_is_without_a_case() -> None:
    assert [*CASES, *LONG] == [rule.name for rule in ALERTING]


def test_each_rule_names_metrics_that_there_are() -> None:
    declared = {one.name for one in (*Meters("", "").declared, *DECLARED)}
    told = {one.name for one in RECORDED}
    for rule in (*RECORDED, *ALERTING):
        named = set(re.findall(r"(?<![:\w])reusewatch_\w+", rule.expr))
        assert named <= declared, rule.name
        assert set(re.findall(r"\w+:\w+:\w+", rule.expr)) <= told, rule.name
        assert named or ":" in rule.expr or rule.name == "ReusewatchDown"


def test_each_rule_has_its_section() -> None:
    text = (ROOT / RUNBOOK).read_text("utf-8")
    anchors = {line[4:].strip().lower() for line in text.splitlines() if line.startswith("### ")}
    for rule in ALERTING:
        file, _, anchor = rule.runbook_url.partition("#")
        assert (file, anchor in anchors) == (RUNBOOK, True)
