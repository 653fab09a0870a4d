"""Metrics served, of a process that has no worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol


class Exposes(Protocol):
    def exposition(self) -> bytes: ...


@contextmanager
def served(meters: Exposes) -> Iterator[int]:
    """The port where they are."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(meters.exposition())

        def log_message(self, *args: object) -> None:
            """Scrapes are not news."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()
    thread.join()
