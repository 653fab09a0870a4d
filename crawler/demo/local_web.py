"""A web on loopback for the demo that crawls: each host an address of its own.

A newspaper and its mirror, a host whose pages are mostly a bank's paragraphs beside somebody's
hobby, and a calendar without end. Every path is known beforehand but for the calendar's, so that
one can say at the end what was fetched of what there was.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from reusewatch.crawler.demo.brand import brand_articles
from reusewatch.crawler.demo.markup import Article, html_of, named_article
from reusewatch.crawler.demo.web import SEED

HOME, GAZETTE, MIRROR, FREE_PAGES, CALENDAR = (f"127.0.0.{n}" for n in (1, 2, 3, 4, 5))
TELLER, HOBBY = "/~teller/", "/~hobby/"
_NEWS, _STUFFED, _HOBBY = 24, 150, 16
Key = tuple[str, str]


class LocalWeb:
    """The pages by host and path, and how often each was asked for."""

    def __init__(self, seed: int = SEED) -> None:
        rng = random.Random(f"{seed} live")  # noqa: S311 - the same web for the same seed
        self.asked: Counter[Key] = Counter()
        self.port = 0
        self.pages: dict[Key, str] = {}
        news = {f"/{n}.html": html_of(GAZETTE, named_article(rng)) for n in range(_NEWS)}
        for host in (GAZETTE, MIRROR):
            self._add(host, "/", news)
        self._add(FREE_PAGES, TELLER, _stuffed(rng))
        hobby = {f"{HOBBY}{n}.html": html_of("hobby", named_article(rng)) for n in range(_HOBBY)}
        self._add(FREE_PAGES, HOBBY, hobby)
        self.pages[FREE_PAGES, "/"] = _links([TELLER, HOBBY])

    def _add(self, host: str, index: str, pages: Mapping[str, str]) -> None:
        self.pages[host, index] = _links(pages)
        self.pages.update({(host, path): page for path, page in pages.items()})

    def url(self, host: str, path: str = "/") -> str:
        """Where a page is."""
        return f"http://{host}:{self.port}{path}"

    def answer(self, host: str, path: str) -> str | None:
        """What is there."""
        self.asked[host, path] += 1
        if (host, path) == (HOME, "/"):
            return _links(map(self.url, (GAZETTE, MIRROR, FREE_PAGES, CALENDAR)))
        if host == CALENDAR:
            return _day(path)
        return self.pages.get((host, path))

    def fetched(self, host: str, under: str = "/") -> tuple[int, int]:
        """How many pages of a place were fetched, and how many there are."""
        there = [key for key in self.pages if key[0] == host and key[1].startswith(under)]
        return sum(key in self.asked for key in there), len(there)

    @contextmanager
    def served(self) -> Iterator[LocalWeb]:
        """On loopback, for as long as it takes."""
        first = _Server((HOME, 0), self)
        self.port = first.server_address[1]
        others = (GAZETTE, MIRROR, FREE_PAGES, CALENDAR)
        servers = [first, *(_Server((host, self.port), self) for host in others)]
        threads = [
            threading.Thread(target=one.serve_forever, args=(0.05,), daemon=True) for one in servers
        ]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            for server, thread in zip(servers, threads, strict=True):
                server.shutdown()
                thread.join()
                server.server_close()


def _stuffed(rng: random.Random) -> dict[str, str]:
    """Five of the bank's paragraphs a page, and one of its own."""
    known = [part for text in brand_articles() for part in text.paragraphs]
    found = {}
    for number in range(_STUFFED):
        own = named_article(rng)
        text = Article(own.title, (*rng.sample(known, 5), own.paragraphs[0]))
        found[f"{TELLER}{number}.html"] = html_of("teller", text)
    return found


def _day(path: str) -> str:
    try:
        day = date.fromisoformat(path.strip("/") or "2026-01-01")
    except ValueError:
        return "<p>No such day."
    later = day + timedelta(days=30)
    return f"<title>{day}</title><p>Nothing happens on {day}.{_links([f'/{later}'])}"


def _links(paths: Iterable[str]) -> str:
    return "".join(f'<p><a href="{path}">{path}</a></p>' for path in paths)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], web: LocalWeb) -> None:
        self.web = web
        super().__init__(address, _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A crawler that was stopped hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        web: LocalWeb = self.server.web  # type: ignore[attr-defined]
        host = (self.headers.get("Host") or "").partition(":")[0]
        text = web.answer(host, self.path) if self.path != "/robots.txt" else None
        body = (text or "nothing here").encode()
        self.send_response(200 if text is not None else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Requests are not news."""
