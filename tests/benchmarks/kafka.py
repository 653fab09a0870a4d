"""The same pages through a real broker: what that costs per core, and what a second worker brings.

`kafka_over_local_per_core` compares CPU time, summed over the processes of ours: replay, work
fingerprint and work index against one replay in local mode. What each costs before the first page
is taken off. The broker is another's program and is shown beside it.

`kafka_cpu_over_local` is the same from the user's side: how many times the CPU of a local replay,
with every stage on either side.

`two_workers_over_one` compares how long `work fingerprint` takes for what lies on `pages`: one
process on one core, then two on two. They stand still while the topic is filled, begin at once,
and the time of the last block on `fingerprints` is the end. Pages are spread so that each
partition holds as many bytes; the broker shares the cores.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import msgspec

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.bus import Outlet
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, create_topics
from reusewatch.streams.records import Page
from reusewatch.streams.wire import page_message
from tests.benchmarks.clock import cores
from tests.benchmarks.processes import Worker, cpu_of, run, until, working
from tests.benchmarks.rows import Bench, Family, Row
from tests.deployed import Broker

_OVER_LOCAL = "kafka_over_local_per_core"
_CPU = "kafka_cpu_over_local"
_TWO = "two_workers_over_one"


@contextmanager
def running_broker(bench: Bench) -> Iterator[tuple[str, int | None]]:
    """Its address, and its process where it is ours."""
    if bench.broker:
        yield bench.broker, None
        return
    with Broker() as broker:
        yield broker.address, broker.pid


def bus_at(address: str) -> KafkaBus:
    """Topics that nobody has used."""
    config = KafkaConfig((address,), topic_prefix=f"b{uuid.uuid4().hex[:10]}.")
    create_topics(config)
    return KafkaBus(config)


def _flags(bus: KafkaBus) -> tuple[str, ...]:
    url = f"kafka://{bus.config.bootstrap_servers[0]}"
    return "--bus", url, "--topic-prefix", bus.config.topic_prefix


def _local_cpu(bench: Bench, core: int) -> float:
    """CPU seconds of a replay in local mode."""

    def one(archive: Path) -> float:
        with tempfile.TemporaryDirectory(dir=bench.directory) as directory:
            return run("replay", str(archive), "--bus", f"local:{directory}/bus", core=core)

    return one(bench.corpus.archive) - one(bench.corpus.first)


def _kafka_cpu(bench: Bench, address: str, pid: int | None) -> dict[str, float]:
    """CPU seconds of each process, by its name."""
    bus, pages = bus_at(address), bench.corpus.facts.pages
    one, other = cores()[0], cores()[-1]
    with tempfile.TemporaryDirectory(dir=bench.directory) as state:
        flags = (*_flags(bus), "--state", state)
        fingerprint = Worker("fingerprint", *flags, core=one)
        index = Worker("index", *flags, core=other)
        prefixes = Worker("neighborhoods", *flags, core=other)
        with working(fingerprint, index, prefixes):
            before_replay = run("replay", str(bench.corpus.first), *flags, core=other)
            until(lambda: min(index.pages(), prefixes.pages()) >= 1)
            began = [fingerprint.cpu(), index.cpu(), cpu_of(pid) if pid else 0.0, prefixes.cpu()]
            replay = run("replay", str(bench.corpus.archive), *flags, core=other)
            until(lambda: min(index.pages(), prefixes.pages()) >= 1 + pages)
            return {
                "replay": replay - before_replay,
                "fingerprint": fingerprint.end() - began[0],
                "index": index.end() - began[1],
                "neighborhoods": prefixes.end() - began[3],
                "broker": cpu_of(pid) - began[2] if pid else 0.0,
            }


def _over_local(bench: Bench, address: str, pid: int | None) -> list[Row]:
    local, kafka = [], []
    for _ in range(bench.scale.kafka_rounds):
        local.append(_local_cpu(bench, cores()[-1]))
        kafka.append(_kafka_cpu(bench, address, pid))
    ours = [sum(v for name, v in one.items() if name != "broker") for one in kafka]
    us = 1e6 / bench.corpus.facts.pages
    detail = {f"{name}_us_per_page": median(one[name] for one in kafka) * us for name in kafka[0]}
    known = {
        "local_us_per_page": median(local) * us, "kafka_us_per_page": median(ours) * us, **detail,
    }  # fmt: skip
    times = [a / b for a, b in zip(local, ours, strict=True)]
    return [
        Row(_OVER_LOCAL, median(times), "×", {
            "measures": "CPU a page in local mode / CPU a page of replay, fingerprint, index and "
                        "neighborhoods on Kafka, without what a process costs before its first "
                        "page",
            **known,
        }),
        Row(_CPU, median(1 / one for one in times), "×", {
            "measures": "CPU a page of all processes on Kafka but the broker / in local mode",
            **known,
        }),
    ]  # fmt: skip


class Load:
    """Pages for every partition of `pages`, the same weight for each."""

    def __init__(self, outlet: Outlet, pages: Sequence[Page]) -> None:
        self._outlet = outlet
        self._pages = pages
        number = outlet.partitions(topics.PAGES)
        self._sites: dict[int, str] = {}
        tried = 0
        while len(self._sites) < number:
            site = f"load-{tried}.example"
            self._sites.setdefault(outlet.partition_for(topics.PAGES, site), site)
            tried += 1

    def send(self, count: int) -> int:
        """So many pages, the next one always where the fewest bytes are."""
        weights = dict.fromkeys(self._sites, 0)
        for number in range(count):
            page = self._pages[number % len(self._pages)]
            partition = min(weights, key=weights.__getitem__)
            weights[partition] += len(page.body)
            site = self._sites[partition]
            url = f"https://www.{site}/{number}"
            self._outlet.send(page_message(msgspec.structs.replace(page, url=url, site=site)))
        self._outlet.flush()
        return count

    def one_each(self) -> int:
        """A page for every partition."""
        return self.send(len(self._sites))


def _drain(bench: Bench, address: str, count: int) -> tuple[float, float]:
    """Seconds until `count` workers are through with a topic, and their CPU seconds."""
    bus = bus_at(address)
    outlet = bus.outlet()
    workers = [
        Worker("fingerprint", *_flags(bus), core=cores()[number % len(cores())])
        for number in range(count)
    ]
    with working(*workers):
        load = Load(outlet, _pages(bench))
        sent = _settle(load, workers)
        for worker in workers:
            worker.signal(signal.SIGSTOP)
        sent += load.send(bench.scale.kafka_pages)
        cpu = sum(worker.cpu() for worker in workers)
        begin = time.time()
        for worker in workers:
            worker.signal(signal.SIGCONT)
        until(lambda: sum(worker.pages() for worker in workers) >= sent)
        cpu = sum(worker.end() for worker in workers) - cpu
    outlet.close()
    last = max(message.timestamp_ms for message in bus.read(topics.FINGERPRINTS))
    return last / 1000 - begin, cpu


def _settle(load: Load, workers: Sequence[Worker]) -> int:
    """Until every worker has its share of the partitions, and has processed a page of it."""
    sent = 0

    def settled() -> bool:
        nonlocal sent
        before = [worker.pages() for worker in workers]
        sent += load.one_each()
        until(lambda: sum(worker.pages() for worker in workers) >= sent)
        return all(now.pages() > then for now, then in zip(workers, before, strict=True))

    until(settled)
    return sent


def _pages(bench: Bench) -> list[Page]:
    found = read_archive(
        str(bench.corpus.archive), scheme=HashScheme(), clock=lambda: datetime.now(UTC)
    )
    return [one.page for one in found if one.page is not None]


def _two_over_one(bench: Bench, address: str) -> Row:
    one, two = [], []
    for _ in range(bench.scale.kafka_rounds):
        one.append(_drain(bench, address, 1))
        two.append(_drain(bench, address, 2))
    pages = bench.scale.kafka_pages
    ratios = [a[0] / b[0] for a, b in zip(one, two, strict=True)]
    return Row(_TWO, median(ratios), "×", {
        "measures": "time to drain the topic pages with one work fingerprint on one core / with "
                    "two on two; the broker shares the cores",
        "rounds": ratios,
        "pages": pages,
        "cores": len(cores()),
        "load": os.getloadavg()[0],
        "pages_per_second": [pages / median(s for s, _ in times) for times in (one, two)],
        "cpu_us_per_page": [median(c for _, c in times) / pages * 1e6 for times in (one, two)],
    })  # fmt: skip


def _measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    rows = []
    with running_broker(bench) as (address, pid):
        if _OVER_LOCAL in names or _CPU in names:
            rows += _over_local(bench, address, pid)
        if _TWO in names:
            rows.append(_two_over_one(bench, address))
    return rows


FAMILY = Family((_OVER_LOCAL, _CPU, _TWO), _measure)
