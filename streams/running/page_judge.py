"""One page at a time, held against the labeled dataset in force, at once and in this process.

For a crawler that judges a page before it follows the page's links (Ardi, Heidemann 2014, §3.6):
what the stages find comes too late for those. It says what they will say of what is labeled, but
for a threshold that is not fixed, which each of the two learns from the pages that it saw.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import msgspec
import numpy as np

from reusewatch.streams import kernels, topics
from reusewatch.streams.blocks.format import read_block
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.labels.follower import Follower, publish_local
from reusewatch.streams.local import LocalBus
from reusewatch.streams.opening import open_bus
from reusewatch.streams.records import Page
from reusewatch.streams.running.fingerprinters import (
    fingerprint_stage,
    labeler_of,
    only_partition,
)
from reusewatch.streams.running.label_settings import label_store
from reusewatch.streams.running.topology import labeled_pages
from reusewatch.streams.settings import Settings
from reusewatch.streams.stages.labeled import NOT_JUDGED, Labeled
from reusewatch.streams.url_sets import UrlSet

_READY_SECONDS = 30.0


class PageJudge:
    """Judges pages; on Kafka it follows the topic of labels in a thread."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        kernels.prepare(say, pages=True)
        self._scheme = settings.scheme
        # Nobody else gets these blocks: without the grams of quilts they are made sooner.
        self._stage = fingerprint_stage(
            msgspec.structs.replace(settings, grams="none"), only_partition,
            labeler=labeler_of(settings),
        )  # fmt: skip
        self._labeled = labeled_pages(settings)
        self._owned = UrlSet(settings.owned)
        bus, store = open_bus(settings), label_store(settings)
        self._follower: Follower | None = None
        if isinstance(bus, LocalBus):
            publish_local(bus, store, settings.scheme, say)
        else:
            self._follower = Follower(bus, store, settings.scheme, say=say)
            self._follower.ready(_READY_SECONDS)

    def judge(self, page: Page) -> Labeled:
        """What of this page is labeled."""
        output = self._stage.pages([page])
        for sent in output.messages:
            if sent.topic == topics.FINGERPRINTS:
                block = read_block(_received(sent), self._scheme)
                owned = np.array([self._owned.has(page.url)])
                return self._labeled.judge_block(block, datetime.now(UTC), owned)[0]
        return NOT_JUDGED

    def close(self) -> None:
        """Follow no longer."""
        if self._follower is not None:
            self._follower.close()


def _received(sent: Outgoing) -> Message:
    partition = Partition(sent.topic, 0)
    return Message(partition, 0, sent.key, sent.value, tuple(sent.headers), 0)
