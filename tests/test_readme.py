"""The README is true: its commands are run, its tables and its alert compared with the product."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.settings import Settings, resolve
from tests.command import COMMAND, ROOT, environment, run
from tests.deployed import free_port

README = (ROOT / "README.md").read_text("utf-8")
SECONDS = 600

# What stands for something else when the commands are run: a port that is free, an end for what
# has none, an address of our own. `make test` would run this test again, `make schemas` write into
# this tree.
STANDS_FOR = {
    "make test ": "make --dry-run test ",
    "make check ": "make --dry-run check ",
    "make schemas ": "make --dry-run schemas ",
    "make bench ": "make --dry-run bench ",
    "make experiments ": "make --dry-run experiments ",
    "make kafka": "make kafka PORT={kafka}",
    "kafka://127.0.0.1:9092": "kafka://127.0.0.1:{kafka}",
    "work fingerprint &": "work fingerprint --metrics-port {fingerprint} &",
    "work index --state state/a &": "work index --state state/a --metrics-port {index} &",
    "work neighborhoods &": "work neighborhoods --metrics-port 0 &",
    "--metrics-port 9463": "--metrics-port 0",
    "--metrics-port 9464": "--metrics-port 0",
    "127.0.0.1:9461": "127.0.0.1:{fingerprint}",
    "127.0.0.1:9462": "127.0.0.1:{index}",
    "reusewatch replay --follow": "python interrupted.py replay --follow",
    "reusewatch alerts --follow": "python interrupted.py alerts --follow",
    "crawl https://example.org/": "crawl http://127.0.0.1:{site}/ --allow-private --delay 0",
}

# Starts the command, waits until it has done something, and presses Ctrl-C.
INTERRUPTED = """
import pathlib, signal, subprocess, sys, time
process = subprocess.Popen(["reusewatch", *sys.argv[1:]], stdout=subprocess.PIPE)
if sys.argv[1] == "alerts":
    process.stdout.readline()
else:
    # How far it came is a file, while it goes on.
    cursors = pathlib.Path(".reusewatch/replays")
    while process.poll() is None and not list(cursors.glob("*.json")):
        time.sleep(0.02)
process.send_signal(signal.SIGINT)
process.communicate()
sys.exit(process.returncode != 130)
"""


# Where the machine has none: the part of curl that is used.
CURL = """
import sys, time, urllib.request
for attempt in range(30):
    try:
        sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[-1]).read())
        sys.exit(0)
    except OSError as error:
        print(error, file=sys.stderr)
        time.sleep(1)
sys.exit(22)
"""


def blocks(language: str, *, only: str = "", without: str = "") -> str:
    """The fenced blocks of a language, of the sections wanted, one after the other."""
    found = []
    for section in README.split("\n## "):
        heading = section.partition("\n")[0]
        if (not only or heading == only) and heading != without:
            found += re.findall(rf"^```{language}\n(.*?)^```", section, re.M | re.S)
    return "\n".join(found)


def rows(heading: str) -> list[list[str]]:
    """The rows of the tables of a section, cell by cell."""
    section = README.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def in_backticks(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files as after a clone and `make setup`, and something to replay."""
    clone = tmp_path / "reusewatch"
    clone.mkdir()
    for path in ROOT.glob("[!.]*"):
        (clone / path.name).symlink_to(path)
    (clone / ".venv" / "bin").mkdir(parents=True)
    for name, arguments in {"reusewatch": COMMAND, "python": (sys.executable,)}.items():
        script = clone / ".venv" / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {" ".join(arguments)} "$@"\n')
        script.chmod(0o755)
    if shutil.which("curl") is None:
        curl = clone / ".venv" / "bin" / "curl"
        curl.write_text(f"#!{sys.executable}{CURL}")
        curl.chmod(0o755)
    (clone / ".venv" / ".ready").touch()
    if (ROOT / ".kafka").exists():
        (clone / ".kafka").symlink_to(ROOT / ".kafka")
    (clone / "interrupted.py").write_text(INTERRUPTED)
    _archives(clone)
    return clone


def _archives(clone: Path) -> None:
    assert run("demo", cwd=clone).code == 0
    archive = (clone / ".demo" / "web.warc.gz").read_bytes()
    for name, data in {
        "crawls/2026-03.warc.gz": archive, "older/2009.arc.gz": archive,
        "old/cut.warc.gz": archive[: len(archive) // 2], "site/index.html": b"<p>Home sweet home",
    }.items():  # fmt: skip
        (clone / name).parent.mkdir(exist_ok=True)
        (clone / name).write_bytes(data)


def executed(script: str, cwd: Path, **ports: int) -> str:
    """What the script said. It runs as a reader would run it, in one shell that stops at errors."""
    for text, stand_in in STANDS_FOR.items():
        script = script.replace(text, stand_in.format_map({"site": 0, "kafka": 0} | ports))
    with (cwd / "said.txt").open("w+") as said:
        shell = subprocess.Popen(
            ["bash", "-euxo", "pipefail", "-c", script], cwd=cwd, env=environment(),
            stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
        )  # fmt: skip
        try:
            code = shell.wait(SECONDS)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGTERM)  # broker and workers that it started
            shell.wait()
        said.seek(0)
        text = said.read()
    assert code == 0, text[-5000:]
    return text


