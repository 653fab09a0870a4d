"""What `doctor` says of the workers on Kafka: whether anybody reads, what waits, and whether all
match pages with the same labels.

It is asked of the broker, which knows all of a group's members on any machine; a worker's own
metrics are on loopback, and can be asked only where it runs. So versions of labels are read off
what workers wrote last, and said to differ only where that was after the labels changed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reusewatch.streams import topics
from reusewatch.streams.checks import Check
from reusewatch.streams.extras import missing
from reusewatch.streams.wire import WireError

if TYPE_CHECKING:
    from reusewatch.streams.bus import Message
    from reusewatch.streams.kafka.config import KafkaConfig
    from reusewatch.streams.kafka.groups import Reading
    from reusewatch.streams.settings import Settings

# What each stage reads, and so who is missed where it waits.
READS = {
    "fingerprint": topics.PAGES,
    "index": topics.FINGERPRINTS,
    "neighborhoods": topics.FINGERPRINTS,
}
LONG_SECONDS = 600
# A worker that was in the middle of a batch when labels changed writes it with the old ones.
_SETTLING_MS = 60_000


def consumers(config: KafkaConfig) -> Iterator[Check]:
    """Of each stage: its processes, and what waits for them."""
    from reusewatch.streams.kafka.groups import readings

    for found in readings(config, READS):
        yield _members(found)
        yield _waiting(found, time.time())


def _members(found: Reading) -> Check:
    name = f"stage {found.group}: processes"
    if found.members or not found.waiting:
        said = str(found.members) if found.members else "none, and nothing waits"
        return Check(name, True, said, "at least 1 where messages wait")
    return Check(
        name, False, f"none, and {found.waiting} messages wait on {found.topic}", "at least 1",
        f"start `reusewatch work {found.group}`",
    )  # fmt: skip


def _waiting(found: Reading, now: float) -> Check:
    name = f"stage {found.group}: waiting"
    wanted = f"none for longer than {LONG_SECONDS} s"
    if not found.waiting:
        return Check(name, True, "nothing", wanted)
    said = f"{found.waiting} messages in {found.partitions_waiting} partitions"
    since = None if found.oldest is None else max(now - found.oldest, 0)
    said += ", since when is not known" if since is None else f", the oldest for {since:.0f} s"
    if since is None or since <= LONG_SECONDS:
        return Check(name, True, said, wanted)
    do = f"start `reusewatch work {found.group}`"
    if found.members:
        do = "look at what its processes say, and whether they use all of their cores; " + (
            "give it more memory or a faster core: one judges" if found.group == "index" else
            f"{do} more often, up to the partitions of {found.topic}"
        )  # fmt: skip
    return Check(name, False, said, wanted, do)


def label_versions(config: KafkaConfig, settings: Settings) -> Iterator[Check]:
    """Whether the newest fingerprints of all partitions were matched with the same labels."""
    if missing():  # a crawl host cannot read fingerprints, and runs no worker
        return
    from reusewatch.streams.blocks.format import read_block
    from reusewatch.streams.kafka.groups import last_messages

    changed = max((m.timestamp_ms for m in last_messages(config, topics.LABELS)), default=0)
    found = set()
    for message in _newest(last_messages(config, topics.FINGERPRINTS), changed + _SETTLING_MS):
        try:
            block = read_block(message, settings.scheme)
        except WireError:
            continue  # the stages put it to dead letters, and say so
        found.update(block.column("labels_version").to_pylist())
    said = ", ".join(sorted(version or "none" for version in found)) or "none"
    alike = len(found) <= 1
    yield Check(
        "labels of the newest fingerprints", alike, said, "one version",
        "" if alike else "a worker could not take up what is in force: look for `labels` in what "
        "the fingerprint workers say, then start that one anew",
    )  # fmt: skip


def _newest(messages: Sequence[Message], since: int) -> list[Message]:
    return [message for message in messages if message.timestamp_ms > since]
