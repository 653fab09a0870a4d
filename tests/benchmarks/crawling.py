"""What the add-on costs a crawl: the same Scrapy project with it and without it, begin to end.

Every page of a site on loopback is fetched, as fast as that goes. A row is pages per second with
the add-on over pages per second without, without what a crawl of one page takes; on a local bus a
crawl ends when all of its pages are judged, by another process of the same machine. How much more
memory the spider's process had at its most is shown beside it. The site is a process of its own.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from tests.benchmarks.kafka import bus_at, running_broker
from tests.benchmarks.rows import Bench, Family, Row
from tests.benchmarks.started import Usage, usage_of

_LOCAL, _KAFKA = "crawl_with_addon_over_without_local", "crawl_with_addon_over_without_kafka"
_SPIDER = """
import scrapy
from scrapy.http import Request

class Fetch(scrapy.Spider):
    name = "fetch"
    custom_settings = {
        "CONCURRENT_REQUESTS": 16, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False, "LOG_LEVEL": "ERROR", "TELNETCONSOLE_ENABLED": False,
    }

    async def start(self):
        for number in range(int(self.pages)):
            yield Request(f"http://127.0.0.1:{self.port}/{number}", dont_filter=True)

    def parse(self, response):
        response.css("a::attr(href)").getall()
"""
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
_ADDON = ("-s", 'ADDONS={"reusewatch.crawler.addon.ReuseWatch": 500}')


def _serve(pages: Sequence[bytes], told: Connection) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            while (await reader.readline()).strip():
                pass
            body = pages[int(line.split()[1][1:]) % len(pages)]
            head = (
                f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await writer.drain()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


@contextmanager
def _site(pages: Sequence[bytes]) -> Iterator[int]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(pages, theirs), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        process.terminate()
        process.join()


class _Crawls:
    """Crawls of one site, each kind under its name."""

    def __init__(self, port: int, pages: int) -> None:
        self._port, self._pages = port, pages
        self.found: dict[str, list[Usage]] = {}

    def run(self, name: str, *flags: str) -> None:
        """One of all pages, and one of a single page."""
        for which, pages in ((name, self._pages), (f"{name} start", 1)):
            with tempfile.TemporaryDirectory() as directory:
                spider = Path(directory) / "fetch.py"
                spider.write_text(_SPIDER)
                given = [flag.replace("DIRECTORY", directory) for flag in flags]
                used = usage_of(
                    sys.executable, "-m", "scrapy", "runspider", str(spider),
                    "-a", f"port={self._port}", "-a", f"pages={pages}", *given,
                )  # fmt: skip
                self.found.setdefault(which, []).append(used)

    def seconds(self, name: str) -> float:
        """Of a crawl, without its start."""
        wall = {which: median(one.wall for one in self.found[which]) for which in self.found}
        return wall[name] - wall[f"{name} start"]

    def row(self, name: str, other: str) -> Row:
        """The ratio of the two rates."""
        peak = {which: max(one.peak_bytes for one in self.found[which]) for which in self.found}
        return Row(name, self.seconds("without") / self.seconds(other), "×", {
            "measures": "pages per second of a Scrapy crawl, with the add-on / without",
            "pages": self._pages,
            "seconds_without": self.seconds("without"), "seconds_with": self.seconds(other),
            "start_seconds_without": median(one.wall for one in self.found["without start"]),
            "start_seconds_with": median(one.wall for one in self.found[f"{other} start"]),
            "spider_mb_more": (peak[other] - peak["without"]) / 1e6,
        })  # fmt: skip


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """Both buses beside no bus, in turn."""
    pages = [document.html for document in bench.documents[: bench.scale.crawl_pages]]
    rows = []
    with _site(pages) as port:
        for name in names:
            crawls = _Crawls(port, bench.scale.crawl_pages)
            if name == _LOCAL:
                for _ in range(bench.scale.kafka_rounds):
                    crawls.run("without")
                    crawls.run("local", *_ADDON, "-s", "REUSEWATCH_BUS=local:DIRECTORY/bus")
                rows.append(crawls.row(name, "local"))
            else:
                with running_broker(bench) as (address, _):
                    for _ in range(bench.scale.kafka_rounds):
                        prefix = bus_at(address).config.topic_prefix
                        crawls.run("without")
                        crawls.run(
                            "kafka", *_ADDON, "-s", f"REUSEWATCH_BUS=kafka://{address}",
                            "-s", f"REUSEWATCH_TOPIC_PREFIX={prefix}",
                        )  # fmt: skip
                rows.append(crawls.row(name, "kafka"))
    return rows


FAMILY = Family((_LOCAL, _KAFKA), measure)
