"""Every metric, once. Labels come from closed sets of ours, never from pages.

A process has one registry and one port of its own; nothing is shared between processes.
"""

from __future__ import annotations

import platform
import threading
import urllib.parse
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from typing import Protocol

import msgspec
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from reusewatch.detector.errors import DetectorError
from reusewatch.streams.bus import Partition, Unreachable
from reusewatch.streams.labels.marking import InForce
from reusewatch.streams.questions import BadQuestion, Parameters, Rows, Unanswered

_QUESTIONS = "/questions/"
_LONGEST_QUESTION = 1 << 20
_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SLOW = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600)


@dataclass(frozen=True, slots=True)
class Declared:
    """A metric as it is told to people: what is measured, and by which labels."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


class Meters:
    """The metrics of one process."""

    def __init__(self, stage: str, scheme: str) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._stage = stage
        self._in_force: InForce | None = None

        self.declared: list[Declared] = []

        def declare(name: str, kind: str, text: str, *labels: str) -> tuple[str, str, list[str]]:
            one = Declared(f"reusewatch_{name}", kind, ("stage", *labels), text)
            self.declared.append(one)
            return one.name, one.meaning, list(one.labels)

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(*declare(name, "counter", text, *labels), registry=self.registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(*declare(name, "gauge", text, *labels), registry=self.registry)

        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
            return Histogram(
                *declare(name, "histogram", text), registry=self.registry, buckets=buckets
            )

        self.records_in = counter("records_in_total", "Messages read from the bus.", "topic")
        self.bytes_in = counter("bytes_in_total", "Bytes of the messages read.", "topic")
        self.pages = counter("pages_total", "Pages that the stage processed.")
        self.records_out = counter("records_out_total", "Messages sent to the bus.", "topic")
        self.bytes_out = counter("bytes_out_total", "Bytes of the messages sent.", "topic")
        self.dead = counter("dead_letters_total", "Records that could not be processed.", "reason")
        self.events = counter("events_total", "What else happened, by name.", "event")
        self.alerts = counter("alerts_total", "Alerts sent.", "kind")
        self.muted = counter("muted_total", "Outputs that were not sent again after a restart.")
        self.batch_seconds = histogram("batch_seconds", "The time to process a batch.", _FAST)
        self.latency_seconds = histogram(
            "latency_seconds", "From a page's arrival on the bus to this stage's output.", _SLOW
        )
        self.commit_seconds = histogram("commit_seconds", "The time to commit.", _FAST)
        self.lag_records = gauge(
            "lag_records", "Messages that wait to be read.", "topic", "partition"
        )
        self.lag_seconds = gauge(
            "lag_seconds", "Age of the last message that was read; 0 when none waits.", "topic",
            "partition",
        )  # fmt: skip
        self.progress = gauge(
            "last_progress_timestamp_seconds", "When a message was last processed.", "topic",
            "partition",
        )  # fmt: skip
        self.state_rows = gauge("state_rows", "Rows of the state that the stage holds.")
        self.state_bytes = gauge("state_bytes", "Bytes of the state that the stage holds, about.")
        self.snapshot_time = gauge(
            "snapshot_timestamp_seconds", "When the newest snapshot was written."
        )
        self.snapshot_seconds = histogram(
            "snapshot_seconds", "The time to write a snapshot.", _SLOW
        )
        self.rebalances = counter("rebalances_total", "Times that partitions came or went.")
        self.troubles = counter(
            "bus_troubles_total", "Times that the bus was waited for or connected anew."
        )
        self.labels = gauge(
            "labels", "Hashes in the labeled dataset that pages are matched with.", "unit"
        )
        self._labels_version = gauge(
            "labels_version_info", "The labeled dataset that pages are matched with: always 1.",
            "version",
        )  # fmt: skip
        self.ready = gauge("ready", "1 once recovery is done and the process reads.")
        info = gauge("build_info", "What is running: always 1.", "version", "scheme", "python")
        info.labels(stage, version("reusewatch"), scheme, platform.python_version()).set(1)

    @property
    def stage(self) -> str:
        """The label of everything here."""
        return self._stage

    def show_labels(self, stage: str, found: InForce) -> None:
        """The labeled dataset that a stage matches with, and a refusal of a newer one, once."""
        if found == self._in_force:
            return
        self._in_force = found
        self.labels.labels(stage, "file").set(found.files)
        self.labels.labels(stage, "chunk").set(found.chunks)
        self._labels_version.clear()
        if found.version is not None:
            self._labels_version.labels(stage, found.version).set(1)
        if found.trouble is not None:
            self.events.labels(stage, "labels-refused").inc()

    def forget(self, parts: Sequence[Partition]) -> None:
        """These partitions are somebody else's: what they wait for is shown there."""
        for topic, number in parts:
            for gauge in (self.lag_records, self.lag_seconds, self.progress):
                with suppress(KeyError):  # it was never set
                    gauge.remove(self._stage, topic, str(number))

    def exposition(self) -> bytes:
        """What /metrics says."""
        return generate_latest(self.registry)


