"""What a worker does, as metrics: the loop says what happened, this counts it.

Decides nothing. One stage, one recorder.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal

from reusewatch.streams import topics
from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.bus import Message, Outgoing, Partition
from reusewatch.streams.stages.events import FINDINGS
from reusewatch.streams.stages.stage import Output, Stage
from reusewatch.streams.wire import received_ms

if TYPE_CHECKING:
    from reusewatch.streams.running.metrics import Meters

_MOST_TOLD = 100_000
_KIND = "ce_type"


class Recorder:
    """Counts for one stage. `alerts`: how many stand of those that were sent since the start; past
    `_MOST_TOLD` of them one that is told again counts anew."""

    def __init__(self, meters: Meters, stage: str) -> None:
        self._meters = meters
        self._stage = stage
        self.alerts = 0
        self._told: set[str] = set()
        meters.begin(stage)

    def rebalanced(self, reason: Literal["assigned", "revoked"]) -> None:
        """Partitions came or went."""
        self._meters.rebalances.labels(self._stage, reason).inc()

    def forgot(self, parts: Sequence[Partition]) -> None:
        """These partitions are somebody else's from now on."""
        self._meters.forget(parts)

    def ready(self, *, ready: bool, left: int) -> None:
        """Whether the worker reads and is through with recovery, and what is left of that."""
        self._meters.ready.labels(self._stage).set(ready)
        self._meters.recovery_records.labels(self._stage).set(left)

    def muted(self, messages: Sequence[Outgoing]) -> None:
        """These were made again after a restart, and not sent."""
        self._meters.muted.labels(self._stage).inc(len(messages))

    def snapshot(self, written_at: float) -> None:
        """When the newest snapshot was written."""
        self._meters.snapshot_time.labels(self._stage).set(written_at)

    def committing(self) -> AbstractContextManager[object]:
        """Measures how long a commit takes."""
        return self._meters.commit_seconds.labels(self._stage).time()

    def saving(self) -> AbstractContextManager[object]:
        """Measures how long a snapshot takes."""
        return self._meters.snapshot_seconds.labels(self._stage).time()

    def state(self, stage: Stage) -> None:
        """How much the stage holds, and how that is."""
        name, meters = self._stage, self._meters
        meters.state_rows.labels(name).set(stage.rows())
        meters.state_bytes.labels(name).set(stage.nbytes())
        found = stage.condition()
        if found.most_rows is not None:
            meters.state_limit_rows.labels(name).set(found.most_rows)
        for end, at in (("oldest", found.oldest_us), ("newest", found.newest_us)):
            if at is not None:
                meters.window_time.labels(name, end).set(at / 1e6)
        for figure, line in found.lines.items():
            meters.threshold.labels(name, figure).set(line.threshold)
            meters.mean.labels(name, figure).set(line.mean)
            meters.deviation.labels(name, figure).set(line.deviation)

    def sent(self, output: Output, cause: Sequence[Message]) -> None:
        """What the stage made of these messages is on its way."""
        name, meters = self._stage, self._meters
        alerts = self._count_out(output.messages)
        meters.pages.labels(name).inc(output.pages)
        for reason, count in output.dead.items():
            meters.dead.labels(name, reason).inc(count)
        for event, count in output.events.items():
            kind = meters.findings if event in FINDINGS else meters.events
            kind.labels(name, event).inc(count)
        meters.popular_shingles.labels(name).observe_all(output.popular)
        now = time.time()
        waited = [max(now - received_ms(message) / 1000, 0) for message in cause]
        meters.latency_seconds.labels(name).observe_all(waited)
        if waited and alerts:
            meters.alert_seconds.labels(name).observe(max(waited))
        if output.labels is not None:
            meters.show_labels(name, output.labels)

    def _count_out(self, messages: Sequence[Outgoing]) -> int:
        """How many alerts were among them."""
        # Summed up first: a meter asks for its labels and a lock each time.
        kinds: Counter[str] = Counter()
        for topic in {sent.topic for sent in messages}:
            mine = [sent for sent in messages if sent.topic == topic]
            size = sum([len(sent.value or b"") for sent in mine])
            self._meters.records_out.labels(self._stage, topic).inc(len(mine))
            self._meters.bytes_out.labels(self._stage, topic).inc(size)
            if topic == topics.ALERTS:
                kinds.update(map(self._kind_of, mine))
        del kinds[""]
        for kind, count in (+kinds).items():
            self._meters.alerts.labels(self._stage, kind).inc(count)
        return kinds.total()

    def _kind_of(self, sent: Outgoing) -> str:
        """The kind of an alert; nothing of a tombstone, and of those that are told again as what is
        known of them changes."""
        known = sent.key in self._told
        if sent.value is None:
            self._told.discard(sent.key)
            self.alerts -= known
            return ""
        self.alerts += not known
        if len(self._told) < _MOST_TOLD:
            self._told.add(sent.key)
        kind = dict(sent.headers)[_KIND].decode().removeprefix("reusewatch.alert.")
        return "" if known and KINDS[kind].counts_once else kind

    def processed(self, messages: Sequence[Message], seconds: float) -> None:
        """These messages were processed, in so long."""
        name, now = self._stage, time.time()
        self._meters.batch_seconds.labels(name).observe(seconds)
        for part, read in _by_partition(messages).items():
            self._meters.records_in.labels(name, part.topic).inc(len(read))
            size = sum(len(message.value or b"") for message in read)
            self._meters.bytes_in.labels(name, part.topic).inc(size)
            where = (name, part.topic, str(part.number))
            self._meters.progress.labels(*where).set(now)
            self._meters.lag_seconds.labels(*where).set(max(now - read[-1].timestamp_ms / 1000, 0))

    def lag(self, lag: Mapping[Partition, int]) -> int:
        """How many messages wait in each partition. Returns how many wait in all."""
        for part, waiting in lag.items():
            labels = (self._stage, part.topic, str(part.number))
            self._meters.lag_records.labels(*labels).set(waiting)
            if not waiting:
                self._meters.lag_seconds.labels(*labels).set(0)
        return sum(lag.values())


def _by_partition(messages: Sequence[Message]) -> dict[Partition, list[Message]]:
    found: dict[Partition, list[Message]] = {}
    for message in messages:
        found.setdefault(message.partition, []).append(message)
    return found
