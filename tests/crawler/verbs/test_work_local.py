"""`work local` says what changes as other workers do, and who started it is told why it ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reusewatch.streams.running.judge_process import _why
from tests.command import run


@pytest.mark.parametrize("form", ["plain", "json"])
def test_a_judge_says_when_it_begins_and_ends(tmp_path: Path, form: str) -> None:
    done = run("work", "local", "--bus", "local:bus", "--log-format", form, cwd=tmp_path)
    assert (done.code, done.out) == (0, "")
    lines = done.err.splitlines()
    if form == "json":
        told = [json.loads(line) for line in lines if line.startswith("{")]
        assert [(one["stage"], one["event"]) for one in told] == [
            ("local", "started"), ("local", "stopped"),
        ]  # fmt: skip
    else:
        assert [line.split(" ", 2)[1:2] for line in (lines[0], lines[-1])] == [["info"]] * 2
        assert lines[0].endswith("local: at work on local:bus")


@pytest.mark.parametrize("form", ["plain", "json"])
def test_why_it_ended_is_told_to_who_started_it(tmp_path: Path, form: str) -> None:
    (tmp_path / "bus").write_text("")
    done = run("work", "local", "--bus", "local:bus", "--log-format", form, cwd=tmp_path)
    assert done.code == 3
    why = _why(done.err.splitlines()[-1])
    assert why.startswith("bus")
    assert "Z error local" not in why


def test_a_line_of_nobodys_is_told_as_it_is() -> None:
    lines = {"Killed": "Killed", "reusewatch: no": "no", "[1]": "[1]", "": ""}
    assert {line: _why(line) for line in lines} == lines
