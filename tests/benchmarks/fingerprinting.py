"""From an archive to fingerprint blocks: pages as they travel, and their sketches, without a bus.

The steps are those of the way from a record to a block; each is named where it is called from.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path

from crawler.found import Limits
from crawler.jobs import Reader, job_of
from streams import topics
from streams.bus import Message, Partition
from streams.feed import only_partition
from streams.fingerprinting import FingerprintStage
from streams.records import Page
from streams.settings import Settings
from streams.wire import page_message

_PARTITION = Partition(topics.PAGES, 0)

STEPS: Mapping[str, tuple[str, ...]] = {
    "read record": ("crawler.archives.reading:read_fast", "crawler.archives.reading:read_members"),
    "make page": ("crawler.archives.fast:judge",),
    "encode page": ("tests.benchmarks.fingerprinting:page_message",),
    "decode page": ("streams.fingerprinting:read_page",),
    "decode charset": ("detector.fingerprint:decode",),
    "scan": ("detector.fingerprint:scan_batch",),
    "visible text": ("detector.sketches:text_of",),
    "identity": ("detector.sketches:identity_hashes",),
    "phrases, k = 5 and 8": ("detector.sketches:phrases",),
    "min-values, k = 5 and 8": ("detector.sketches:min_values",),
    "supershingles": ("detector.sketches:supershingles",),
    "simhash": ("detector.sketches:simhashes",),
    "chunks": ("detector.sketches:text_chunks",),
    "grams": ("detector.sketches:gram_sets",),
    "weighted terms": ("detector.sketches:weighted_terms",),
    "file hash, title, excerpt": ("detector.fingerprint:_facts",),
    "rest of the fingerprint": ("detector.fingerprint:fingerprints",),
    "columns": ("streams.fingerprinting:block_of",),
    "encode block": ("streams.blocks:encode",),
    "rest of the row": ("streams.fingerprinting:FingerprintStage.process",),
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
