"""The port of a worker: its metrics, whether it is well, and questions to its state.

Loopback unless configured otherwise. Answers; never changes what it is asked about.
"""

from __future__ import annotations

import threading
import urllib.parse
from collections.abc import Collection
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

import msgspec
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from reusewatch.detector.errors import DetectorError
from reusewatch.streams.bus import Unreachable
from reusewatch.streams.questions import BadQuestion, Parameters, Rows, Unanswered
from reusewatch.streams.running.askers import length_of, refusal
from reusewatch.streams.running.crawl_metrics import CrawlMeters
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.prefix_answers import PrefixAnswers

_QUESTIONS = "/questions/"
_LONGEST_QUESTION = 1 << 20
_MOST_CLIENTS = 128
_AGAIN_SECONDS = 5
_THERE_IS = b"/metrics, /healthz, /readyz, /prefixes and /questions/NAME"


class Watched(Protocol):
    """What Health asks."""

    def trouble(self) -> str | None:
        """Why the process should be restarted, if it should."""

    def ready(self) -> bool:
        """Whether it is through with recovery and reads."""

    def ask(self, name: str, parameters: Parameters) -> Rows:
        """What a question to its state comes to. Raises BadQuestion, Unanswered."""


class Health:
    """/metrics, /healthz, /readyz, /questions/NAME and /prefixes on one port, loopback unless
    configured. `prefixes` closes with it."""

    def __init__(
        self,
        meters: Meters | CrawlMeters,
        host: str,
        port: int,
        watched: Watched,
        *,
        prefixes: PrefixAnswers,
        question_hosts: Collection[str] = (),
    ) -> None:
        self._prefixes = prefixes
        names = frozenset(name.lower() for name in (host, *question_hosts))
        try:
            self._server = _Server((host, port), _handler(meters, watched, prefixes, names))
        except OSError as error:
            raise Unreachable(
                f"metrics cannot be served on {host}:{port}: {error.strerror}: give another "
                "--metrics-port (0 takes any that is free)"
            ) from error
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
        self._prefixes.close()


class _Server(ThreadingHTTPServer):
    """A thread for each client, and no more clients than `_MOST_CLIENTS` at a time."""

    daemon_threads = True

    def __init__(self, *arguments: Any) -> None:
        self._free = threading.BoundedSemaphore(_MOST_CLIENTS)
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Hand the client to a thread; where there is none left, hang up."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread can be started: its place is free again
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """In that thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


def _handler(
    meters: Meters | CrawlMeters, watched: Watched, prefixes: PrefixAnswers, names: Collection[str]
) -> type[BaseHTTPRequestHandler]:
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
            elif self.path.partition("?")[0] == "/prefixes":
                self._answer_prefixes(self.path.partition("?")[2])
            else:
                self._answer(404, b"there is " + _THERE_IS + b"\n")

        def do_HEAD(self) -> None:
            self.do_GET()

        def do_POST(self) -> None:
            length = length_of(self.headers, _LONGEST_QUESTION)
            if not self.path.startswith(_QUESTIONS):
                self._answer(404, b"there is /questions/NAME\n")
            elif length is None:
                self._answer(413, f"a question has 0 to {_LONGEST_QUESTION} bytes\n".encode())
            else:
                body = self.rfile.read(length)
                self._answer_question(self.path, body.decode("ascii", "replace"))

        def _is_refused(self) -> bool:
            refused = refusal(self.headers, names)
            if refused is not None:
                self._answer(403, f"{refused}\n".encode("utf-8", "replace"))
            return refused is not None

        def _answer_question(self, path: str, query: str) -> None:
            if self._is_refused():
                return
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
                self._answer(503, f"{error}\n".encode(), again=_AGAIN_SECONDS)
            else:
                said = {"as_of": datetime.now(UTC), "answers": found}
                self._answer(200, msgspec.json.encode(said), "application/json")

        def _answer_prefixes(self, query: str) -> None:
            if self._is_refused():
                return
            asked = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
            known = [tag.strip() for tag in self.headers.get("If-None-Match", "").split(",")]
            try:
                found = prefixes.answer(asked, known)
            except BadQuestion as error:
                self._answer(400, f"{error}\n".encode())
            except Unanswered as error:
                self._answer(503, f"{error}\n".encode(), again=_AGAIN_SECONDS)
            else:
                status = 200 if found.body is not None else 304
                self._answer(status, found.body or b"", etag=found.etag)

        def _answer(
            self,
            status: int,
            body: bytes,
            kind: str = "text/plain",
            *,
            again: int | None = None,
            etag: str | None = None,
        ) -> None:
            self.send_response(status)
            if again is not None:
                self.send_header("Retry-After", str(again))
            if etag is not None:
                self.send_header("ETag", etag)
            self.send_header("Content-Type", kind)
            # With 304 it would be that of the text which the client has (RFC 9110, §8.6).
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Scrapes are not news."""

    return Handler
