"""The texts are true: the commands of all three are run, what they show and name is compared.

A reader goes through them in this order: README up to Kafka, how pages are judged, README's Kafka
and what follows it, how to operate it. So the commands run in one shell, in that order.
"""

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
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from reusewatch.crawler.live.project import OF_THE_ADDON, resolved
from reusewatch.streams.running.crawl_metrics import DECLARED
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.stage_names import PORTS
from reusewatch.streams.settings import Settings, resolve
from reusewatch.streams.topics import DAY_MS, TOPICS
from tests.command import COMMAND, ROOT, environment, run
from tests.deployed import free_port

README, OPERATING, JUDGING = (
    (ROOT / name).read_text("utf-8")
    for name in ("README.md", "deploy/README.md", "detector/README.md")
)
TEXTS = {"README.md": README, "deploy/README.md": OPERATING, "detector/README.md": JUDGING}
SECONDS = 600

# What stands for something else when the commands are run: a port that is free, an end for what
# has none, an address of our own. `make test` would run this test again, and installing
# is what the test of the wheel does.
STANDS_FOR = {
    "make test ": "make --dry-run test ",
    "pip install ": ".venv/bin/python -m pip install --dry-run --no-deps --no-build-isolation ",
    # A reader goes on when the broker says its address, and that takes as long as it takes.
    "make kafka &": "make kafka PORT={kafka} &\n"
    "until (: > /dev/tcp/127.0.0.1/{kafka}) 2> /dev/null; do sleep 0.2; done",
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
    "reusewatch prefixes --format nutch": "python interrupted.py prefixes --format nutch",
    "reusewatch notify": "python interrupted.py notify",
    "crawl https://example.org/": "crawl http://127.0.0.1:{site}/ --allow-private --delay 0",
}

# Starts the command, waits until it has done something, and presses Ctrl-C.
INTERRUPTED = """
import pathlib, signal, subprocess, sys, time
process = subprocess.Popen(["reusewatch", *sys.argv[1:]], stdout=subprocess.PIPE)
if sys.argv[1] in ("alerts", "notify"):
    process.stdout.readline()
elif sys.argv[1] == "prefixes":
    while process.poll() is None and not pathlib.Path(sys.argv[-1]).exists():
        time.sleep(0.02)
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


def blocks(language: str, text: str = README) -> str:
    """The fenced blocks of a language, one after the other."""
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S))


def section(heading: str, text: str = README) -> str:
    """What stands under a heading."""
    return text.split(f"\n## {heading}\n")[1].partition("\n## ")[0]


def commands() -> str:
    """What a reader of all three texts does, but the crawl."""
    before, kafka = README.split("\n## Kafka\n")
    before = before.replace(section("Scrapy"), "")
    operating = OPERATING.replace(section("The bundled crawl", OPERATING), "")
    return "\n".join(blocks("sh", text) for text in (before, JUDGING, kafka, operating))


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
    said = executed(commands(), checkout, **ports)
    shown = blocks("text").splitlines()  # of the demo
    assert len(shown) > 5
    assert [line for line in shown if line not in said.splitlines()] == []
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
        shown = section("Scrapy"), section("The bundled crawl", OPERATING)
        script = "".join([path, *(blocks("sh", text) for text in shown)])
        said = executed(script, checkout, fingerprint=0, index=0, site=server.server_address[1])
        server.shutdown()
    assert re.search(r"^pages +2$", said, re.M), said


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Requests are not news."""


def test_every_stand_in_is_for_something_in_the_texts() -> None:
    shown = "\n".join(blocks("sh", text) for text in TEXTS.values())
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
    # Where pages can be read again is of the machine, and left out of the text.
    for one in (found, *found["donors"]):
        assert one.pop("origin")["source"].endswith("web.warc.gz")
        assert one.pop("file_hash")
    assert not any(donor.pop("linked") for donor in found["donors"])
    # What does not apply to the kind is null or empty, and left out of the text.
    (span,), (told_span,) = found.pop("evidence"), told.pop("evidence")
    assert {name: value for name, value in span.items() if value or name in told_span} == told_span
    assert {name: value for name, value in found.items() if value or name in told} == told


