"""What is printed for people, and for scripts that read rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import at_terminal, run
from tests.contract.tables import OK, PLANTED, Tried, printable

# A fixture that waits for what never comes says so soon.
pytestmark = pytest.mark.timeout(300)


PLAIN: dict[str, list[str]] = {
    "alerts": ["alerts"],
    "verdicts": ["verdicts"],
    "config": ["config"],
    "replay": ["replay", ".demo/web.warc.gz"],
}


@pytest.mark.parametrize("arguments", PLAIN.values(), ids=PLAIN)
def test_what_is_piped_is_plain(arguments: list[str], tried: Tried) -> None:
    bus = "local:plain" if arguments[0] == "replay" else tried.bus
    done = run(*arguments, "--bus", bus, cwd=tried.directory, FORCE_COLOR="1")
    assert (done.code, done.err) == (OK, "")
    assert printable(done.out)


def test_piped_rows_are_complete_and_tables_are_for_terminals(tried: Tried) -> None:
    names, *piped = [line.split("\t") for line in tried.run("alerts").out.splitlines()]
    assert names[:4] == ["id", "kind", "severity", "subject"]
    ids = [one["id"] for one in tried.demo.objects]
    subjects = [one["url"] or one["prefix"] for one in tried.demo.objects]
    assert [row[0] for row in piped] == ids
    assert [row[3] for row in piped] == subjects
    code, table = at_terminal("alerts", "--bus", tried.bus, cwd=tried.directory)
    assert code == OK
    assert "\x1b[" in table
    assert "─" in table
    assert all(one[:8] in table and one not in table for one in ids)


WIDTHS = [("alerts", 60), ("alerts", 120), ("verdicts", 80), ("config", 80), ("dead-letters", 60)]


@pytest.mark.parametrize(("command", "columns"), WIDTHS)
def test_tables_fit_the_terminal_and_lose_nothing(command: str, columns: int, tried: Tried) -> None:
    bus = "local:cut" if command == "dead-letters" else tried.bus
    code, table = at_terminal(
        command, "--bus", bus, cwd=tried.directory, columns=columns, env={"NO_COLOR": "1"}
    )
    assert code == OK
    assert printable(table)
    assert max(map(len, table.splitlines())) <= columns
    if command == "alerts" and columns == 120:
        for one in tried.demo.objects:
            assert (one["url"] or one["prefix"]).removeprefix("https://") in table
            for donor in one["donors"][:1]:
                assert donor["url"].removeprefix("https://") in table


def test_bars_are_for_terminals_that_want_them(tried: Tried) -> None:
    arguments = ("replay", ".demo/web.warc.gz", "--bus", "local:bars")
    code, lively = at_terminal(*arguments, cwd=tried.directory)
    assert code == OK
    assert "━" in lively
    code, quiet = at_terminal(*arguments, cwd=tried.directory, env={"NO_COLOR": "1"})
    assert code == OK
    assert "━" not in quiet
    assert printable(quiet)


@pytest.mark.parametrize("terminal", [False, True], ids=["piped", "terminal"])
def test_the_demo_is_readable_at_100_columns(terminal: bool, tmp_path: Path) -> None:
    if terminal:
        code, text = at_terminal("demo", cwd=tmp_path, columns=100)
    else:
        done = run("demo", cwd=tmp_path)
        code, text = done.code, done.out
    assert code == OK
    assert max(map(len, text.splitlines())) <= 100
    assert "\t" not in text
    assert "\x1b" not in text
    rows = {tuple(line.split()) for line in text.splitlines()}
    assert {(kind, str(n), str(n), "0") for kind, n in PLANTED.items()} <= rows
    for command in ("clusters", "neighborhoods", "similar", "labels show"):
        assert f"reusewatch {command} " in text or f"-m crawler {command} " in text
