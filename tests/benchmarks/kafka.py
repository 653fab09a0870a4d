"""The same pages through a real broker: what that costs per core, and what a second worker brings.

`kafka_over_local_per_core` compares CPU time, summed over the processes of ours: replay, work
fingerprint and work index against one replay in local mode. What each costs before the first page
is taken off. The broker is another's program and is shown beside it.

`kafka_cpu_over_local` is the same from the user's side, on the pages of the rows of a user's own
replay: how many times the CPU of a local replay, with every stage on either side. What a worker
costs by the second, whatever comes, counts here too, so there are enough pages to keep it busy.

`two_workers_over_one` compares how long `work fingerprint` takes for what lies on `pages`: one
process on one core, then two on two. They stand still while the topic is filled, as a replay fills
it, begin at once, and the time of the last block on `fingerprints` is the end. Pages are spread so
that each partition holds as many bytes, and are enough for seconds: the first answer of the broker
alone takes a tenth of one. The broker shares the cores, so what it takes is shown: beside one
worker it has a core of its own, and two cores give at most 2 × one worker's time over the CPU of
both workers and the broker.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median
from typing import Any

import msgspec

from reusewatch.crawler.archives.reading import read_archive
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.bus import Outlet
from reusewatch.streams.kafka import KafkaBus, KafkaConfig, create_topics
from reusewatch.streams.records import Page
from reusewatch.streams.wire import packed_page_message
from tests.benchmarks.clock import cores
from tests.benchmarks.processes import Worker, cpu_of, run, until, working
from tests.benchmarks.rows import Bench, Family, Row
from tests.benchmarks.user_corpora import COPIED, user_corpus
from tests.deployed import Broker

_OVER_LOCAL = "kafka_over_local_per_core"
_CPU = "kafka_cpu_over_local"
_TWO = "two_workers_over_one"
_NEAR = 0.06


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


def flags_of(bus: KafkaBus) -> tuple[str, ...]:
    """What names these topics to a command."""
    url = f"kafka://{bus.config.bootstrap_servers[0]}"
    return "--bus", url, "--topic-prefix", bus.config.topic_prefix


@dataclass(frozen=True, slots=True)
class _Replayed:
    """What is replayed onto either bus, and its first page alone."""

    archives: tuple[str, ...]
    first: str
    pages: int


def _local_cpu(bench: Bench, replayed: _Replayed, core: int) -> float:
    """CPU seconds of a replay in local mode."""

    def one(*archives: str) -> float:
        with tempfile.TemporaryDirectory(dir=bench.directory) as directory:
            return run("replay", *archives, "--bus", f"local:{directory}/bus", core=core)

    return one(*replayed.archives) - one(replayed.first)


@dataclass(frozen=True, slots=True)
class _OnKafka:
    """CPU seconds of each process by its name, and how long it took to the last verdict."""

    cpu: Mapping[str, float]
    wall: float

    @property
    def ours(self) -> float:
        """Of all processes but the broker."""
        return sum(value for name, value in self.cpu.items() if name != "broker")


def _on_kafka(
    bench: Bench, address: str, pid: int | None, replayed: _Replayed, fingerprinting: int = 1
) -> _OnKafka:
    """A replay through so many workers `fingerprint`, one `index` and one `neighborhoods`."""
    bus, one, other = bus_at(address), cores()[0], cores()[-1]
    with tempfile.TemporaryDirectory(dir=bench.directory) as state:
        flags = (*flags_of(bus), "--state", state)
        makers = [Worker("fingerprint", *flags, core=cores()[number % len(cores())])
                  for number in range(fingerprinting)]  # fmt: skip
        index = Worker("index", *flags, core=other if fingerprinting == 1 else one)
        prefixes = Worker("neighborhoods", *flags, core=other)
        workers = {"fingerprint": makers, "index": [index], "neighborhoods": [prefixes]}
        with working(*makers, index, prefixes):
            start = run("replay", replayed.first, *flags, core=other)
            until(lambda: min(index.pages(), prefixes.pages()) >= 1)
            began = {name: sum(one.cpu() for one in of) for name, of in workers.items()}
            broker, begin = cpu_of(pid) if pid else 0.0, time.time()
            replay = run("replay", *replayed.archives, *flags, core=other)
            # Who is asked answers instead of working: seldom, and one behind the other.
            until(lambda: index.pages() > replayed.pages, every=1.0)
            until(lambda: prefixes.pages() > replayed.pages, every=1.0)
            last = max(message.timestamp_ms for message in bus.read(topics.VERDICTS))
            taken = {name: sum(one.end() for one in of) - began[name]
                     for name, of in workers.items()}  # fmt: skip
            return _OnKafka({
                "replay": replay - start, **taken, "broker": cpu_of(pid) - broker if pid else 0.0,
            }, last / 1000 - begin)  # fmt: skip


class _Compared:
    """Rounds of both buses over the same pages."""

    def __init__(self, bench: Bench, address: str, pid: int | None, replayed: _Replayed) -> None:
        self._us = 1e6 / replayed.pages
        self._local, self.kafka = list[float](), list[_OnKafka]()
        # The same work takes a tenth more or less from one minute to the next: what a round is
        # compared with is the mean of what came before it and of what came after.
        before = _local_cpu(bench, replayed, cores()[-1])
        for _ in range(bench.scale.kafka_rounds):
            self.kafka.append(_on_kafka(bench, address, pid, replayed))
            after = _local_cpu(bench, replayed, cores()[-1])
            self._local.append((before + after) / 2)
            before = after

    @property
    def times(self) -> list[float]:
        """How many times the CPU of local mode, in each round."""
        return [one.ours / local for one, local in zip(self.kafka, self._local, strict=True)]

    @property
    def detail(self) -> dict[str, Any]:
        """CPU by process."""
        return {
            "local_us_per_page": median(self._local) * self._us,
            "kafka_us_per_page": median(one.ours for one in self.kafka) * self._us,
            **{
                f"{name}_us_per_page": median(one.cpu[name] for one in self.kafka) * self._us
                for name in self.kafka[0].cpu
            },
        }


def _over_local(bench: Bench, address: str, pid: int | None) -> Row:
    facts = bench.corpus.facts
    replayed = _Replayed((str(bench.corpus.archive),), str(bench.corpus.first), facts.pages)
    found = _Compared(bench, address, pid, replayed)
    return Row(_OVER_LOCAL, median(1 / one for one in found.times), "×", {
        "measures": "CPU a page in local mode / CPU a page of replay, fingerprint, index and "
                    "neighborhoods on Kafka, without what a process costs before its first page",
        **found.detail,
    })  # fmt: skip


def _cpu_over_local(bench: Bench, address: str, pid: int | None) -> Row:
    corpus = user_corpus(
        bench.directory, "15k", bench.kind, bench.scale.replay_pages, COPIED[_NEAR]
    )
    replayed = _Replayed(corpus.archives, corpus.first, corpus.facts.pages)
    found = _Compared(bench, address, pid, replayed)
    two = [_on_kafka(bench, address, pid, replayed, 2).wall for _ in found.kafka]
    walls = median(one.wall for one in found.kafka), median(two)
    return Row(_CPU, median(found.times), "×", {
        "measures": "CPU a page of all processes on Kafka but the broker / in local mode, of the "
                    "pages of replay_cpu_over_floor_15k, without what a process costs before its "
                    "first page",
        **msgspec.to_builtins(corpus.facts),
        **found.detail,
        "rounds": found.times,
        "pages_per_second_with_one_and_two_fingerprint_workers":
            [replayed.pages / wall for wall in walls],
    })  # fmt: skip


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
            placed = msgspec.structs.replace(page, url=url, site=site)
            self._outlet.send(packed_page_message(placed))
        self._outlet.flush()
        return count

    def one_each(self) -> int:
        """A page for every partition."""
        return self.send(len(self._sites))


@dataclass(frozen=True, slots=True)
class _Drained:
    """Seconds until workers were through with a topic, and CPU seconds of theirs and the broker's
    meanwhile."""

    wall: float
    workers: float
    broker: float


def _drain(bench: Bench, address: str, pid: int | None, count: int) -> _Drained:
    bus = bus_at(address)
    # Bodies are packed by who sends them, and batches are not, as `open_bus` has it.
    outlet = KafkaBus(replace(bus.config, compression=None)).outlet()
    workers = [
        Worker("fingerprint", *flags_of(bus), core=cores()[number % len(cores())])
        for number in range(count)
    ]

    def cpu() -> tuple[float, float]:
        return sum(worker.cpu() for worker in workers), cpu_of(pid) if pid else 0.0

    with working(*workers):
        load = Load(outlet, _pages(bench))
        sent = _settle(load, workers)
        for worker in workers:
            worker.signal(signal.SIGSTOP)
        sent += load.send(bench.scale.kafka_pages)
        before, begin = cpu(), time.time()
        for worker in workers:
            worker.signal(signal.SIGCONT)
        until(lambda: sum(worker.pages() for worker in workers) >= sent)
        after = cpu()
        for worker in workers:
            worker.end()
    outlet.close()
    last = max(message.timestamp_ms for message in bus.read(topics.FINGERPRINTS))
    return _Drained(last / 1000 - begin, after[0] - before[0], after[1] - before[1])


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


def _two_over_one(bench: Bench, address: str, pid: int | None) -> Row:
    one, two = list[_Drained](), list[_Drained]()
    for _ in range(bench.scale.kafka_rounds):
        one.append(_drain(bench, address, pid, 1))
        two.append(_drain(bench, address, pid, 2))
    pages = bench.scale.kafka_pages
    ratios = [a.wall / b.wall for a, b in zip(one, two, strict=True)]

    def us_per_page(of: Callable[[_Drained], float]) -> list[float]:
        return [median(map(of, drained)) / pages * 1e6 for drained in (one, two)]

    return Row(_TWO, median(ratios), "×", {
        "measures": "time to drain the topic pages with one work fingerprint on one core / with "
                    "two on two; the broker shares the cores",
        "rounds": ratios,
        "pages": pages,
        "cores": len(cores()),
        "load": os.getloadavg()[0],
        "pages_per_second": [1e6 / us for us in us_per_page(lambda drained: drained.wall)],
        "cpu_us_per_page": us_per_page(lambda drained: drained.workers),
        "broker_us_per_page": us_per_page(lambda drained: drained.broker),
    })  # fmt: skip


def _measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    rows = []
    with running_broker(bench) as (address, pid):
        if _OVER_LOCAL in names:
            rows.append(_over_local(bench, address, pid))
        if _CPU in names:
            rows.append(_cpu_over_local(bench, address, pid))
        if _TWO in names:
            rows.append(_two_over_one(bench, address, pid))
    return rows


FAMILY = Family((_OVER_LOCAL, _CPU, _TWO), _measure)
