"""What the add-on costs a crawl: the same Scrapy project with it and without it, begin to end.

Every page of a site on loopback is fetched, as fast as that goes. A row is pages per second with
the add-on over pages per second without, without what a crawl of one page takes; on a local bus a
crawl ends when all of its pages are judged, by another process of the same machine. Beside it is
the CPU a page of each process, since all of them share this machine's cores and a real broker has
its own, and how much more memory the spider's own process had at its most. A spider is bound by its
own CPU: so the ratio of that of its process is what the row would be with a core for each, and the
only one of both that says anything where much else runs. The site is a process
of its own; a broker of ours has taken a whole crawl before the first is measured, as one that runs
has.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from tests.benchmarks.kafka import bus_at, running_broker
from tests.benchmarks.processes import cpu_of
from tests.benchmarks.rows import Bench, Family, Row
from tests.benchmarks.started import Usage, usage_of

_LOCAL, _KAFKA = "crawl_with_addon_over_without_local", "crawl_with_addon_over_without_kafka"
_SPIDER = """
import atexit
import json
import time

import scrapy
from scrapy.http import Request


def tell():
    with open("/proc/self/status") as file:
        peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    with open(__file__ + ".json", "w") as file:
        json.dump({"cpu": time.process_time(), "peak_bytes": peak << 10}, file)


# What the process started is in the usage of its whole, and what it is by itself only it knows.
atexit.register(tell)


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
def _site(pages: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Its port and its process."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_serve, args=(pages, theirs), daemon=True)
    process.start()
    try:
        assert process.pid is not None
        yield ours.recv(), process.pid
    finally:
        process.terminate()
        process.join()


@dataclass(frozen=True, slots=True)
class _Crawl:
    """What one crawl cost: as its user sees it, and CPU seconds of each process."""

    whole: Usage
    spider_peak_bytes: int
    cpu: Mapping[str, float]


class _Crawls:
    """Crawls of one site, each kind under its name. `others`: processes that run all the time."""

    def __init__(self, port: int, pages: int, others: Mapping[str, int]) -> None:
        self._port, self._pages, self._others = port, pages, others
        self.found: dict[str, list[_Crawl]] = {}

    def run(self, name: str, *flags: str) -> None:
        """One of all pages, and one of a single page."""
        for which, pages in ((name, self._pages), (f"{name} start", 1)):
            self.found.setdefault(which, []).append(self._one(pages, flags))

    def _one(self, pages: int, flags: Sequence[str]) -> _Crawl:
        with tempfile.TemporaryDirectory() as directory:
            spider = Path(directory) / "fetch.py"
            spider.write_text(_SPIDER)
            given = [flag.replace("DIRECTORY", directory) for flag in flags]
            before = {name: cpu_of(pid) for name, pid in self._others.items()}
            used = usage_of(
                sys.executable, "-m", "scrapy", "runspider", str(spider),
                "-a", f"port={self._port}", "-a", f"pages={pages}", *given,
            )  # fmt: skip
            own = json.loads(Path(f"{spider}.json").read_text())
            cpu = {name: cpu_of(pid) - before[name] for name, pid in self._others.items()}
            cpu |= {"spider": own["cpu"], "children": used.cpu - own["cpu"]}
        return _Crawl(used, own["peak_bytes"], cpu)

    def seconds(self, name: str) -> float:
        """Of a crawl, without its start."""
        return self._beyond_start(name, lambda one: one.whole.wall)

    def _beyond_start(self, name: str, of: Callable[[_Crawl], float]) -> float:
        return median(map(of, self.found[name])) - median(map(of, self.found[f"{name} start"]))

    def _cpu(self, name: str) -> dict[str, float]:
        """Microseconds a page of each process, without the start."""
        us = 1e6 / (self._pages - 1)
        return {
            process: self._beyond_start(name, lambda one, of=process: one.cpu[of]) * us
            for process in self.found[name][0].cpu
        }

    def _mb_more(self, name: str, of: Callable[[_Crawl], int]) -> float:
        most = {which: max(map(of, self.found[which])) for which in (name, "without")}
        return (most[name] - most["without"]) / 1e6

    def row(self, name: str, other: str) -> Row:
        """The ratio of the two rates."""
        without, others = self._cpu("without"), self._cpu(other)
        return Row(name, self.seconds("without") / self.seconds(other), "×", {
            "measures": "pages per second of a Scrapy crawl, with the add-on / without",
            "pages": self._pages,
            "seconds_without": self.seconds("without"), "seconds_with": self.seconds(other),
            "start_seconds_without": median(one.whole.wall for one in self.found["without start"]),
            "start_seconds_with": median(one.whole.wall for one in self.found[f"{other} start"]),
            "spider_mb_more": self._mb_more(other, lambda one: one.spider_peak_bytes),
            "largest_process_mb_more": self._mb_more(other, lambda one: one.whole.peak_bytes),
            "spider_cpu_without_over_with": without["spider"] / others["spider"],
            "cpu_us_per_page_without": without,
            "cpu_us_per_page_with": others,
            "load": os.getloadavg()[0],
        })  # fmt: skip


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """Both buses beside no bus, in turn."""
    pages = [document.html for document in bench.documents[: bench.scale.crawl_pages]]
    with _site(pages) as (port, site):
        return [
            (_on_local if name == _LOCAL else _on_kafka)(bench, port, {"site": site})
            for name in names
        ]


def _on_local(bench: Bench, port: int, others: Mapping[str, int]) -> Row:
    crawls = _Crawls(port, bench.scale.crawl_pages, others)
    for _ in range(bench.scale.kafka_rounds):
        crawls.run("without")
        crawls.run("local", *_ADDON, "-s", "REUSEWATCH_BUS=local:DIRECTORY/bus")
    return crawls.row(_LOCAL, "local")


def _on_kafka(bench: Bench, port: int, others: Mapping[str, int]) -> Row:
    with running_broker(bench) as (address, pid):
        if pid is not None:
            others = {**others, "broker": pid}
        crawls = _Crawls(port, bench.scale.crawl_pages, others)
        if pid is not None:
            crawls.run("warming", *_onto(address))
        for _ in range(bench.scale.kafka_rounds):
            crawls.run("without")
            crawls.run("kafka", *_onto(address))
        return crawls.row(_KAFKA, "kafka")


def _onto(address: str) -> tuple[str, ...]:
    """Topics that nobody has used."""
    prefix = bus_at(address).config.topic_prefix
    return (
        *_ADDON, "-s", f"REUSEWATCH_BUS=kafka://{address}",
        "-s", f"REUSEWATCH_TOPIC_PREFIX={prefix}",
    )  # fmt: skip


FAMILY = Family((_LOCAL, _KAFKA), measure)
