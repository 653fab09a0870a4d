"""A real web on loopback: the demo's pages, each host an address of its own, and odd corners."""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reusewatch.crawler.demo.web import DemoPage, web

HOME = "127.0.0.1"
OTHER = "127.0.0.2"


@dataclass(frozen=True)
class Answer:
    """What a path answers."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)


@dataclass
class Site:
    """Paths and their answers; what was asked for, in order; a gate that can hold answers back."""

    answers: dict[str, Answer]
    port: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    # The addresses that were connected to, whatever the hosts were called.
    served: set[str] = field(default_factory=set)
    gate: threading.Event = field(default_factory=threading.Event)
    asked_for: threading.Condition = field(default_factory=threading.Condition)

    def url(self, path: str = "/", host: str = HOME) -> str:
        """The URL of a path."""
        return f"http://{host}:{self.port}{path}"

    def paths(self) -> Counter[str]:
        """How often each path was asked for, whichever the host."""
        return Counter(path for _, path in self.asked)

    def wait_for(self, requests: int) -> None:
        """Until so many requests came."""
        with self.asked_for:
            assert self.asked_for.wait_for(lambda: len(self.asked) >= requests, 60), self.asked


def demo_paths(pages: list[DemoPage]) -> dict[str, DemoPage]:
    """The demo's pages by the path that they have here."""
    return {"/" + page.url.split("://")[1]: page for page in pages}


def demo_site() -> Site:
    """The demo's web under one host: an index, every page, an image, a redirect, gzip, a 404."""
    pages = demo_paths(web())
    links = "".join(f'<li><a href="{path}">x</a>' for path in pages)
    odd = '<a href="/moved">m</a><a href="/packed">p</a><a href="/none">n</a><a href="/dot">d</a>'
    answers = {path: Answer(page.html.encode(), page.status) for path, page in pages.items()}
    answers |= {
        "/": Answer(f"<html><title>All</title>{links}{odd}</html>".encode()),
        "/robots.txt": Answer(
            b"User-agent: *\nDisallow: /secret\n", headers=(("Content-Type", "text/plain"),)
        ),
        "/moved": Answer(
            b"<html>moved to <a href=/target>there</a>",
            302,
            (("Content-Type", "text/html; charset=iso-8859-1"), ("Location", "/target")),
        ),
        "/target": Answer(b"<html><a href=/secret>no</a><p>The target."),
        "/secret": Answer(b"<html>not for crawlers"),
        "/packed": Answer(
            gzip.compress(b"<html><p>Packed words, then unpacked."),
            headers=(("Content-Type", "text/html"), ("Content-Encoding", "gzip")),
        ),
        "/dot": Answer(b"GIF89a", headers=(("Content-Type", "image/gif"),)),
    }
    return Site(answers)


@contextmanager
def serving(site: Site, *, held: bool = False) -> Iterator[Site]:
    """Serve on both hosts. `held`: pages wait until the gate opens."""
    if not held:
        site.gate.set()
    first = _Server((HOME, 0), site)
    site.port = first.server_address[1]
    servers = [first, _Server((OTHER, site.port), site)]
    threads = [threading.Thread(target=server.serve_forever, args=(0.02,)) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield site
    finally:
        site.gate.set()
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], site: Site) -> None:
        self.site = site
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A crawler that was stopped hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        host = self.headers["Host"].partition(":")[0]
        with site.asked_for:
            site.asked.append((host, self.path))
            site.served.add(self.connection.getsockname()[0])
            site.asked_for.notify_all()
        if self.path != "/robots.txt":
            site.gate.wait(60)
        answer = site.answers.get(self.path, Answer(b"<html>nothing here", 404))
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value.replace("{port}", str(site.port)))
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""
