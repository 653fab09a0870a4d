"""A broker, workers of all stages, Prometheus and Alertmanager, with the demo made: on loopback."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from reusewatch.streams import kernels
from tests.command import COMMAND, environment
from tests.deployed import DIE_WITH_PARENT, Broker, free_port
from tests.watching.stack import Monitors, Pace, monitored

STAGES = ("fingerprint", "fingerprint", "index", "index", "neighborhoods")
_PATIENCE = 300.0


class NotStarted(Exception):
    """A part that ended, or did not come up."""


class Workers:
    """The processes of the stages, each with a port and a state of its own."""

    def __init__(self, directory: Path, bus: str) -> None:
        self.directory = directory
        self.environment = environment(
            REUSEWATCH_BUS=bus, REUSEWATCH_ARCHIVE_ROOTS=str(directory),
            REUSEWATCH_WINDOW_PAGES="10000", REUSEWATCH_SNAPSHOT_SECONDS="10",
            REUSEWATCH_SETTLE_SECONDS="3",
        )  # fmt: skip
        self.running: dict[str, tuple[str, subprocess.Popen[bytes]]] = {}

    def start(self, stage: str) -> None:
        """A worker of the stage."""
        port = free_port()
        words = ["work", stage, "--metrics-port", str(port), "--state", f"state-{port}"]
        with (self.directory / f"{stage}-{port}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", DIE_WITH_PARENT, *COMMAND, *words],
                cwd=self.directory, env=self.environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.running[f"127.0.0.1:{port}"] = stage, process

    def run(self, *words: str) -> str:
        """A command, to its end; what it printed."""
        done = subprocess.run(
            [*COMMAND, *words], cwd=self.directory, env=self.environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise NotStarted(f"reusewatch {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def ended(self) -> str | None:
        """The last line of one that has ended."""
        for address, (stage, process) in self.running.items():
            if process.poll() is not None:
                port = address.partition(":")[2]
                log = (self.directory / f"{stage}-{port}.log").read_text("utf-8").splitlines()
                return f"the worker {stage} has ended: {log[-1] if log else process.returncode}"
        return None

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


@dataclass(frozen=True, slots=True)
class Stack:
    """All of it, at work. `bus`: its address."""

    bus: str
    workers: Workers
    monitors: Monitors

    def links(self) -> list[tuple[str, str]]:
        """Where each part serves: its name and a URL. Debian's Prometheus comes without pages."""
        workers = self.workers.running.items()
        return [
            *((stage, f"http://{address}/metrics") for address, (stage, _) in workers),
            ("Prometheus", f"http://{self.monitors.prometheus}/api/v1/alerts"),
            ("Alertmanager", f"http://{self.monitors.alertmanager}/api/v2/alerts"),
        ]

    def make_demo(self) -> None:
        """Its archive, `demo/web.warc.gz`, and its labels in force."""
        self.workers.run("demo", "--dir", "demo")
        self.workers.run("labels", "push", "demo/alder-bank.pack")

    def await_judged(self) -> None:
        """Return once the pages are judged: what waits for its company is judged when the stream
        stands still."""
        quilts = 'reusewatch_alerts_total{kind="quilt"} > 0'
        wait(lambda: self.monitors.query(quilts), self.workers)


@contextlib.contextmanager
def at_work(directory: Path, pace: Pace, say: Callable[[str], None]) -> Iterator[Stack]:
    """Everything started, and ended at the end."""
    # Once, and not by each of the workers at the same time.
    kernels.prepare(say)
    say("starting a broker")
    with contextlib.ExitStack() as open_:
        broker = open_.enter_context(Broker(directory / "broker"))
        bus = f"kafka://{broker.address}"
        workers = Workers(directory, bus)
        open_.callback(workers.close)
        monitors = open_.enter_context(monitored(directory / "monitors", pace))
        workers.run("topics", "create", "--partitions", "3")
        say("starting workers, Prometheus and Alertmanager")
        for stage in STAGES:
            workers.start(stage)
        monitors.start(list(workers.running))
        ready = "count(reusewatch_ready == 1)"
        # One of the two that judge stands by.
        wait(
            lambda: monitors.query(ready) and monitors.query(ready)[0][1] >= len(STAGES) - 1,
            workers,
        )
        yield Stack(bus, workers, monitors)


def wait(condition: Callable[[], object], workers: Workers) -> None:
    """Until it holds. Raises NotStarted after some minutes, or when a worker has ended."""
    end = time.monotonic() + _PATIENCE
    while not condition():
        if (said := workers.ended()) is not None:
            raise NotStarted(said)
        if time.monotonic() > end:
            raise NotStarted(f"nothing came for {_PATIENCE:.0f} s")
        time.sleep(0.5)
