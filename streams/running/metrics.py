"""Every metric, once. Labels come from closed sets of ours, never from pages.

A process has one registry and one port of its own; nothing is shared between processes.
"""

from __future__ import annotations

import platform
from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
)
from prometheus_client.exposition import generate_latest

from reusewatch.streams.alert_kinds import KINDS
from reusewatch.streams.bus import Partition
from reusewatch.streams.labels.marking import InForce
from reusewatch.streams.stages.events import DEAD, EVENTS, FINDINGS

_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_SLOW = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600)


@dataclass(frozen=True, slots=True)
class Declared:
    """A metric as it is told to people: what is measured, and by which labels."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str


_SHINGLES = (0.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 84.0)


class Spread(Histogram):
    """A histogram that takes many values at once: a lock for each would cost more than to find
    them."""

    def observe_all(self, values: Sequence[float]) -> None:
        """Observe all of these."""
        self._sum.inc(sum(values))
        for bucket, count in Tally(bisect_left(self._upper_bounds, one) for one in values).items():
            self._buckets[bucket].inc(count)


class Meters:
    """The metrics of one process."""

    def __init__(self, stage: str, scheme: str) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self._stage = stage
        self._in_force: InForce | None = None

        self.declared: list[Declared] = []

        def declare(name: str, kind: str, text: str, *labels: str) -> tuple[str, str, list[str]]:
            one = Declared(f"reusewatch_{name}", kind, ("stage", *labels), text)
            self.declared.append(one)
            return one.name, one.meaning, list(one.labels)

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(*declare(name, "counter", text, *labels), registry=self.registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(*declare(name, "gauge", text, *labels), registry=self.registry)

        def histogram(name: str, text: str, buckets: tuple[float, ...]) -> Spread:
            return Spread(
                *declare(name, "histogram", text), registry=self.registry, buckets=buckets
            )

        self.records_in = counter("records_in_total", "Messages read from the bus.", "topic")
        self.bytes_in = counter("bytes_in_total", "Bytes of the messages read.", "topic")
        self.pages = counter("pages_total", "Pages that the stage processed.")
        self.records_out = counter("records_out_total", "Messages sent to the bus.", "topic")
        self.bytes_out = counter("bytes_out_total", "Bytes of the messages sent.", "topic")
        self.dead = counter("dead_letters_total", "Records that could not be processed.", "reason")
        self.events = counter("events_total", "What else happened, by name.", "event")
        self.findings = counter(
            "findings_total", "Pages that were judged, by what was found of them.", "finding"
        )
        self.popular_shingles = histogram(
            "popular_shingles",
            "How many of a page's 84 shingles are popular, by when it was judged; one page of each "
            "class of near-duplicates.",
            _SHINGLES,
        )
        self.alerts = counter("alerts_total", "Alerts sent.", "kind")
        self.muted = counter("muted_total", "Outputs that were not sent again after a restart.")
        self.batch_seconds = histogram("batch_seconds", "The time to process a batch.", _FAST)
        self.latency_seconds = histogram(
            "latency_seconds", "From a page's arrival on the bus to this stage's output.", _SLOW
        )
        self.alert_seconds = histogram(
            "alert_seconds",
            "From the arrival of a batch's oldest page to the batch's alerts, where it had any.",
            _SLOW,
        )
        self.commit_seconds = histogram("commit_seconds", "The time to commit.", _FAST)
        self.lag_records = gauge(
            "lag_records", "Messages that wait to be read.", "topic", "partition"
        )
        self.lag_seconds = gauge(
            "lag_seconds", "Age of the last message that was read; 0 when none waits.", "topic",
            "partition",
        )  # fmt: skip
        self.progress = gauge(
            "last_progress_timestamp_seconds", "When a message was last processed.", "topic",
            "partition",
        )  # fmt: skip
        self.state_rows = gauge("state_rows", "Rows of the state that the stage holds.")
        self.state_bytes = gauge("state_bytes", "Bytes of the state that the stage holds, about.")
        self.state_limit_rows = gauge(
            "state_limit_rows", "Rows that the state may grow to; then the oldest leave."
        )
        self.window_time = gauge(
            "window_timestamp_seconds",
            "When the oldest and the newest page of the window were last fetched.", "end",
        )  # fmt: skip
        self.threshold = gauge(
            "threshold_ratio", "From which contains or badness on something is reported.", "figure"
        )
        self.mean = gauge("mean_ratio", "The mean of contains or badness so far.", "figure")
        self.deviation = gauge(
            "deviation_ratio", "The standard deviation of contains or badness so far.", "figure"
        )
        self.snapshot_time = gauge(
            "snapshot_timestamp_seconds", "When the newest snapshot was written."
        )
        self.snapshot_seconds = histogram(
            "snapshot_seconds", "The time to write a snapshot.", _SLOW
        )
        self.rebalances = counter(
            "rebalances_total", "Times that partitions were assigned or revoked.", "reason"
        )
        self.troubles = counter(
            "bus_troubles_total", "Times that the bus was waited for or connected anew."
        )
        self.labels = gauge(
            "labels", "Hashes in the labeled dataset that pages are matched with.", "unit"
        )
        self._labels_version = gauge(
            "labels_version_info", "The labeled dataset that pages are matched with: always 1.",
            "version",
        )  # fmt: skip
        self.ready = gauge("ready", "1 once recovery is done and the process reads.")
        self.recovery_records = gauge(
            "recovery_records", "Messages that recovery still has to read again; 0 after it."
        )
        info = gauge("build_info", "What is running: always 1.", "version", "scheme", "python")
        info.labels(stage, version("reusewatch"), scheme, platform.python_version()).set(1)

    @property
    def stage(self) -> str:
        """The label of everything here."""
        return self._stage

    def begin(self, stage: str) -> None:
        """What a stage counts, at 0: a series that begins with its first count shows no increase,
        and a rule on increases would miss the first of what it waits for."""
        self.pages.labels(stage)
        for histogram in (self.batch_seconds, self.latency_seconds, self.commit_seconds):
            histogram.labels(stage)
        self.muted.labels(stage)
        self.troubles.labels(stage)
        for reason in ("assigned", "revoked"):
            self.rebalances.labels(stage, reason)
        for reason in DEAD:
            self.dead.labels(stage, reason)
        if stage == "fingerprint":
            self.events.labels(stage, "labels-refused")
            return
        for event in EVENTS:
            self.events.labels(stage, event)
        self.alert_seconds.labels(stage)
        if stage == "index":
            self.snapshot_seconds.labels(stage)
            self.popular_shingles.labels(stage)
        for finding in FINDINGS if stage == "index" else ():
            self.findings.labels(stage, finding)
        for kind in KINDS:
            self.alerts.labels(stage, kind)

    def show_labels(self, stage: str, found: InForce) -> None:
        """The labeled dataset that a stage matches with, and a refusal of a newer one, once."""
        if found == self._in_force:
            return
        self._in_force = found
        self.labels.labels(stage, "file").set(found.files)
        self.labels.labels(stage, "chunk").set(found.chunks)
        self._labels_version.clear()
        if found.version is not None:
            self._labels_version.labels(stage, found.version).set(1)
        if found.trouble is not None:
            self.events.labels(stage, "labels-refused").inc()

    def forget(self, parts: Sequence[Partition]) -> None:
        """These partitions are somebody else's: what they wait for is shown there."""
        for topic, number in parts:
            for gauge in (self.lag_records, self.lag_seconds, self.progress):
                with suppress(KeyError):  # it was never set
                    gauge.remove(self._stage, topic, str(number))

    def exposition(self) -> bytes:
        """What /metrics says."""
        return generate_latest(self.registry)
