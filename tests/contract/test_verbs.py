"""Every command has help, and exit codes mean something."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from urllib.request import urlopen

import pytest

from reusewatch.streams.local import LocalBus
from reusewatch.streams.wire import Outgoing
from tests.command import Done, ended, environment, read_lines, run, start
from tests.contract.tables import (
    COMMANDS,
    DEMO_ALERTS,
    FOUND_DAMAGE,
    INTERRUPTED,
    OK,
    UNLABELED_ALERTS,
    UNREACHABLE,
    WRONG_USE,
    Tried,
)
from tests.deployed import free_port

# A fixture that waits for what never comes says so soon.
pytestmark = pytest.mark.timeout(300)


# Thirty processes would spend their time in starting: here one says the help of all commands.
_ALL_HELP = """
import contextlib, io, json, sys
from reusewatch.crawler.cli import main
for command in json.load(sys.stdin):
    sys.argv = ["reusewatch", *command, "--help"]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def all_help() -> dict[str, Done]:
    """What each command says of itself."""
    told = subprocess.run(
        [sys.executable, "-c", _ALL_HELP], input=json.dumps(COMMANDS), env=environment(),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = (Done(*json.loads(line)) for line in told.stdout.splitlines())
    return dict(zip(map(" ".join, COMMANDS), found, strict=True))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(
    command: list[str], all_help: dict[str, Done]
) -> None:
    done = all_help[" ".join(command)]
    assert (done.code, done.err) == (OK, "")
    assert "Example: reusewatch " + " ".join(command) in " ".join(done.out.split())


def test_help_is_said_by_the_command_itself(tmp_path: Path, all_help: dict[str, Done]) -> None:
    assert run("labels", "build", "--help", cwd=tmp_path) == all_help["labels build"]


def test_the_version_is_said(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path) == Done(OK, f"reusewatch {version('reusewatch')}\n", "")


WRONG: dict[str, list[str]] = {
    "no command": [],
    "unknown command": ["bogus"],
    "unknown option": ["alerts", "--bogus"],
    "nothing to replay": ["replay"],
    "no such archive": ["replay", "nowhere.warc.gz"],
    "no such pattern": ["replay", "no*.warc.gz"],
    "a tree without a URL": ["replay", "--tree", "."],
    "a bus of no kind": ["alerts", "--bus", "ftp://example.org"],
    "a time that is none": ["alerts", "--since", "yesterday"],
    "a kind that is none": ["alerts", "--kind", "odd"],
    "a stage that is none": ["work", "bogus", "--bus", "kafka://127.0.0.1:1"],
    "a local bus has no workers": ["work", "index"],
    "a local bus has no topics": ["topics", "check"],
    "no such configuration": ["config", "--config", "nowhere.toml"],
    "a number out of range": ["replay", "x", "--workers", "0"],
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_wrong_use_is_2_with_a_word_on_stderr(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert (done.code, done.out) == (WRONG_USE, "")
    assert done.err.strip()
    assert "Traceback" not in done.err


def test_an_id_of_no_alert_is_2(tried: Tried) -> None:
    done = run("alerts", "show", "no-such-id", "--bus", tried.bus, cwd=tried.directory)
    assert (done.code, done.out) == (WRONG_USE, "")
    assert "no-such-id" in done.err
    assert "Traceback" not in done.err


def test_a_wrong_variable_is_2_and_named(tmp_path: Path) -> None:
    done = run("config", cwd=tmp_path, REUSEWATCH_BOGUS="1")
    assert (done.code, done.out) == (WRONG_USE, "")
    assert "REUSEWATCH_BOGUS" in done.err


@pytest.mark.parametrize("arguments", [["alerts"], ["work", "index"]], ids=" ".join)
def test_a_broker_that_is_not_there_is_3(arguments: list[str], tmp_path: Path) -> None:
    done = run(*arguments, "--bus", f"kafka://127.0.0.1:{free_port()}", cwd=tmp_path)
    assert (done.code, done.out) == (UNREACHABLE, "")
    assert "Traceback" not in done.err
    assert "no Kafka broker at 127.0.0.1:" in done.err


def test_a_directory_that_cannot_be_made_is_3(tried: Tried) -> None:
    done = run("replay", ".demo/web.warc.gz", "--bus", "local:/proc/none", cwd=tried.directory)
    assert (done.code, done.out) == (UNREACHABLE, "")
    assert "/proc/none" in done.err


def test_a_newer_record_is_1_and_told_what_to_do(tmp_path: Path) -> None:
    bus = LocalBus(tmp_path / "bus")
    bus.lock()
    outlet = bus.outlet()
    headers = (("schema", b"alert/2"), ("content-type", b"application/json"))
    outlet.send(Outgoing("alerts", "key", b"{}", headers))
    outlet.close()
    bus.close()
    done = run("alerts", "--bus", "local:bus", cwd=tmp_path)
    assert (done.code, done.out) == (FOUND_DAMAGE, "")
    assert "alert/2" in done.err
    assert "upgrade" in done.err


def test_following_goes_on_until_interrupted(tried: Tried) -> None:
    following = start("alerts", "--json", "--follow", "--bus", tried.bus, cwd=tried.directory)
    read_lines(following, DEMO_ALERTS)
    following.send_signal(signal.SIGINT)
    done = ended(following)
    assert (done.code, done.out) == (INTERRUPTED, "")
    assert "Traceback" not in done.err


def test_an_interrupted_replay_is_130_and_goes_on(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REUSEWATCH_SETTLE_SECONDS", "0.5")
    replay = ("replay", "--follow", "crawl", "--settle", "0", "--bus", "local:followed")
    replaying = start(*replay, cwd=tried.directory)
    (tried.directory / "followed").mkdir(exist_ok=True)
    following = start("alerts", "--json", "--follow", "--bus", "local:followed",
                      cwd=tried.directory)  # fmt: skip
    try:
        seen = read_lines(following, UNLABELED_ALERTS)
    finally:
        following.kill()
        following.communicate()
        replaying.send_signal(signal.SIGINT)
        done = ended(replaying)
    assert len(seen) == UNLABELED_ALERTS
    assert (done.code, done.out) == (INTERRUPTED, "")
    assert "run it again to go on" in done.err


def test_a_replay_serves_metrics_where_it_is_asked_to(tried: Tried) -> None:
    replay = ("replay", "--follow", "crawl", "--settle", "0", "--bus", "local:served")
    with start(*replay, "--metrics-port", "0", cwd=tried.directory) as replaying:
        assert replaying.stderr is not None
        address = replaying.stderr.readline().split()[-1]
        with urlopen(address) as answer:
            assert b"reusewatch_build_info" in answer.read()
        with urlopen(address.replace("metrics", "healthz")) as answer:
            assert answer.read() == b"ok\n"
        replaying.send_signal(signal.SIGINT)
        assert ended(replaying).code == INTERRUPTED


def test_a_reader_that_leaves_early_is_no_error(tried: Tried) -> None:
    with start("verdicts", "--json", "--bus", tried.bus, cwd=tried.directory) as printing:
        assert printing.stdout is not None
        assert printing.stderr is not None
        printing.stdout.close()
        assert printing.stderr.read() == ""
    assert printing.returncode == OK