class Watched(Protocol):
    """What Health asks."""

    def trouble(self) -> str | None:
        """Why the process should be restarted, if it should."""

    def ready(self) -> bool:
        """Whether it is through with recovery and reads."""

    def ask(self, name: str, parameters: Parameters) -> Rows:
        """What a question to its state comes to. Raises BadQuestion, Unanswered."""


class Health:
    """/metrics, /healthz, /readyz and /questions/NAME on one port, loopback unless configured."""

    def __init__(self, meters: Meters, host: str, port: int, watched: Watched) -> None:
        try:
            self._server = ThreadingHTTPServer((host, port), _handler(meters, watched))
        except OSError as error:
            raise Unreachable(
                f"metrics cannot be served on {host}:{port}: {error.strerror}: give another "
                "--metrics-port (0 takes any that is free)"
            ) from error
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(meters: Meters, watched: Watched) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10  # a client that says nothing does not hold a thread for ever

        def do_GET(self) -> None:
            if self.path.partition("?")[0] == "/metrics":
                self._answer(200, meters.exposition(), CONTENT_TYPE_LATEST)
            elif self.path == "/healthz":
                trouble = watched.trouble()
                self._answer(503 if trouble else 200, (trouble or "ok").encode() + b"\n")
            elif self.path == "/readyz":
                ready = watched.ready()
                self._answer(200 if ready else 503, b"ready\n" if ready else b"not ready\n")
            elif self.path.startswith(_QUESTIONS):
                path, _, query = self.path.partition("?")
                self._answer_question(path, query)
            else:
                self._answer(404, b"there is /metrics, /healthz, /readyz and /questions/NAME\n")

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not self.path.startswith(_QUESTIONS):
                self._answer(404, b"there is /questions/NAME\n")
            elif not length.isdecimal() or int(length) > _LONGEST_QUESTION:
                self._answer(413, f"a question has at most {_LONGEST_QUESTION} bytes\n".encode())
            else:
                body = self.rfile.read(int(length))
                self._answer_question(self.path, body.decode("ascii", "replace"))

        def _answer_question(self, path: str, query: str) -> None:
            if not watched.ready():
                # A state that is half rebuilt would be answered for as if it were all.
                self._answer(503, b"not ready\n")
                return
            try:
                name = path.removeprefix(_QUESTIONS)
                found = watched.ask(name, dict(urllib.parse.parse_qsl(query)))
            except (BadQuestion, DetectorError, ValueError, OverflowError) as error:
                self._answer(400, f"{error}\n".encode())
            except Unanswered as error:
                self._answer(503, f"{error}\n".encode())
            else:
                said = {"as_of": datetime.now(UTC), "answers": found}
                self._answer(200, msgspec.json.encode(said), "application/json")

        def _answer(self, status: int, body: bytes, kind: str = "text/plain") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Scrapes are not news."""

    return Handler
