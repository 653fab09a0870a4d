"""The topics: their names, keys, schemas and what a broker must be told about them.

Pure data. `streams.kafka` creates and checks topics by it; the local bus takes the names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

PAGES = "pages"
FINGERPRINTS = "fingerprints"
VERDICTS = "verdicts"
ALERTS = "alerts"
LABELS = "labels"
LABEL_PACKS = "label-packs"
DEAD_LETTERS = "dead-letters"
NEIGHBORHOODS = "neighborhoods"
MOMENTS = "moments"

JSON = "application/json"
MSGPACK = "application/msgpack"
BINARY = "application/octet-stream"
ARROW = "application/vnd.apache.arrow.stream"

MIB = 1 << 20
DAY_MS = 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic. `partitions` is a default; `configs` are what is promised to users."""

    name: str
    schema: str
    content_type: str
    key: str
    partitions: int
    cleanup: Literal["delete", "compact"]
    retention_ms: int | None = None
    message_bytes: int = MIB
    configs: dict[str, str] = field(default_factory=dict)

    @property
    def broker_configs(self) -> dict[str, str]:
        """The settings that `topics create` gives and `topics check` compares."""
        configs = {
            "cleanup.policy": self.cleanup,
            "max.message.bytes": str(self.message_bytes),
            # Retention counts from arrival: a replay of an archive of 2009 must not expire at once.
            "message.timestamp.type": "LogAppendTime",
        }
        if self.retention_ms is not None:
            configs["retention.ms"] = str(self.retention_ms)
        return configs | self.configs


TOPICS = {
    topic.name: topic
    for topic in (
        Topic(PAGES, "page", MSGPACK, "registered domain", 6, "delete", 3 * DAY_MS, 8 * MIB),
        # Retention at least the window: the index is rebuilt from here.
        Topic(FINGERPRINTS, "fingerprints", ARROW, "registered domain", 6, "delete", 30 * DAY_MS,
              8 * MIB),
        Topic(VERDICTS, "verdict", JSON, "page id", 6, "compact"),
        Topic(ALERTS, "alert", JSON, "alert id", 1, "compact"),
        Topic(LABELS, "label", JSON, "label hash", 1, "compact", None, 8 * MIB),
        # A pack in parts: the one in force, and the one before it for a rollback.
        Topic(LABEL_PACKS, "label-pack", BINARY, "version/part", 1, "compact", None, 8 * MIB),
        Topic(DEAD_LETTERS, "dead-letter", JSON, "dead letter id", 1, "delete", 30 * DAY_MS),
        # State, not news: what is in partition n comes of the fingerprints in partition n.
        Topic(NEIGHBORHOODS, "neighborhood-part", JSON, "page id or prefix", 6, "compact"),
        Topic(MOMENTS, "moments", JSON, "partition", 1, "compact"),
    )
}  # fmt: skip
