"""Reading from Kafka as a member of a consumer group.

Partitions come and go. kafka-python says so on its I/O thread, in the middle of a poll, where
nothing may block; here that interrupts the poll, and the stage is called on its own thread
before any message of the new share and before the old share is given away. So a stage may flush
and commit in `on_revoked` like anywhere else. Heartbeats go on meanwhile. Not for two threads.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any, TypeVar

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.errors import (
    AuthorizationError,
    CommitFailedError,
    FencedInstanceIdError,
    IllegalGenerationError,
    KafkaError,
    LogTruncationError,
    NoOffsetForPartitionError,
    OffsetOutOfRangeError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from kafka.structs import MemberState

from reusewatch.streams.bus import (
    BEGINNING,
    BusBroken,
    Message,
    NotOwner,
    Offsets,
    OnAssigned,
    OnRevoked,
    Partition,
    PastRetention,
)
from reusewatch.streams.kafka.admin import require_topics
from reusewatch.streams.kafka.assign import SharedAssignor, SoleAssignor
from reusewatch.streams.kafka.bounds import ASK_TIMEOUT_MS, bounds
from reusewatch.streams.kafka.config import KafkaConfig, member_settings
from reusewatch.streams.kafka.connect import connect, disconnect
from reusewatch.streams.kafka.patience import PASSING, Patience

T = TypeVar("T")

CLOSE_TIMEOUT_MS = 5000
# kafka-python throws the answer to a join away that comes between two polls, and joins anew, and
# the whole group with it: a poll that is shorter than a join may never end that.
JOIN_SLICE = 1.0
# A group is shared out again within seconds, unless a member is in the middle of a long batch.
LATE_SECONDS = 15.0
# Signs that the group went on without us; the next poll joins it again.
PUT_OUT = (CommitFailedError, UnknownMemberIdError, IllegalGenerationError)


class KafkaInlet:
    """A member of a group, reading its share of some topics."""

    def __init__(
        self,
        config: KafkaConfig,
        group: str,
        topics: Sequence[str],
        patience: Patience,
        *,
        sole: bool = False,
        on_assigned: OnAssigned | None = None,
        on_revoked: OnRevoked | None = None,
    ) -> None:
        self._config = config
        self._group = group
        self._patience = patience
        self._on_assigned = on_assigned
        self._on_revoked = on_revoked
        self._owed: dict[Partition, int] = {}
        self._closed = False
        self._working_since = time.monotonic()
        self._outside = 0.0
        require_topics(config, topics)
        assignor = SoleAssignor() if sole else SharedAssignor()
        self._changes = _Changes(assignor)
        settings = member_settings(config, group) | {"partition_assignment_strategy": [assignor]}
        self._consumer: Any = connect(KafkaConsumer, config, settings)
        names = [config.topic(topic) for topic in topics]
        self._any = TopicPartition(names[0], 0)
        self._consumer.subscribe(topics=names, listener=self._changes)
        for name in names:
            # A leader that does not know the topic yet gives everybody nothing, and starts over.
            self._ask(partial(self._consumer.partitions_for_topic, name))

    def poll(self, timeout: float) -> Sequence[Message]:
        """The next messages, in order per partition; empty after `timeout` seconds without any.

        Raises PastRetention until `seek`, and NotOwner when another process has our name.
        """
        end = time.monotonic() + timeout
        while True:
            began = time.monotonic()
            records = self._fetch(max(0.0, end - began))
            self._tell_late(time.monotonic() - began)
            self._tell()
            if records or time.monotonic() >= end:
                return [self._message(r) for batch in records.values() for r in batch]

    def joined(self) -> bool:
        """Whether the group has given this member its share, which may be none."""
        return self._is_member() and not self._changes.pending

    def _is_member(self) -> bool:
        return bool(self._consumer.group_metadata().state == MemberState.STABLE)

    def partitions(self) -> Sequence[Partition]:
        """What is held now."""
        return sorted(self._ours(tp) for tp in self._consumer.assignment())

    def committed(self) -> Offsets:
        """For each partition held, the offset after the last one committed (absent: none)."""
        held = self._consumer.assignment()
        found = {tp: self._ask(partial(self._committed, tp)) for tp in held}
        return {self._ours(tp): at for tp, at in found.items() if at is not None}

    def seek(self, offsets: Offsets) -> None:
        """Read on from here, or from BEGINNING."""
        held = self._consumer.assignment()
        for partition, offset in offsets.items():
            if (tp := self._theirs(partition)) not in held:
                raise NotOwner(f"{partition.topic}/{partition.number} is not held by this process")
            if offset == BEGINNING:
                self._consumer.seek_to_beginning(tp)
            else:
                self._consumer.seek(tp, offset)

    def commit(self, offsets: Offsets) -> None:
        """Everything before these offsets is done.

        Waits out an outage. While the group is being shared out anew, the commit is made as soon
        as that is over; when the group has put us out, it is given up, for the messages are
        already someone else's to process again.
        """
        self._owed.update(offsets)
        self._pay()

    def lag(self) -> Mapping[Partition, int]:
        """How many messages are waiting behind what `poll` gave, per partition held."""
        if self._outside > LATE_SECONDS:
            return {}  # an answer would say that all is well again
        # Nothing else fails while the group's broker is away and nothing is to be committed.
        self._ask(partial(self._committed, self._any))
        held = list(self._consumer.assignment())
        if not held:
            return {}
        ends = self._ask(partial(bounds, self._consumer.end_offsets, held))
        return {self._ours(tp): max(0, ends[tp] - self._position(tp)) for tp in held}

    def close(self) -> None:
        """Leave the group. No callback comes from here; commit before."""
        if self._closed:
            return
        self._closed = True
        try:
            self._settle()
        finally:
            self._changes.muted = True
            with suppress(KafkaError):
                disconnect(self._consumer, CLOSE_TIMEOUT_MS)

    def _settle(self) -> None:
        """Make the commit that a sharing out held up, or whoever is next does that work again."""
        # Whoever worked for long on the last batch has not waited for the broker so long.
        self._working_since = time.monotonic()
        end = self._working_since + CLOSE_TIMEOUT_MS / 1000
        if self._owed:
            self._pay()
        while self._owed and time.monotonic() < end:
            self._fetch(JOIN_SLICE)  # which goes on joining; what it reads stays uncommitted
            self._pay()

    def _fetch(self, timeout: float) -> dict[TopicPartition, list[Any]]:
        if not self._is_member():
            timeout = max(timeout, JOIN_SLICE)
        try:
            records: dict[TopicPartition, list[Any]] = self._consumer.poll(
                timeout_ms=int(timeout * 1000)
            )
        except NoOffsetForPartitionError as error:
            # A group that has never committed starts at the beginning, and only then.
            self._consumer.seek_to_beginning(*error.args[0])
        except (OffsetOutOfRangeError, LogTruncationError) as error:
            raise self._past_retention(error) from error
        except FencedInstanceIdError as error:
            raise self._fenced() from error
        except AuthorizationError as error:
            raise BusBroken(f"group {self._group} may not read: {error}") from error
        except (*PASSING, *PUT_OUT, RebalanceInProgressError) as error:
            self._outage(error, timeout)
        except KafkaError as error:
            # Our own interruption, wrapped; anything else is beyond what waiting mends.
            if not self._changes.pending:
                raise BusBroken(f"reading failed: {type(error).__name__}: {error}") from error
        else:
            self._working_since = time.monotonic()
            if records:
                # An empty answer says nothing: that is also what a broker gives that is away.
                self._patience.answered()
            return records
        return {}

    def _tell_late(self, seconds: float) -> None:
        """A broker that is alone answers, and lets nobody join: only the waiting shows that."""
        if self._is_member():
            if self._outside > LATE_SECONDS:
                self._patience.answered()
            self._outside = 0.0
            return
        self._outside += seconds
        if self._outside > LATE_SECONDS:
            self._patience.tell(self._outside, f"joining group {self._group}")

    def _outage(self, error: Exception, timeout: float) -> None:
        waited = time.monotonic() - self._working_since
        self._patience.waiting(waited, f"reading: {type(error).__name__}: {error}")
        time.sleep(min(timeout, 0.1))

    def _tell(self) -> None:
        """Call the stage about what has come and gone."""
        if self._owed:
            self._pay()
        while self._changes.pending:
            kind, partitions = self._changes.pending.pop(0)
            ours = sorted(self._ours(tp) for tp in partitions)
            callback = self._on_assigned if kind == "assigned" else self._on_revoked
            if callback is not None:
                callback(ours)

    def _pay(self) -> None:
        offsets = {self._theirs(p): OffsetAndMetadata(at, "", -1) for p, at in self._owed.items()}
        try:
            self._ask(lambda: self._consumer.commit(offsets, timeout_ms=ASK_TIMEOUT_MS))
        except RebalanceInProgressError:
            return
        except FencedInstanceIdError as error:
            self._owed.clear()
            raise self._fenced() from error
        except PUT_OUT as error:
            # The broker's word for a sharing out that is not over comes wrapped as a refusal.
            if any(isinstance(cause, RebalanceInProgressError) for cause in error.args):
                return
            self._patience.report(f"group {self._group} went on without this process")
        except KafkaError as error:
            raise BusBroken(f"commit failed: {type(error).__name__}: {error}") from error
        self._owed.clear()

    def _ask(self, question: Callable[[], T]) -> T:
        return self._patience.retry(question, f"group {self._group}")

    def _committed(self, tp: TopicPartition) -> int | None:
        offset: int | None = self._consumer.committed(tp, timeout_ms=ASK_TIMEOUT_MS)
        return offset

    def _position(self, tp: TopicPartition) -> int:
        with suppress(KafkaError):
            position = self._consumer.position(tp, timeout_ms=ASK_TIMEOUT_MS)
            if position is not None:
                return int(position)
        return int(self._first([tp])[tp])

    def _first(self, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
        return self._ask(partial(bounds, self._consumer.beginning_offsets, partitions))

    def _past_retention(self, error: KafkaError) -> PastRetention:
        wanted = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
        first = self._first(list(wanted)) if wanted else {}
        gone = "; ".join(
            f"{tp.topic}/{tp.partition}: offset {at} is to be read next, "
            f"the topic now starts at {first.get(tp)}"
            for tp, at in wanted.items()
        )
        return PastRetention(
            f"group {self._group}: {gone or error}. What lies between is lost to this group: "
            "raise the retention of the topic, or go on from the start (`seek`)"
        )

    def _fenced(self) -> NotOwner:
        return NotOwner(
            f"another process joined group {self._group} as {self._config.group_instance_id!r}: "
            "give each process its own instance id"
        )

    def _message(self, record: Any) -> Message:
        return to_message(self._config, record)

    def _ours(self, tp: TopicPartition) -> Partition:
        return Partition(self._config.name(tp.topic), tp.partition)

    def _theirs(self, partition: Partition) -> TopicPartition:
        return TopicPartition(self._config.topic(partition.topic), partition.number)


@lru_cache(1 << 12)
def _partition(prefix: str, topic: str, number: int) -> Partition:
    return Partition(topic.removeprefix(prefix), number)


def to_message(config: KafkaConfig, record: Any) -> Message:
    """A record as the bus has it."""
    headers = record.headers
    return Message(
        partition=_partition(config.topic_prefix, record.topic, record.partition),
        offset=record.offset,
        key=(record.key or b"").decode("utf-8", "replace"),
        value=record.value,
        headers=headers if type(headers) is tuple  # as `quick_read` has them: each with a value
        else tuple((name, value or b"") for name, value in headers),
        timestamp_ms=record.timestamp,
    )  # fmt: skip


class _Interruption(Exception):
    """Ends a poll, so that the stage is told before anything else happens."""


class _Changes(ConsumerRebalanceListener):
    """Notes on the I/O thread what comes and goes, and interrupts the poll."""

    def __init__(self, assignor: SharedAssignor) -> None:
        self.pending: list[tuple[str, set[TopicPartition]]] = []
        self.muted = False
        self._assignor = assignor
        logging.getLogger("kafka.coordinator.consumer").addFilter(_not_interruptions)

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self._note("assigned", assigned)

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self._note("revoked", revoked)

    def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self._assignor.forget()
        self._note("lost", lost)

    def _note(self, kind: str, partitions: set[TopicPartition]) -> None:
        if partitions and not self.muted:
            self.pending.append((kind, set(partitions)))
            raise _Interruption


def _not_interruptions(record: logging.LogRecord) -> bool:
    # kafka-python logs a listener's exception as the user's failure.
    return not (record.exc_info and isinstance(record.exc_info[1], _Interruption))
