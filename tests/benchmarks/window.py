"""What the index's window takes in memory, a page: what the process grew by, over its rows.

Real blocks of small pages go through the stage in a process of its own; the first fifth of them
is not counted, so that neither is the interpreter.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reusewatch.crawler.demo.prose import sentence
from reusewatch.crawler.pages.page import page_from_response
from reusewatch.detector.hashing import HashScheme
from reusewatch.streams import topics
from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.records import Origin, Page
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.stages.indexing import IndexStage
from reusewatch.streams.wire import page_message
from tests.benchmarks.rows import Bench, Family, Row

_BATCH = 64
_BEGIN = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)


def _first(site: str) -> int:
    return 0


def _pages(count: int, scheme: HashScheme) -> Iterator[Page]:
    rng = random.Random(count)
    for number in range(count):
        text = " ".join(sentence(rng) for _ in range(4))
        page = page_from_response(
            f"https://www.site-{number % 1000:04d}.example/some/directory/page-{number:08d}.html",
            fetched_at=_BEGIN + timedelta(seconds=number), status=200, content_type="text/html",
            body=f"<title>{number}</title><p>{text}</p>".encode(), origin=Origin(source="window"),
            scheme=scheme,
        )  # fmt: skip
        assert page is not None
        yield page


def resident() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def grow(count: int) -> tuple[int, int]:
    """Rows and bytes by which the index grew over the last four fifths of so many pages."""
    scheme = HashScheme()
    stage = FingerprintStage(scheme, _first)
    index = IndexStage(scheme, clock=lambda: datetime.now(UTC), max_pages=2 * count)
    batch: list[Message] = []
    rows = size = 0
    for number, page in enumerate(_pages(count, scheme)):
        sent = page_message(page)
        part = Partition(topics.PAGES, 0)
        batch.append(Message(part, number, sent.key, sent.value or b"", sent.headers, 0))
        if len(batch) == _BATCH or number == count - 1:
            blocks = stage.process(batch).messages
            batch = []
            index.process([
                Message(Partition(b.topic, 0), 0, b.key, b.value, b.headers, 0) for b in blocks
            ])  # fmt: skip
        if number == count // 5:
            rows, size = index.rows(), resident()
    return index.rows() - rows, resident() - size


def _measure(bench: Bench, names: Sequence[str]) -> list[Row]:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        rows, size = pool.apply(grow, (bench.scale.window_pages,))
    return [
        Row("index_window_bytes_per_page", size / rows, "bytes",
            {"measures": "resident memory of the stage index, per page of the window",
             "pages": bench.scale.window_pages}),
    ]  # fmt: skip


FAMILY = Family(("index_window_bytes_per_page",), _measure)
