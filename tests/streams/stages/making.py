"""Stages and workers as the tests run them: quick, and told the time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from reusewatch.streams import topics
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.records import Origin, Page
from reusewatch.streams.running.metrics import Meters
from reusewatch.streams.running.news import Brief, News
from reusewatch.streams.running.worker import Pace, Worker
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.stages.snapshot import Snapshots
from reusewatch.streams.stages.stage import Stage
from reusewatch.streams.urls import place
from reusewatch.streams.wire import page_message
from tests.pages import SCHEME, Fetch, page_of
from tests.streams.memory_bus import MemoryBus, MemoryInlet

NOW = datetime(2026, 11, 1, tzinfo=UTC)
# Nothing is committed but when the test says so.
NEVER = Pace(commit_seconds=1e9, snapshot_seconds=1e9)


def zero(site: str) -> int:
    return 0


def by_site(count: int) -> Callable[[str], int]:
    return lambda site: sum(site.encode()) % count


def index_stage(max_pages: int = 10_000, now: datetime = NOW) -> IndexStage:
    return IndexStage(SCHEME, clock=lambda: now, max_pages=max_pages)


def as_message(sent: Outgoing, offset: int = 0) -> Message:
    part = Partition(sent.topic, sent.partition or 0)
    return Message(part, offset, sent.key, sent.value, sent.headers, 1_700_000_000_000)


def page_with(
    url: str, words: Iterable[str], fetched_at: datetime, *, source: str = "made"
) -> Page:
    """A page of these words in one paragraph."""
    where = place(url, SCHEME)
    body = f"<p>{' '.join(words)}</p>".encode()
    return Page(
        id=where.page_id, url=url, site=where.site, host=where.host, fetched_at=fetched_at,
        content_type="text/html", charset="utf-8", body=body,
        origin=Origin(source=source, offset=len(body)), status=200,
    )  # fmt: skip


def page_messages(fetches: Iterable[Fetch]) -> list[Message]:
    return [as_message(page_message(page_of(f)), n) for n, f in enumerate(fetches)]


def blocks_of(
    fetches: Sequence[Fetch], size: int = 3, partition_for: Callable[[str], int] = zero
) -> list[Outgoing]:
    """The fetches as fingerprint blocks, `size` pages to a batch."""
    stage = FingerprintStage(SCHEME, partition_for)
    messages = page_messages(fetches)
    return [
        sent
        for at in range(0, len(messages), size)
        for sent in stage.process(messages[at : at + size]).messages
    ]


def worker_of(
    stage: Stage,
    bus: MemoryBus,
    *,
    snapshots: Path | None = None,
    pace: Pace = NEVER,
    said: list[str] | None = None,
    meters: Meters | None = None,
    news: News | None = None,
) -> Worker:
    kept = None if snapshots is None else Snapshots(snapshots, stage.name, SCHEME)
    return Worker(
        stage, bus, bus.outlet(), meters or Meters(stage.name, SCHEME.name), pace=pace,
        snapshots=kept, news=news or Brief((said if said is not None else []).append),
    )  # fmt: skip


def inlet_of(worker: Worker) -> MemoryInlet:
    inlet = worker._inlet
    assert isinstance(inlet, MemoryInlet)
    return inlet


def work_off(worker: Worker) -> None:
    """Until nothing waits and recovery is through."""
    while worker.step(0) or not worker.ready():
        pass


def standing(messages: Iterable[Message | Outgoing]) -> set[str]:
    """The alerts that stand after compaction."""
    last = {message.key: message.value for message in messages}
    return {key for key, value in last.items() if value is not None}


def alerts_on(bus: MemoryBus) -> list[Message]:
    return list(bus.read(topics.ALERTS))
