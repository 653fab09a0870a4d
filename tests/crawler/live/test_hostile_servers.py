"""Servers that keep to no rules, written to their sockets byte by byte: the crawl goes on."""

from __future__ import annotations

import socketserver
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path

from scrapy.http import HtmlResponse

from reusewatch.crawler.spiders.sites import Sites
from reusewatch.streams.local import LocalBus
from reusewatch.streams.verbs import topic_views
from tests.command import COMMAND
from tests.crawler.live.crawls import crawl_arguments, run, summary_of

PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
Says = Callable[[str], Iterable[bytes]]


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, says: Says) -> None:
        self.says = says
        self.asked: Counter[str] = Counter()
        super().__init__(("127.0.0.1", 0), _Answer)

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{path}"


class _Answer(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        path = self.rfile.readline().split()[1].decode()
        while self.rfile.readline().strip():
            pass
        self.server.asked[path] += 1
        try:
            for part in self.server.says(path):
                self.wfile.write(part)
        except OSError:
            pass  # the crawl has had enough


@contextmanager
def serving(says: Says) -> Iterator[_Server]:
    with _Server(says) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def letters(state: Path) -> set[tuple[str, str | None]]:
    """Reasons and URLs of what could not be taken."""
    return {(one.reason, one.url) for one in topic_views.dead_letters(LocalBus(state))}


def paths(answers: Mapping[str, Iterable[bytes]]) -> Says:
    """What stands there; everything else is not there."""
    return lambda path: answers.get(path, [b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"])


def test_headers_without_end_are_not_kept(tmp_path: Path) -> None:
    head = b"".join(b"X-%d: %s\r\n" % (n, b"y" * 8000) for n in range(8))
    answers = {
        "/": [PAGE, b"<a href=/endless>e<a href=/patience>p<a href=/good>g"],
        "/endless": _forever(b"HTTP/1.1 200 OK\r\n", head),
        "/patience": _forever(b"", b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" * 1000),
        "/good": [PAGE, b"<p>good"],
    }
    with serving(paths(answers)) as server:
        code, out, err = run(crawl_arguments("local:state", server.url()), tmp_path)
        assert code == 0, err
        assert summary_of(out)["pages"] == 2
        assert server.asked["/good"] == 1
    for path in ("/endless", "/patience"):
        assert f"{path}>: [<twisted.python.failure.Failure" in err
    assert err.count("more headers than are taken") >= 2


def test_a_status_that_is_none_is_a_dead_letter_here_and_in_what_is_kept(tmp_path: Path) -> None:
    answers = {
        "/": [PAGE, b"<a href=/long>l<a href=/four>f<a href=/good>g"],
        "/four": [b"HTTP/1.1 1000 OK\r\nContent-Type: text/html\r\n\r\n<p>four"],
        "/long": [b"HTTP/1.1 99999999999999999999 OK\r\nContent-Type: text/html\r\n\r\n<p>long"],
        "/good": [PAGE, b"<p>good"],
    }
    with serving(paths(answers)) as server:
        flags = ("--allow-private", "--warc", "kept")
        code, out, err = run(crawl_arguments("local:state", server.url(), flags=flags), tmp_path)
        assert code == 1, err
        found = summary_of(out)
        assert (found["pages"], found["dead_letters"]) == (2, 2)
        wanted = {("bad-http", server.url("/long")), ("bad-http", server.url("/four"))}
        assert letters(tmp_path / "state") == wanted
        replay = [*COMMAND[1:], "replay", "kept", "--bus", "local:again", "--json"]
        code, out, err = run(replay, tmp_path)
        assert (code, summary_of(out)["pages"]) == (1, 2), err
        assert letters(tmp_path / "again") == wanted


def test_pages_below_the_name_of_robots_txt_are_pages(tmp_path: Path) -> None:
    """Each of a chain without end: they count, and the limit holds."""

    def says(path: str) -> Iterable[bytes]:
        if path == "/robots.txt":
            return [b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"]
        number = int(path.partition("?")[2] or 0)
        return [PAGE, b"<p>page <a href='/robots.txt?%d'>next" % (number + 1)]

    with serving(says) as server:
        flags = ("--allow-private", "--limit-pages", "5")
        code, out, err = run(crawl_arguments("local:state", server.url(), flags=flags), tmp_path)
        assert code == 0, err
        assert summary_of(out)["pages"] == 5
        assert server.asked.total() == 5 + 1


def test_a_robots_txt_leads_no_further() -> None:
    async def links(url: str) -> list[str]:
        spider = Sites((url,), depth=None, other_sites=True)
        page = HtmlResponse(url, body=b"<a href='http://2.h.example/robots.txt'>", encoding="utf-8")
        return [request.url async for request in spider.parse(page)]

    import asyncio

    assert asyncio.run(links("http://h.example/robots.txt")) == []
    assert asyncio.run(links("http://h.example/")) == ["http://2.h.example/robots.txt"]


def test_of_a_robots_txt_that_leads_elsewhere_no_more_is_taken(tmp_path: Path) -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: /rules\r\nContent-Length: 0\r\n\r\n"
    plain = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    answers = {
        "/robots.txt": [moved],
        "/rules": _forever(plain + b"User-agent: *\nDisallow: /secret\n", b"#" * 9999 + b"\n"),
        "/": [PAGE, b"<a href=/secret>s<a href=/good>g"],
        "/good": [PAGE, b"<p>good"],
    }
    with serving(paths(answers)) as server:
        code, out, err = run(crawl_arguments("local:state", server.url()), tmp_path)
        assert code == 0, err
        assert summary_of(out)["robots"] == {"forbidden": 1}
        assert (server.asked["/good"], server.asked["/secret"]) == (1, 0)


class _forever:  # noqa: N801 - read as a function
    """A beginning, then the same for as long as anybody reads, for each who asks."""

    def __init__(self, begin: bytes, part: bytes) -> None:
        self._begin, self._part = begin, part

    def __iter__(self) -> Iterator[bytes]:
        yield self._begin
        yield from repeat(self._part)
