"""Dockerfile, compose file, units and chart name what there is: settings, stages, files, ports."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from jsonschema import Draft7Validator
from typer.testing import CliRunner

from reusewatch.crawler.cli import app
from reusewatch.streams.running.stage_names import STAGES
from reusewatch.streams.settings import Settings, described
from tests.command import ROOT

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "reusewatch"
FILES = [
    DEPLOY / "Dockerfile", DEPLOY / "compose.yaml", *(DEPLOY / "systemd").iterdir(),
    *CHART.rglob("*.yaml"), *CHART.rglob("*.tpl"),
]  # fmt: skip
TEXT = {file: file.read_text("utf-8") for file in FILES}
SCHEMA = json.loads((CHART / "values.schema.json").read_text("utf-8"))


def test_settings_are_those_that_there_are() -> None:
    named = {name for text in TEXT.values() for name in re.findall(r"REUSEWATCH_([A-Z_]+)\b", text)}
    assert len(named) > 8
    # Of the chart's `settings`, upper case is made when it is rendered.
    assert {name.lower() for name in named - {""}} <= set(Settings.__struct_fields__)


def test_stages_are_those_that_there_are() -> None:
    compose = TEXT[DEPLOY / "compose.yaml"]
    assert set(re.findall(r"command: \[work, (\w+)\]", compose)) == set(STAGES)
    templates = "".join(text for file, text in TEXT.items() if file.parent.name == "templates")
    assert all(f'"{stage}"' in templates for stage in STAGES)
    units = "".join(text for file, text in TEXT.items() if file.suffix == ".service")
    assert {stage for stage in STAGES if f"reusewatch@{stage}" in units} == set(STAGES)


def test_commands_are_real() -> None:
    """Read as the command line reads them; `--help` keeps them from being done."""
    compose = TEXT[DEPLOY / "compose.yaml"]
    commands = [
        [word.strip(' "') for word in found.split(",")]
        for found in re.findall(r"command: \[(\w[^\]]*)\]", compose)
    ]
    for file in (DEPLOY / "systemd").iterdir():
        (line,) = re.findall(r"^ExecStart=\S+ (.+)$", TEXT[file], re.M)
        instance = "9463" if "fingerprint@" in file.name else "index"
        commands.append(line.replace("%i", instance).split())
    assert len(commands) == 8
    for words in commands:
        asked = CliRunner().invoke(app, [*words, "--help"])
        assert asked.exit_code == 0, asked.output


def test_what_is_mounted_and_copied_is_there() -> None:
    compose = TEXT[DEPLOY / "compose.yaml"]
    mounted = re.findall(r"- (\./[\w/]+):", compose)
    assert mounted
    assert [path for path in mounted if not (DEPLOY / path).is_dir()] == []
    assert (DEPLOY / "prometheus" / "compose.yml").exists()
    copied = {
        name
        for line in re.findall(r"^COPY ((?!--).+) \S+$", TEXT[DEPLOY / "Dockerfile"], re.M)
        for name in line.split()
    }
    sent = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8")
    assert copied == set(re.findall(r"^!(\S+)$", sent, re.M))
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_versions_are_the_project_s() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"appVersion: {project}\n" in TEXT[CHART / "Chart.yaml"]
    assert f"image: reusewatch:{project}\n" in TEXT[DEPLOY / "compose.yaml"]


def test_the_chart_s_values_have_a_schema() -> None:
    Draft7Validator.check_schema(SCHEMA)
    values = TEXT[CHART / "values.yaml"]
    top = set(re.findall(r"^(\w+):", values, re.M))
    assert top == set(SCHEMA["properties"]) - {"global"}
    used = set(re.findall(r"\.Values\.(\w+)", "".join(TEXT.values())))
    assert used <= top
    # A broker has to be named: the default is refused.
    bus = SCHEMA["properties"]["kafka"]["properties"]["bus"]
    assert [Draft7Validator(bus).is_valid(one) for one in ("", "kafka://a:1,b:2")] == [False, True]


def test_secrets_are_no_plain_values() -> None:
    refused = SCHEMA["properties"]["settings"]["propertyNames"]["not"]["enum"]
    assert set(refused) == described.SECRETS


def test_every_alert_and_panel_finds_the_job() -> None:
    for name in ("prometheus.yml", "compose.yml"):
        text = (DEPLOY / "prometheus" / name).read_text("utf-8")
        assert re.findall(r"job_name: (\S+)", text) == ["reusewatch"]
    assert Path(DEPLOY / "grafana" / "provisioning" / "datasources" / "prometheus.yml").exists()