def test_the_project_s_settings_load_the_add_on() -> None:
    names: dict[str, Any] = {}
    exec(blocks("python"), names)  # noqa: S102 - our own text
    settings = BaseSettings({name: value for name, value in names.items() if name.isupper()})
    assert [load_object(path).__name__ for path in settings["ADDONS"]] == ["ReuseWatch"]
    assert resolved(settings).settings.bus == names["REUSEWATCH_BUS"]


def test_every_setting_and_metric_that_is_named_is_there() -> None:
    everything = "\n".join(TEXTS.values())
    metrics = {one.name for one in (*Meters("", "").declared, *DECLARED)}
    # Between colons stand the names of what rules record of them.
    named = re.findall(r"(?<![:\w])reusewatch_[a-z_]+(?!:)\b", everything)
    assert set(named) - {"reusewatch_steer"} <= metrics
    environment = {f"REUSEWATCH_{name.upper()}" for name in Settings.__struct_fields__}
    others = {"REUSEWATCH_NAME", *OF_THE_ADDON}
    assert set(re.findall(r"REUSEWATCH_[A-Z_]+", everything)) <= environment | others
    given = set(re.findall(r"`([a-z_]+) = ", everything))
    assert given
    assert given <= set(Settings.__struct_fields__)


def test_every_port_is_scraped() -> None:
    targets = set(map(int, re.findall(r"127\.0\.0\.1:(\d+)", blocks("yaml", OPERATING))))
    started = set(map(int, re.findall(r"--metrics-port (\d+)", blocks("sh", OPERATING))))
    assert targets == set(PORTS.values()) | started
    for stage, port in PORTS.items():
        assert re.search(rf"^\| `work {stage}` .* \| {port} \|$", OPERATING, re.M)


def test_every_topic_is_told_with_how_long_it_is_kept() -> None:
    told: dict[str, str] = {}
    for line in section("Topics", OPERATING).splitlines():
        if line.startswith("| `"):
            names, *_, kept = line.strip("| ").split(" | ")
            told |= dict.fromkeys(re.findall(r"`([^`]+)`", names), kept)
    assert told.keys() == TOPICS.keys()
    for name, topic in TOPICS.items():
        days = "the last of each key" if topic.retention_ms is None else (
            f"{topic.retention_ms // DAY_MS} days"
        )  # fmt: skip
        assert told[name].startswith(days), name


def test_the_configuration_file_is_one(tmp_path: Path) -> None:
    (tmp_path / "kafka-password").write_text("secret\n")
    (tmp_path / "reusewatch.toml").write_text(blocks("toml", OPERATING))
    assert tomllib.loads(blocks("toml", OPERATING))
    found = resolve(file=tmp_path / "reusewatch.toml", environ={}).settings
    assert found.kafka_password == "secret"


def rooms(package: str) -> set[str]:
    """The rooms of a package: its folders with Python in them."""
    return {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}


def test_the_rooms_and_files_that_are_named_are_those_there_are() -> None:
    named: dict[str, set[str]] = {}
    for part in re.split(r"^(?=\w)", blocks("", section("The code")), flags=re.M)[1:]:
        package, _, told = part.partition("/")
        named[package] = set(re.findall(r"\b([a-z_]+(?:/|\.py\b))", told))
    for package, names in named.items():
        assert [name for name in names if not (ROOT / package / name).exists()] == [], package
    for package in ("crawler", "streams", "detector"):
        assert {name[:-1] for name in named[package] if name[-1] == "/"} == rooms(package)
    assert set(re.findall(r"^## .* — `(\w+)/`$", JUDGING, re.M)) == rooms("detector") - {
        "compiling"
    }


@pytest.mark.parametrize("name", TEXTS)
def test_links_lead_somewhere(name: str) -> None:
    for link in re.findall(r"\]\(((?!https:)[^)]+)\)", TEXTS[name]):
        file, _, anchor = link.partition("#")
        target = (ROOT / name).parent / file if file else ROOT / name
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text("utf-8")), link


def anchors(text: str) -> set[str]:
    """The headings of a text, as links name them."""
    return {
        re.sub(r"[^a-z0-9_ -]", "", line.lower()).replace(" ", "-")
        for line in re.findall(r"^#+ (.*)$", text, re.M)
    }


def test_a_reader_is_through_soon() -> None:
    assert README.count("\n") < 200


def test_every_make_verb_that_is_named_is_there() -> None:
    verbs = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = set(re.findall(r"[`\n]make ([a-z]+)", "\n".join(TEXTS.values())))
    assert len(named) > 5
    assert named <= verbs
