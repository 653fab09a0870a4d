"""Prometheus and Alertmanager with the rules of `deploy`, on loopback, and who is told.

What Prometheus reads is the published files: of them only addresses are replaced, and, where a test
is in a hurry, how long a rule waits.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.command import ROOT
from tests.deployed import DIE_WITH_PARENT, free_port
from tests.monitors import MONITORS, program

DEPLOY = ROOT / "deploy"
_SECONDS = 60
# The addresses of the examples.
_ALERTMANAGER, _WEBHOOK = "127.0.0.1:9093", "127.0.0.1:9095"


class Told:
    """A server that is told of alerts: the webhook of both receivers."""

    def __init__(self) -> None:
        self.by: dict[str, list[Any]] = {"operations": [], "findings": []}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _receiver(self.by))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """HOST:PORT."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def of(self, team: str) -> list[dict[str, Any]]:
        """The alerts that a team was told of, firing."""
        return [
            alert
            for notice in list(self.by[team])
            for alert in notice["alerts"]
            if alert["status"] == "firing"
        ]

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _receiver(by: Mapping[str, list[Any]]) -> type[BaseHTTPRequestHandler]:
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            by[self.path.strip("/")].append(json.loads(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Said by who asks."""

    return Receiver


@dataclass(frozen=True, slots=True)
class Pace:
    """How often is looked. `hurried`: rules wait for nothing, and notices for nobody."""

    scrape: str = "5s"
    hurried: bool = False


@dataclass
class Monitors:
    """Both programs, over what serves metrics at the targets."""

    directory: Path
    told: Told
    pace: Pace = field(default_factory=Pace)
    prometheus: str = ""
    alertmanager: str = ""
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, targets: Sequence[str]) -> None:
        """Start both, and return when they answer."""
        ports = free_port(), free_port()
        self.prometheus, self.alertmanager = (f"127.0.0.1:{port}" for port in ports)
        self._configure(targets)
        self._run(
            "alertmanager", f"--config.file={self.directory / 'alertmanager.yml'}",
            f"--storage.path={self.directory / 'alertmanager'}", "--cluster.listen-address=",
            f"--web.listen-address={self.alertmanager}", "--log.level=warn",
        )  # fmt: skip
        self._run(
            "prometheus", f"--config.file={self.directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={self.directory / 'prometheus'}",
            f"--web.listen-address={self.prometheus}", "--log.level=warn",
        )  # fmt: skip
        for address in (self.alertmanager, self.prometheus):
            self._await(address)

    def _configure(self, targets: Sequence[str]) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        for template in MONITORS.glob("*.tmpl"):
            shutil.copy(template, self.directory)
        for name in ("recording.yml", "alerting.yml"):
            rules = (DEPLOY / "prometheus" / name).read_text("utf-8")
            if self.pace.hurried:
                rules = re.sub(r"^( +for: ).+$", r"\g<1>0s", rules, flags=re.M)
            (self.directory / name).write_text(rules, "utf-8")
        config = (DEPLOY / "prometheus" / "prometheus.yml").read_text("utf-8")
        config = re.sub(r"(_interval): \S+", rf"\1: {self.pace.scrape}", config)
        config = config.replace(_ALERTMANAGER, self.alertmanager)
        head, _, _ = config.partition("      - targets:\n          - ")
        listed = json.dumps(list(targets))
        (self.directory / "prometheus.yml").write_text(f"{head}      - targets: {listed}\n")
        route = (DEPLOY / "alertmanager" / "alertmanager.yml").read_text("utf-8")
        route = route.replace(_WEBHOOK, self.told.address)
        if self.pace.hurried:
            route = re.sub(r"(group_wait|group_interval): \S+", r"\1: 100ms", route)
        (self.directory / "alertmanager.yml").write_text(route, "utf-8")

    def _run(self, name: str, *arguments: str) -> None:
        with (self.directory / f"{name}.log").open("wb") as log:
            self._processes.append(subprocess.Popen(
                [sys.executable, "-c", DIE_WITH_PARENT, str(program(name)), *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory,
            ))  # fmt: skip

    def _await(self, address: str) -> None:
        end = time.monotonic() + _SECONDS
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://{address}/-/ready", timeout=5).close()
                return
            ended = [process for process in self._processes if process.poll() is not None]
            logs = [file.read_text() for file in self.directory.glob("*.log")]
            assert not ended, logs
            assert time.monotonic() < end, logs
            time.sleep(0.05)

    def ask(self, path: str, **parameters: str) -> Any:
        """What Prometheus answers."""
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(
                f"http://{self.prometheus}/api/v1/{path}?{query}", timeout=_SECONDS
            ) as response:
                return json.load(response)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def query(self, expr: str) -> list[tuple[dict[str, str], float]]:
        """The series that an expression comes to now."""
        found = self.ask("query", query=expr)["result"]
        return [(one["metric"], float(one["value"][1])) for one in found]

    def firing(self) -> set[str]:
        """The rules that fire now."""
        alerts = self.ask("alerts")["alerts"]
        return {one["labels"]["alertname"] for one in alerts if one["state"] == "firing"}

    def close(self) -> None:
        """End both."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def monitored(directory: Path, pace: Pace) -> Iterator[Monitors]:
    """Both programs and who is told, ended at the end; `start` starts them."""
    told = Told()
    monitors = Monitors(directory, told, pace)
    try:
        yield monitors
    finally:
        monitors.close()
        told.close()


def answered_for(expr: str, interval: str = "1m") -> str:
    """A panel's query, with values for Grafana's variables."""
    chosen = {"$__rate_interval": interval, "$__range": "5m", "$job": "reusewatch",
              "$instance": ".+"}  # fmt: skip
    for name, value in chosen.items():
        expr = expr.replace(name, value)
    return expr


def panel_queries() -> Iterator[tuple[str, str]]:
    """The queries of the dashboards, by the panel."""
    for file in sorted((DEPLOY / "grafana").glob("*.json")):
        for panel in json.loads(file.read_text("utf-8"))["panels"]:
            for target in panel.get("targets", ()):
                yield f"{file.stem}: {panel['title']}", answered_for(target["expr"])
