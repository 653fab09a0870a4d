"""`python -m tests.watching`: broker, workers, Prometheus with our rules, Alertmanager, the demo.

All on loopback, until Ctrl-C, which ends everything; what they wrote is removed. Says where each
serves, and every alert of the rules as it begins and ends.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.command import COMMAND, environment
from tests.corpora import NotFetched
from tests.deployed import Broker, BrokerFailed, free_port
from tests.watching.stack import Monitors, Pace, monitored

_LOOK_SECONDS = 2.0
_PATIENCE = 120.0
_WORKERS = ("fingerprint", "fingerprint", "index", "index", "neighborhoods")


class NotStarted(Exception):
    """A part that ended, or did not come up."""


def say(text: str) -> None:
    """A line for whoever watches."""
    print(text, flush=True)  # noqa: T201


class Workers:
    """The processes of the stages, each with a port and a state of its own."""

    def __init__(self, directory: Path, bus: str) -> None:
        self._directory = directory
        self._environment = environment(
            REUSEWATCH_BUS=bus, REUSEWATCH_ARCHIVE_ROOTS=str(directory),
            REUSEWATCH_WINDOW_PAGES="10000", REUSEWATCH_SNAPSHOT_SECONDS="10",
            REUSEWATCH_SETTLE_SECONDS="3",
        )  # fmt: skip
        self.running: dict[str, tuple[str, subprocess.Popen[bytes]]] = {}

    def start(self, stage: str) -> None:
        """A worker of the stage."""
        port = free_port()
        words = ["work", stage, "--metrics-port", str(port), "--state", f"state-{port}"]
        with (self._directory / f"{stage}-{port}.log").open("wb") as log:
            process = subprocess.Popen(
                [*COMMAND, *words], cwd=self._directory, env=self._environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.running[f"127.0.0.1:{port}"] = stage, process

    def run(self, *words: str) -> str:
        """A command, to its end; what it printed."""
        done = subprocess.run(
            [*COMMAND, *words], cwd=self._directory, env=self._environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise NotStarted(f"reusewatch {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def close(self) -> None:
        """End them as an operator would."""
        for _, process in self.running.values():
            process.terminate()
        for _, process in self.running.values():
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def _workers(directory: Path, bus: str) -> Iterator[Workers]:
    workers = Workers(directory, bus)
    try:
        yield workers
    finally:
        workers.close()


def watch(directory: Path) -> None:
    """Start everything, replay the demo, and say what fires until interrupted."""
    say("starting a broker")
    with contextlib.ExitStack() as open_:
        broker = open_.enter_context(Broker(directory / "broker"))
        bus = f"kafka://{broker.address}"
        workers = open_.enter_context(_workers(directory, bus))
        monitors = open_.enter_context(monitored(directory / "monitors", Pace()))
        workers.run("topics", "create", "--partitions", "3")
        say("starting workers, Prometheus and Alertmanager")
        for stage in _WORKERS:
            workers.start(stage)
        monitors.start(list(workers.running))
        ready = "count(reusewatch_ready == 1)"
        _wait(lambda: monitors.query(ready) and monitors.query(ready)[0][1] >= len(_WORKERS) - 1)
        _say_where(bus, workers, monitors)
        _replay(workers, monitors)
        say("\nWhat fires from now on, until Ctrl-C. End one of the workers to see a rule at work.")
        _follow(monitors)


def _say_where(bus: str, workers: Workers, monitors: Monitors) -> None:
    say(f"\n  Kafka           {bus}")
    for address, (stage, process) in workers.running.items():
        say(f"  {stage:<15} http://{address}/metrics   (process {process.pid})")
    say(f"  Prometheus      http://{monitors.prometheus}/alerts")
    say(f"  Alertmanager    http://{monitors.alertmanager}/api/v2/alerts")
    say("  Dashboards      deploy/grafana, for a Grafana with this Prometheus as data source\n")


def _replay(workers: Workers, monitors: Monitors) -> None:
    say("replaying the demo")
    workers.run("demo", "--dir", "demo")
    workers.run("labels", "push", "demo/alder-bank.pack")
    workers.run("replay", "demo/web.warc.gz")
    pages = 'sum(reusewatch_pages_total{stage="index"})'
    _wait(lambda: monitors.query(pages) and monitors.query(pages)[0][1] > 0)
    # What waits for its company is judged once the stream stands still.
    _wait(lambda: monitors.query('reusewatch_alerts_total{kind="quilt"} > 0'))
    found = monitors.query("sum by (kind) (reusewatch_alerts_total) > 0")
    for labels, count in sorted(found, key=lambda one: -one[1]):
        say(f"  {count:5.0f} {labels['kind']}")


def _follow(monitors: Monitors) -> None:
    known: set[tuple[str, str]] = set()
    while True:
        now = {
            (alert["labels"]["alertname"], alert["annotations"]["summary"])
            for alert in monitors.ask("alerts")["alerts"]
            if alert["state"] == "firing"
        }
        for name, summary in sorted(now - known):
            say(f"fires    {name}: {summary}")
        for name, summary in sorted(known - now):
            say(f"is over  {name}: {summary}")
        known = now
        time.sleep(_LOOK_SECONDS)


def _wait(condition: object) -> None:
    assert callable(condition)
    end = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise NotStarted(f"nothing came for {_PATIENCE:.0f} s")
        time.sleep(0.5)


def main(arguments: Sequence[str]) -> int:
    """Until Ctrl-C."""
    # Also where whoever started this in the background has it ignore Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="reusewatch-watch-") as directory:
        try:
            watch(Path(directory))
        except KeyboardInterrupt:
            say("\nended")
        except (BrokerFailed, NotFetched, NotStarted) as error:
            print(error, file=sys.stderr)  # noqa: T201
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
