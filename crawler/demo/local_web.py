"""A web on loopback for the demo that crawls: each host an address of its own.

A newspaper and its mirror, a host whose pages are mostly a bank's paragraphs beside somebody's
hobby, a scraper of that hobby, a link farm, a calendar and links without end, and a redirect to
where a crawl may not go. Every path is known beforehand but for those without end, so that one can
say at the end what was fetched of what there was, and what is to be found in what was fetched.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from reusewatch.crawler.demo.brand import brand_articles
from reusewatch.crawler.demo.markup import Article, html_of, named_article
from reusewatch.crawler.demo.prose import paragraph
from reusewatch.crawler.demo.web import SEED

HOSTS = tuple(f"127.0.0.{n}" for n in range(1, 9))
HOME, GAZETTE, MIRROR, FREE_PAGES, CALENDAR, SCRAPER, FARM, MAZE = HOSTS
TELLER, HOBBY = "/~teller/", "/~hobby/"
# Nobody is there; a redirect leads there.
FORBIDDEN = "127.0.0.99"
_NEWS, _STUFFED, _HOBBY, _FARMED = 24, 150, 16, 24
Key = tuple[str, str]
# A kind of alert, and its subject: of a page that two hosts have, only the path.
Finding = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a path answers."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)


class LocalWeb:
    """The pages by host and path, and how often each was asked for. `owned`: who crawls says that
    the newspaper is the original."""

    def __init__(self, seed: int = SEED, *, news: int = _NEWS, owned: bool = False) -> None:
        rng = random.Random(f"{seed} live")  # noqa: S311 - the same web for the same seed
        self.asked: Counter[Key] = Counter()
        self.port = 0
        self.pages: dict[Key, str] = {}
        self._owned = owned
        printed = {f"/{n}.html": html_of(GAZETTE, named_article(rng)) for n in range(news)}
        for host in (GAZETTE, MIRROR):
            self._add(host, "/", printed)
        self._add(FREE_PAGES, TELLER, _stuffed(rng))
        hobby = {f"{HOBBY}{n}.html": html_of("hobby", named_article(rng)) for n in range(_HOBBY)}
        self._add(FREE_PAGES, HOBBY, hobby)
        self.pages[FREE_PAGES, "/"] = _links([TELLER, HOBBY])
        scraped = {
            path.replace(HOBBY, "/read/"): page.replace("Hobby", "Scraper")
            for path, page in hobby.items()
        }
        self._add(SCRAPER, "/", scraped)
        self._add(FARM, "/", _farmed(rng))

    def _add(self, host: str, index: str, pages: Mapping[str, str]) -> None:
        self.pages[host, index] = _links(pages)
        self.pages.update({(host, path): page for path, page in pages.items()})

    def url(self, host: str, path: str = "/") -> str:
        """Where a page is."""
        return f"http://{host}:{self.port}{path}"

    def answer(self, host: str, path: str) -> Answer:
        """What is there."""
        if path == "/robots.txt":
            return NOTHING
        self.asked[host, path] += 1
        if (host, path) == (HOME, "/away"):
            return Answer(b"", 302, (("Location", self.url(FORBIDDEN)),))
        text = self._text(host, path)
        return NOTHING if text is None else Answer(text.encode())

    def _text(self, host: str, path: str) -> str | None:
        if (host, path) == (HOME, "/"):
            return _links([*map(self.url, HOSTS[1:]), "/away"])
        if host == CALENDAR:
            return _day(path)
        if host == MAZE:
            return f"<title>{path}</title><p>Go on.{_links(['deeper/'])}"
        return self.pages.get((host, path))

    def clean(self, host: str, under: str) -> None:
        """From now on every page of a place has words of its own."""
        rng = random.Random(f"{SEED} clean")  # noqa: S311 - as above
        for key in [key for key in self.pages if key[0] == host and key[1].startswith(under)]:
            if name_of(key[1]):
                self.pages[key] = html_of("clean", named_article(rng))

    def fetched(self, host: str, under: str = "/") -> tuple[int, int]:
        """How many pages of a place were fetched, and how many there are."""
        there = [key for key in self.pages if key[0] == host and key[1].startswith(under)]
        return sum(key in self.asked for key in there), len(there)

    def wanted(self) -> frozenset[Finding]:
        """What is to be found in what was fetched; of two hosts with the same, on one of them."""
        fetched = self.asked.keys() & self.pages.keys()
        both = {path for host, path in fetched if host == GAZETTE and (MIRROR, path) in fetched}
        scraped = {name_of(path) for host, path in fetched if host == SCRAPER} - {""}
        stuffed = {path for host, path in fetched if host == FREE_PAGES} - {TELLER}
        return frozenset({
            *(("duplicate", path) for path in both),
            *(("near-duplicate", n) for n in scraped if (FREE_PAGES, HOBBY + n) in fetched),
            *(("labeled-content", path) for path in stuffed if path.startswith(TELLER)),
            ("bad-neighborhood", self.url(FREE_PAGES, TELLER)),
            *([("bad-neighborhood", self.url(MIRROR))] if self._owned else ()),
            ("crawl-trap", self.url(CALENDAR)), ("crawl-trap", self.url(MAZE)),
            ("mirror-host", ""), ("phrase-host", self.url(FARM)),
        })  # fmt: skip

    @contextmanager
    def served(self) -> Iterator[LocalWeb]:
        """On loopback, for as long as it takes."""
        first = _Server((HOME, 0), self)
        self.port = first.server_address[1]
        servers = [first, *(_Server((host, self.port), self) for host in HOSTS[1:])]
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


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def _farmed(rng: random.Random) -> dict[str, str]:
    """What a machine answers with sentences of its stock."""
    stock = [part for _ in range(20) for part in paragraph(rng).split(". ")]
    found = {}
    for number in range(_FARMED):
        drawn = rng.sample(stock, len(stock) // 2)
        parts = tuple(". ".join(drawn[at : at + 4]) for at in range(0, len(drawn), 4))
        found[f"/answers/{number}.html"] = html_of("farm", Article(named_article(rng).title, parts))
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


NOTHING = Answer(b"nothing here", 404)


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
        answer = web.answer(host, self.path)
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Requests are not news."""
