"""What discovery costs a page, of blocks that were made before: microseconds of one core."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pyarrow as pa

from reusewatch.detector.hashing import HashScheme
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.records import Page
from reusewatch.streams.stages.discovering import Discovering, Rules
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.wire import page_message

_BATCH = 64
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


def discovery_us_per_page(pages: Sequence[Page], scheme: HashScheme, *, rounds: int = 3) -> float:
    """The best of some rounds, each from empty tables."""
    blocks = list(_blocks(pages, scheme))
    count = sum(map(len, blocks))
    best = float("inf")
    for _ in range(rounds):
        counting = Discovering(scheme, Rules(), window_pages=1_000_000)
        began = time.process_time()
        for block in blocks:
            counting.add(block, _NOW)
        best = min(best, time.process_time() - began)
    return best / count * 1e6


def _blocks(pages: Sequence[Page], scheme: HashScheme) -> Iterator[pa.RecordBatch]:
    stage = FingerprintStage(scheme, lambda site: 0)
    for at in range(0, len(pages), _BATCH):
        messages = [_message(page, n) for n, page in enumerate(pages[at : at + _BATCH])]
        for sent in stage.process(messages).messages:
            yield read_block(_as_read(sent.topic, sent.key, sent.value, sent.headers), scheme)


def _message(page: Page, number: int) -> Message:
    sent = page_message(page)
    return _as_read(sent.topic, sent.key, sent.value, sent.headers, number)


def _as_read(
    topic: str, key: str, value: bytes | None, headers: tuple[tuple[str, bytes], ...], at: int = 0
) -> Message:
    return Message(Partition(topic, 0), at, key, value, headers, 0)