@pytest.mark.timeout(SECONDS + 60)
def test_every_command_does_what_it_says(checkout: Path) -> None:
    ports = {"kafka": free_port(), "fingerprint": free_port(), "index": free_port()}
    said = executed(blocks("sh", without="Scrapy"), checkout, **ports)
    assert re.search(r"duplicate +13 +13 +0$", said, re.M)
    assert "reusewatch_pages_total" in said
    assert "Traceback" not in said


def test_the_crawl_does_what_it_says(checkout: Path) -> None:
    pages = checkout / "pages"
    pages.mkdir()
    (pages / "index.html").write_text('<p>Two pages. <a href="/other.html">The other</a>')
    (pages / "other.html").write_text("<p>The other page.")
    handler = partial(_Quiet, directory=str(pages))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        path = f'export PATH="{checkout}/.venv/bin:$PATH"\n'
        script = path + blocks("sh", only="Scrapy")
        said = executed(script, checkout, fingerprint=0, index=0, site=server.server_address[1])
        server.shutdown()
    assert re.search(r"^pages +2$", said, re.M), said


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Requests are not news."""


def test_every_stand_in_is_for_something_in_the_text() -> None:
    shown = blocks("sh")
    assert [text for text in STANDS_FOR if text not in shown] == []


def test_the_alert_is_the_demo_s(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```", README, re.M | re.S)
    told = json.loads(shown)
    done = run("demo", "--json", cwd=tmp_path)
    (found,) = [one for one in done.objects if one["id"] == told["id"]]
    begin = told["evidence"][0]["text"].removesuffix("…")
    assert found["evidence"][0]["text"].startswith(begin)
    for one in (told, found):
        one["evidence"][0].pop("text")
        one.pop("detected_at")
    # What does not apply to the kind is null or empty, and left out of the text.
    (span,), (told_span,) = found.pop("evidence"), told.pop("evidence")
    assert {name: value for name, value in span.items() if value or name in told_span} == told_span
    assert {name: value for name, value in found.items() if value or name in told} == told


def test_the_settings_are_those_there_are() -> None:
    told = {
        name: "".join(in_backticks(row[1]))
        for row in rows("Configuration")
        for name in in_backticks(row[0])
    }
    assert told == {name: _shown(getattr(Settings(), name)) for name in Settings.__struct_fields__}


def _shown(value: Any) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def test_the_metrics_are_those_there_are() -> None:
    names = set()
    for family in Meters("x", "y").registry.collect():
        if family.name.startswith("reusewatch_"):
            names.add(family.name + ("_total" if family.type == "counter" else ""))
    told = {name for row in rows("Watching it") for name in in_backticks(row[0])}
    assert told == names
    assert set(re.findall(r"reusewatch_[a-z_]+", README)) <= names


def test_the_configuration_file_is_one(tmp_path: Path) -> None:
    (tmp_path / "kafka-password").write_text("secret\n")
    (tmp_path / "reusewatch.toml").write_text(blocks("toml"))
    assert tomllib.loads(blocks("toml"))
    found = resolve(file=tmp_path / "reusewatch.toml", environ={}).settings
    assert found.kafka_password == "secret"


@pytest.fixture
def layout() -> Iterator[tuple[str, str]]:
    """Directory and file names of the tree at the end."""
    tree = README.split("\n## The code\n")[1].split("```")[1]
    directory = ""
    pairs = []
    for line in tree.splitlines():
        directory = line.split("/")[0] if line[:1].strip() else directory
        pairs += [(directory, name) for name in re.findall(r"\b[a-z_]+\.py\b", line)]
    return iter(pairs)


def test_the_files_that_are_named_are_there(layout: Iterator[tuple[str, str]]) -> None:
    named = list(layout)
    assert len(named) > 10
    assert [f"{at}/{name}" for at, name in named if not (ROOT / at / name).exists()] == []
    for link in re.findall(r"\]\(((?!https:)[^)#]+)\)", README):
        assert (ROOT / link).exists(), link


def test_links_within_the_text_lead_somewhere() -> None:
    headings = {
        re.sub(r"[^a-z0-9 -]", "", line.lower()).replace(" ", "-")
        for line in re.findall(r"^#+ (.*)$", README, re.M)
    }
    assert set(re.findall(r"\]\(#([^)]+)\)", README)) <= headings
