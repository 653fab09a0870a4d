"""How long a scrape of a worker takes once it has seen pages of a million hosts, and how many
series it has: labels are of closed sets, whatever is crawled.

One page of each host goes through all three stages, as their workers count it, and the port that
serves the metrics is asked by HTTP. The first scrape of all is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from itertools import islice
from urllib.request import urlopen

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.questions import Parameters, Rows
from reusewatch.streams.records import Origin, Page
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.prefix_answers import PrefixAnswers
from reusewatch.streams.running.recording import Recorder
from reusewatch.streams.running.serving import Health
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.neighboring import NeighborhoodStage
from reusewatch.streams.stages.stage import Stage
from reusewatch.streams.urls import place
from reusewatch.streams.wire import page_message
from tests.benchmarks.rows import Bench, Family, Row

NAME = "scrape_seconds_million_hosts"
_BATCH, _SCRAPES, _PARTITIONS = 512, 20, 6
_WINDOW = 50_000
_BEGIN = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)


def _pages(count: int, scheme: HashScheme) -> Iterator[Page]:
    for number in range(count):
        url = f"https://www.host-{number:07d}.example/{number % 7}/page.html"
        where = place(url, scheme)
        body = f"<title>Host {number}</title><p>one page of host {number} and no other".encode()
        yield Page(
            id=where.page_id, url=url, site=where.site, host=where.host, body=body,
            fetched_at=_BEGIN + timedelta(seconds=number), status=200, content_type="text/html",
            charset="utf-8", origin=Origin(source="hosts"),
        )  # fmt: skip


class _Seen:
    """A stage at work, as its worker counts it, and its port."""

    def __init__(self, stage: Stage, scheme: HashScheme) -> None:
        self._stage = stage
        self._meters = Meters(stage.name, scheme.name)
        self._recorder = Recorder(self._meters, stage.name)
        self._offset = 0
        prefixes = PrefixAnswers(_no_bus, lambda text: None)
        self.health = Health(self._meters, "127.0.0.1", 0, self, prefixes=prefixes)

    def trouble(self) -> str | None:
        """All is well."""
        return None

    def ready(self) -> bool:
        """It is."""
        return True

    def ask(self, name: str, parameters: Parameters) -> Future[Rows]:
        """Nobody asks."""
        raise NotImplementedError

    def take(self, sent: Sequence[Outgoing]) -> Sequence[Outgoing]:
        """Process these; what came of it."""
        messages = []
        for one in sent:
            part = Partition(one.topic, self._offset % _PARTITIONS)
            at = int(time.time() * 1000)
            messages.append(Message(part, self._offset, one.key, one.value, one.headers, at))
            self._offset += 1
        output = self._stage.process(messages)
        self._recorder.sent(output, messages)
        self._recorder.processed(messages, 0.01)
        self._recorder.lag({message.partition: 0 for message in messages})
        self._recorder.state(self._stage)
        return output.messages

    def scrapes(self) -> tuple[float, int]:
        """The median of some, in seconds, and the series that one has."""
        seconds = []
        for _ in range(_SCRAPES + 1):
            begun = time.perf_counter()
            with urlopen(f"http://127.0.0.1:{self.health.port}/metrics", timeout=60) as answer:
                lines = answer.read().splitlines()
            seconds.append(time.perf_counter() - begun)
        series = sum(1 for line in lines if not line.startswith(b"#"))
        return sorted(seconds[1:])[_SCRAPES // 2], series


def _no_bus(stop: object) -> None:
    """`/prefixes` is not asked for."""
    raise NotImplementedError


def measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    """The slowest of the stages."""
    count, scheme = bench.scale.hosts, HashScheme()

    def now() -> datetime:
        return datetime.now(UTC)

    stages: dict[str, _Seen] = {
        stage.name: _Seen(stage, scheme)
        for stage in (
            FingerprintStage(scheme, lambda site: 0),
            IndexStage(scheme, clock=now, max_pages=_WINDOW),
            NeighborhoodStage(scheme, clock=now, max_pages=_WINDOW),
        )
    }
    try:
        pages = _pages(count, scheme)
        while batch := list(islice(pages, _BATCH)):
            blocks = stages["fingerprint"].take([page_message(page) for page in batch])
            for name in ("index", "neighborhoods"):
                stages[name].take(blocks)
        found = {name: seen.scrapes() for name, seen in stages.items()}
    finally:
        for seen in stages.values():
            seen.health.close()
    detail = {"hosts": count, "series": {name: series for name, (_, series) in found.items()},
              "seconds": {name: seconds for name, (seconds, _) in found.items()}}  # fmt: skip
    return [Row(NAME, max(seconds for seconds, _ in found.values()), "s", detail)]


FAMILY = Family((NAME,), measure)
