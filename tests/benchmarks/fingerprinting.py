"""From an archive to fingerprint blocks: pages as they travel, and their sketches, without a bus.

The steps are those of the way from a record to a block; each is named where it is called from.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path

from reusewatch.crawler.pages.archive_events import Limits
from reusewatch.crawler.replaying.jobs import Reader, job_of
from reusewatch.streams import topics
from reusewatch.streams.bus import Message, Partition
from reusewatch.streams.records import Page
from reusewatch.streams.running.fingerprinters import only_partition
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.wire import page_message

_PARTITION = Partition(topics.PAGES, 0)

STEPS: Mapping[str, tuple[str, ...]] = {
    "read record": (
        "reusewatch.crawler.archives.reading:read_fast",
        "reusewatch.crawler.archives.reading:read_members",
    ),
    "make page": (
        "reusewatch.crawler.archives.usual:usual_page",
        "reusewatch.crawler.archives.usual:judge",
    ),
    "encode page": ("tests.benchmarks.fingerprinting:page_message",),
    "decode page": ("reusewatch.streams.stages.fingerprinting:read_page",),
    "decode charset": ("reusewatch.detector.sketching.fingerprint:decode",),
    "scan": ("reusewatch.detector.sketching.fingerprint:scan_batch",),
    "visible text, chunks, identity": ("reusewatch.detector.sketching.sketches:text_of",),
    "phrases, k = 5 and 8": ("reusewatch.detector.sketching.sketches:phrases",),
    "min-values, k = 5 and 8": ("reusewatch.detector.sketching.sketches:min_values",),
    "supershingles": ("reusewatch.detector.sketching.sketches:supershingles",),
    "words counted": ("reusewatch.detector.sketching.sketches:word_counts",),
    "simhash": ("reusewatch.detector.sketching.sketches:simhashes_of_counts",),
    "grams": ("reusewatch.detector.sketching.sketches:gram_sets",),
    "weighted terms": ("reusewatch.detector.sketching.sketches:weighted_terms",),
    "file hash, title, excerpt": ("reusewatch.detector.sketching.fingerprint:_facts_of",),
    "rest of the fingerprint": ("reusewatch.detector.sketching.fingerprint:fingerprints",),
    "columns": ("reusewatch.streams.stages.fingerprinting:block_of",),
    "encode block": ("reusewatch.streams.blocks.format:_encoded",),
    "rest of the row": ("reusewatch.streams.stages.fingerprinting:FingerprintStage.process",),
}


def fingerprint(archive: Path) -> int:
    """Read and fingerprint every page; the bytes of the blocks."""
    settings = Settings()
    stage = FingerprintStage(settings.scheme, only_partition)
    reader = Reader(settings.scheme, Limits())
    stop = threading.Event()
    job = job_of([str(archive)], [], None, reader=reader, settle_seconds=0, stop=stop)
    size, batch = 0, list[Message]()
    for source in job.sources(idle=lambda: None):
        for found in source.read(0):
            if found.page is None:
                continue
            batch.append(_sent(found.page))
            if len(batch) == settings.batch_pages:
                size += _blocks(stage, batch)
                batch = []
    return size + _blocks(stage, batch)


def _sent(page: Page) -> Message:
    sent = page_message(page)
    now = time.time_ns() // 1_000_000
    return Message(_PARTITION, 0, sent.key, sent.value, sent.headers, now)


def _blocks(stage: FingerprintStage, batch: list[Message]) -> int:
    return sum(len(block.value or b"") for block in stage.process(batch).messages)
