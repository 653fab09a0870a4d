"""The process that judges works under the settings of the process that started it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reusewatch.streams.running.judge_process import LOG, JudgeProcess
from reusewatch.streams.settings import Settings, resolve

SECRET = "0xfeedfacecafebeef"


def config_of_child(
    settings: Settings, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The settings in force in a child, which shows them instead of judging."""
    command = (sys.executable, "-P", "-m", "reusewatch.crawler", "config", "--json")
    monkeypatch.setattr(JudgeProcess, "COMMAND", command)
    judge = JudgeProcess(settings, directory, print)
    judge.tend()
    assert judge._child is not None
    assert judge._child.wait(60) == 0, (directory / LOG).read_text()
    said = (directory / LOG).read_text()
    assert SECRET not in said
    return {row["name"]: row["value"] for row in map(json.loads, said.splitlines())}


def test_it_takes_nothing_from_files_and_variables_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reusewatch.toml").write_text('owned = ["x.example"]\nwindow_seconds = 60\n')
    (tmp_path / "other.toml").write_text('archive_roots = ["/data/a,b"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REUSEWATCH_ALLOWED", "y.example")
    wanted = resolve(environ={}, file=Path("other.toml")).settings
    found = config_of_child(wanted, tmp_path, monkeypatch)
    assert found["owned"] == []
    assert found["allowed"] == []
    assert found["window_seconds"] is None
    assert found["archive_roots"] == ["/data/a,b"]


def test_it_has_every_setting_and_shows_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = tuple(f"site-{number}.example" for number in range(20_000))
    wanted = Settings(hash_key=SECRET, kafka_password=SECRET, owned=many, workers=3)
    found = config_of_child(wanted, tmp_path, monkeypatch)
    assert found["owned"] == list(many)
    assert found["workers"] == 3
    assert found["hash_key"] == found["kafka_password"] == "(secret)"
