"""A second replay of what is done reads nothing, unless something is different by now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reusewatch.crawler.cli import app
from tests.benchmarks.corpus import Response, write

TEXT = " ".join(f"word{number}" for number in range(60))


def archive(path: Path, *names: str) -> str:
    write([Response(f"https://{n}.example/", f"<p>{TEXT} {n}".encode()) for n in names], path)
    return str(path)


class Bus:
    def __init__(self, directory: Path, shown: pytest.CaptureFixture[str]) -> None:
        self._flags = ("--bus", f"local:{directory}", "--json")
        self._shown = shown

    def replay(self, *arguments: str) -> dict[str, Any]:
        self._shown.readouterr()
        app(["replay", *arguments, *self._flags], standalone_mode=False)
        found: dict[str, Any] = json.loads(self._shown.readouterr().out)
        return found

    def verdicts(self) -> int:
        self._shown.readouterr()
        app(["verdicts", *self._flags], standalone_mode=False)
        return len(self._shown.readouterr().out.splitlines())


@pytest.fixture
def bus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bus:
    return Bus(tmp_path / "bus", capsys)


def test_what_is_done_is_not_read_again_and_what_changed_is(bus: Bus, tmp_path: Path) -> None:
    one, two = archive(tmp_path / "1.warc.gz", "a", "b"), archive(tmp_path / "2.warc.gz", "c")
    first = bus.replay(one)
    assert (first["pages"], first["archives_known"]) == (2, 0)
    both = bus.replay(one, two)
    assert (both["pages"], both["archives"], both["archives_known"]) == (3, 2, 1)
    assert bus.replay("--again", one)["archives_known"] == 0
    archive(tmp_path / "1.warc.gz", "a", "b", "d")
    changed = bus.replay(one, two)
    assert (changed["pages"], changed["archives_known"]) == (4, 1)
    assert bus.verdicts() == 4


def test_other_settings_judge_anew(
    bus: Bus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = archive(tmp_path / "1.warc.gz", "a")
    bus.replay(one)
    monkeypatch.setenv("REUSEWATCH_OWNED", "a.example")
    assert bus.replay(one)["archives_known"] == 0
    assert bus.replay(one)["archives_known"] == 1


def test_an_empty_bus_knows_no_archive(bus: Bus, tmp_path: Path) -> None:
    one = archive(tmp_path / "1.warc.gz", "a")
    bus.replay(one)
    assert bus.replay("--restart", one)["archives_known"] == 0
    assert bus.verdicts() == 1


def test_where_something_was_damaged_all_is_read_again(bus: Bus, tmp_path: Path) -> None:
    one = archive(tmp_path / "1.warc.gz", "a", "b")
    Path(one).write_bytes(Path(one).read_bytes()[:-40])
    for _ in range(2):
        found = bus.replay("--allow-damaged", one)
        assert (found["archives_known"], found["damaged"]) == (0, 1)
