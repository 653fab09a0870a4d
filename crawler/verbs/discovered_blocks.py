"""Fingerprint blocks for `labels discover`: of the sources that were named, or those on the bus."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pyarrow as pa

from reusewatch.crawler.replaying.jobs import Job
from reusewatch.streams import topics
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.blocks.occurrences import countable
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.console import say
from reusewatch.streams.opening import bus_to_read
from reusewatch.streams.records import Page
from reusewatch.streams.running.fingerprinters import fingerprint_stage, only_partition
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.fingerprinting import FingerprintStage
from reusewatch.streams.wire import page_message

_BATCH_PAGES, _BATCH_BYTES = 64, 8 << 20
_TELL_PAGES = 10_000


class BlockReading:
    """The blocks of the sources, or those on the bus; as often as they are asked for."""

    def __init__(self, settings: Settings, job: Job | None, stop: Event) -> None:
        self._settings = settings
        self._job = job
        self._stop = stop
        self.damaged = 0

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Those of pages whose content is theirs."""
        self.damaged = read = told = 0
        for block in self._of_bus() if self._job is None else self._of_job(self._job):
            if self._stop.is_set():
                return
            read += len(block)
            if read - told >= _TELL_PAGES:
                told = read
                say(f"{read:,} pages")
            if len(kept := countable(block)):
                yield kept

    def _of_bus(self) -> Iterator[pa.RecordBatch]:
        for message in bus_to_read(self._settings, say=say).read(topics.FINGERPRINTS):
            yield read_block(message, self._settings.scheme)

    def _of_job(self, job: Job) -> Iterator[pa.RecordBatch]:
        stage = fingerprint_stage(self._settings, only_partition)
        batch: list[Page] = []
        size = 0
        for source in job.archives:
            for record in source.read(0):
                self.damaged += record.damage is not None
                if record.page is None:
                    continue
                batch.append(record.page)
                size += len(record.page.body)
                if len(batch) >= _BATCH_PAGES or size >= _BATCH_BYTES:
                    yield from self._made(stage, batch)
                    batch, size = [], 0
        yield from self._made(stage, batch)

    def _made(self, stage: FingerprintStage, batch: list[Page]) -> Iterator[pa.RecordBatch]:
        made = stage.process([_message(page_message(page)) for page in batch])
        for sent in made.messages:
            if sent.topic == topics.FINGERPRINTS:
                yield read_block(_message(sent), self._settings.scheme)
            else:
                self.damaged += 1


def _message(sent: Outgoing) -> Message:
    return Message(Partition(sent.topic, 0), 0, sent.key, sent.value, sent.headers, 0)
