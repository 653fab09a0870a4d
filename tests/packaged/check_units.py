"""The units, by systemd's own tools; `make packaged` runs this."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.command import ROOT

UNITS = ROOT / "deploy" / "systemd"
# An instance of each template.
INSTANCES = {"reusewatch@.service": "index", "reusewatch-fingerprint@.service": "9463"}
# Of ten; from 5 on systemd calls it exposed.
MOST_EXPOSED = 4.0


def instance(template: str, directory: Path) -> Path:
    """The unit, with a program that is there: it is not installed here."""
    text = (UNITS / template).read_text("utf-8")
    assert text.count("/opt/reusewatch/bin/reusewatch") == 1
    unit = directory / template.replace("@", f"@{INSTANCES[template]}")
    unit.write_text(text.replace("/opt/reusewatch/bin/reusewatch", "/bin/true"), "utf-8")
    return unit


def analyzed(*words: object) -> str:
    """What systemd says of it."""
    done = subprocess.run(
        ["systemd-analyze", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_each_has_an_instance() -> None:
    assert {unit.name for unit in UNITS.iterdir()} == set(INSTANCES)


@pytest.mark.parametrize("template", INSTANCES)
def test_systemd_has_nothing_to_say_against_it(template: str, tmp_path: Path) -> None:
    assert analyzed("verify", instance(template, tmp_path)) == ""


@pytest.mark.parametrize("template", INSTANCES)
def test_it_may_do_little(template: str, tmp_path: Path) -> None:
    told = analyzed("security", "--offline=true", "--no-pager", instance(template, tmp_path))
    level = re.search(r"Overall exposure level for \S+: ([\d.]+)", told)
    assert level is not None
    assert float(level[1]) < MOST_EXPOSED
